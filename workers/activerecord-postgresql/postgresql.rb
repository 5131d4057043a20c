# frozen_string_literal: true

require "active_record/connection_adapters/postgresql_adapter"

# PostgreSQL as ActiveRecord reaches it: a server that assay has started. It runs
# calls, and SQL without arguments.
class PostgreSQLDriver
  include Pool

  ADDRESS = { adapter: "postgresql", port: 5432, username: "postgres", database: "postgres" }.freeze

  def capabilities = %w[call postgresql query]
  def calls = Operations

  def target
    { driver: "activerecord-postgresql", driver_version: ActiveRecord.version.to_s, engine: "postgresql", engine_version: "server",
      facts: { "api" => "ActiveRecord", "ruby" => RUBY_DESCRIPTION, "pg" => PG::VERSION, "libpq" => PG.library_version.to_s,
               "clients" => "threads, under one interpreter lock", "uncounted" => Counters::UNCOUNTED } }
  end

  def open(request, count)
    Protocol.unsupported("ActiveRecord takes no DSN") unless request["dsn"].to_s.empty?
    Protocol.unsupported("the settings are the server's") if request["settings"].present?
    Protocol.unsupported("SQL for each connection") if request["each"].present?
    all = pooled(ADDRESS.merge(host: request["path"]), count)
    [all, { dsn: "host=#{request['path']} port=5432 user=postgres dbname=postgres", engine_version: all.first.select_value("SHOW server_version") }]
  end

  # What the operations say in SQL of their own.
  def json_select = "(stuff->>'pumpkin')::int = 1"
  def json_update = "stuff = jsonb_set(stuff::jsonb, '{pumpkin}', '2')"

  def read(connection, name) = connection.select_value("SELECT current_setting(#{connection.quote(name)}, true)")

  def rows(connection, sql) = connection.select_rows(sql)

  def statement(connection, sql, _policy, query)
    query ? ->(_args) { connection.select_rows(sql) } : ->(_args) { connection.exec_update(sql, "change") }
  end

  def begins = "BEGIN"

  def query_plan(connection, sql, arguments)
    Protocol.unsupported("this worker's SQL has no arguments") unless arguments.empty?
    connection.select_values("EXPLAIN (COSTS OFF) #{sql}").join("\n")
  end

  # What PostgreSQL says may be tried again.
  def busy?(error)
    [PG::TRSerializationFailure, PG::TRDeadlockDetected, PG::LockNotAvailable].any? { |kind| error.cause.is_a?(kind) }
  end
end
