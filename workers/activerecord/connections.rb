# frozen_string_literal: true

require "active_record/connection_adapters/sqlite3_adapter"
require_relative "pool"

# Connections as an application configures them: the adapter sets the busy timeout,
# in its version's way, and PRAGMAs set the rest.
module Connections
  include Pool

  TIMEOUT = 5000 # ms, as `rails new` writes it into an application's configuration

  # Runs SQL for each connection that the pool opens, after what the adapter itself
  # does.
  module Each
    class << self
      attr_accessor :sql
    end

    def configure_connection
      super
      Each.sql.each { |sql| execute(sql) }
    end
  end
  ActiveRecord::ConnectionAdapters::SQLite3Adapter.prepend(Each)

  def configured(each)
    timeouts, others = each.partition { |sql| sql.match?(/\APRAGMA busy_timeout = \d+\z/) }
    @timeout = (timeouts.last || TIMEOUT).to_s[/\d+\z/].to_i
    [others, timeouts.to_h { ["busy_timeout", "timeout: #{@timeout}"] }]
  end

  def connect(path, each, count)
    Each.sql = each
    pooled({ adapter: "sqlite3", database: path, timeout: @timeout }, count)
  end

  # bound is how ActiveRecord takes arguments: it would make text of a blob.
  def bound(args)
    args.map { |arg| arg.is_a?(String) && arg.encoding == Encoding::BINARY ? ActiveModel::Type::Binary::Data.new(arg) : arg }
  end

  # rows cannot tell the timeout of a handler in Ruby, which later versions have: the
  # PRAGMA is 0 then.
  def rows(connection, sql)
    found = super
    sql == "PRAGMA busy_timeout" && found == [[0]] && @timeout.positive? ? [] : found
  end

  # waits says who waits for a lock.
  def waits
    inside = ActiveRecord::Base.connection.select_value("PRAGMA busy_timeout") == @timeout
    "the adapter's timeout, #{TIMEOUT} ms where busy_timeout is not set: " +
      (inside ? "SQLite waits, and no thread of Ruby runs meanwhile" : "a handler in Ruby waits, and lets other threads run")
  end
end
