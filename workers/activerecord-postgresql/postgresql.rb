# frozen_string_literal: true

require "active_record/connection_adapters/postgresql_adapter"

# PostgreSQL as ActiveRecord reaches it: a server that assay has started.
class PostgreSQLTarget
  def hello
    { driver: "activerecord-postgresql", driver_version: ActiveRecord.version.to_s, engine: "postgresql", engine_version: "server",
      facts: { "api" => "ActiveRecord", "ruby" => RUBY_DESCRIPTION, "pg" => PG::VERSION, "libpq" => PG.library_version.to_s } }
  end

  def capabilities = ["postgresql"]

  # configuration is what establish_connection takes. The settings are the
  # server's.
  def open(request)
    Protocol.unsupported("ActiveRecord takes no DSN") unless request["dsn"].to_s.empty?
    Protocol.unsupported("the settings are the server's") if request["settings"].present?
    Protocol.unsupported("SQL for each connection") if request["each"].present?
    @address = { adapter: "postgresql", host: request["path"], port: 5432, username: "postgres", database: "postgres" }
    { configuration: @address }
  end

  # opened is what the server says of itself.
  def opened(connection)
    { dsn: "host=#{@address[:host]} port=5432 user=postgres dbname=postgres", engine_version: connection.select_value("SHOW server_version") }
  end

  def dialect = Dialect

  # What the operations say in SQL of their own.
  module Dialect
    def self.json_select = "(stuff->>'pumpkin')::int = 1"
    def self.json_update = "stuff = jsonb_set(stuff::jsonb, '{pumpkin}', '2')"
  end

  def read(connection, name) = connection.select_value("SELECT current_setting(#{connection.quote(name)}, true)")

  def query_plan(sql)
    ActiveRecord::Base.connection.select_values("EXPLAIN (COSTS OFF) #{sql}").join("\n")
  end

  # What PostgreSQL says may be tried again.
  def busy?(error)
    [PG::TRSerializationFailure, PG::TRDeadlockDetected, PG::LockNotAvailable].any? { |kind| error.cause.is_a?(kind) }
  end
end
