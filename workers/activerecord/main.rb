# frozen_string_literal: true

# The worker of ActiveRecord on SQLite.
require_relative "worker"
Protocol.needs("active_record", "sqlite3", install: "apt-get install ruby ruby-activerecord ruby-sqlite3 ruby-pg")
require_relative "sqlite"
require_relative "operations"
require_relative "connections"

class ActiveRecordDriver < SQLiteDriver
  include Connections

  def name = "activerecord"
  def api = "ActiveRecord"
  def version = ActiveRecord.version.to_s
  def calls = Operations
  def opens = opening("timeout: #{TIMEOUT}")
  def opens_with = opening("{{options}}")

  def executes
    "ActiveSupport.on_load(:active_record_sqlite3adapter) { prepend(Module.new { def configure_connection = super.tap { execute_batch([{{sql}}]) } }) }"
  end

  def facts
    { "sqlite3-ruby" => SQLite3::VERSION, "threadsafe" => SQLite3.threadsafe?.to_s, "layer" => "exec_query; rows are arrays of an ActiveRecord::Result",
      "busy" => waits }
  end

  def statement(connection, sql, policy, query)
    prepare = policy == "once"
    return ->(args) { connection.exec_query(sql, nil, bound(args), prepare: prepare).rows } if query

    lambda do |args|
      connection.exec_query(sql, nil, bound(args), prepare: prepare)
      connection.raw_connection.changes
    end
  end

  def opening(options) = "ActiveRecord::Base.establish_connection(adapter: \"sqlite3\", database: {{dsn}}, #{options})"

  # What the operations say in SQL of their own.
  def json_select = "json_extract(stuff, '$.pumpkin') = 1"
  def json_update = "stuff = json_set(stuff, '$.pumpkin', 2)"

  def code(error) = (error.cause || error).then { |e| e.is_a?(SQLite3::Exception) ? e.code.to_i & 0xff : 0 }
end

Protocol.serve(Worker.new(ActiveRecordDriver.new))
