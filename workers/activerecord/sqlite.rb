# frozen_string_literal: true

require "active_record/connection_adapters/sqlite3_adapter"

# SQLite as ActiveRecord reaches it.
class SQLiteTarget
  # Runs for each connection that the pool opens, so that all have the settings.
  module Configure
    # A lock's holder is another thread of this process: SQLite's own busy
    # timeout would sleep without letting it run.
    PATIENCE = 10

    def configure_connection
      super
      began = nil
      @connection.busy_handler do |tries|
        began = Process.clock_gettime(Process::CLOCK_MONOTONIC) if tries.zero?
        sleep 0.001
        Process.clock_gettime(Process::CLOCK_MONOTONIC) - began < PATIENCE
      end
      SQLiteTarget.each.each { |sql| execute(sql) }
    end
  end
  ActiveRecord::ConnectionAdapters::SQLite3Adapter.prepend(Configure)

  class << self
    attr_accessor :each
  end
  self.each = []

  FIRST = %w[busy_timeout locking_mode page_size auto_vacuum journal_mode].freeze
  # What no PRAGMA sets, or only while the file is made.
  OPENING = %w[read_only immutable shared_cache mutex memory].freeze

  def hello
    db = SQLite3::Database.new(":memory:")
    { driver: "activerecord", driver_version: ActiveRecord.version.to_s, engine: "sqlite",
      engine_version: db.get_first_value("SELECT sqlite_version()"),
      facts: { "api" => "ActiveRecord", "ruby" => RUBY_DESCRIPTION, "sqlite3-ruby" => SQLite3::VERSION,
               "source_id" => db.get_first_value("SELECT sqlite_source_id()"), "threadsafe" => SQLite3.threadsafe?.to_s,
               "busy" => "a handler in Ruby that sleeps 1 ms and lets other threads run, for #{Configure::PATIENCE} s" },
      compile_options: db.execute("PRAGMA compile_options").flatten.sort }
  ensure
    db&.close
  end

  # configuration is what establish_connection takes. each has the SQL that
  # every new connection runs, issued that of each setting.
  def open(request)
    settings = request["settings"] || {}
    Protocol.unsupported("ActiveRecord takes settings, not a DSN") unless request["dsn"].to_s.empty?
    taken = settings.keys & OPENING
    Protocol.unsupported("#{taken.join(', ')}: this worker sets PRAGMAs only") unless taken.empty?
    issued = settings.sort_by { |name, _| [FIRST.index(name) || FIRST.size, name] }
                     .to_h { |name, value| [name, "PRAGMA #{name} = #{value}"] }
    SQLiteTarget.each = issued.values + (request["each"] || [])
    { configuration: { adapter: "sqlite3", database: request["path"] }, issued: issued, each: SQLiteTarget.each }
  end

  def capabilities = []

  def opened(_connection) = {}

  def dialect = Dialect

  # What the operations say in SQL of their own.
  module Dialect
    def self.json_select = "json_extract(stuff, '$.pumpkin') = 1"
    def self.json_update = "stuff = json_set(stuff, '$.pumpkin', 2)"
  end

  def read(connection, name)
    return memory(connection) if name == "memory"
    return if OPENING.include?(name) || !name.match?(/\A[a-z_]+\z/)

    connection.raw_connection.get_first_value("PRAGMA #{name}")&.to_s
  end

  def query_plan(sql)
    ActiveRecord::Base.connection.select_all("EXPLAIN QUERY PLAN #{sql}").map { |row| row["detail"] }.join("\n")
  end

  def busy?(error) = error.cause.is_a?(SQLite3::BusyException) || error.cause.is_a?(SQLite3::LockedException)

  private

  def memory(connection)
    connection.raw_connection.execute("PRAGMA database_list").first[2].empty? ? "private" : "0"
  end
end
