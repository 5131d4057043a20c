# frozen_string_literal: true

# What a worker says of a driver of SQLite. A driver's class has these methods:
#
#   name, api, version       texts
#   facts                    whatever else tells two targets apart, as texts
#   opens, opens_with, executes
#                            what a program writes to open a database, to do so with what
#                            configured returns, and to run SQL on each connection, which
#                            the report shows; {{dsn}} and {{sql}} stand for the text,
#                            quoted, {{options}} for the options; nil where it has none
#   calls                    a class of Calls, where it has operations of its own; or nil
#   configured(each)         notes of the SQL for each connection what the library sets
#                            itself, and returns the other SQL, and by setting how
#   connect(path, each, count)
#                            so many connections to a file; each is the SQL that all of
#                            them run, whenever they are opened
#   statement(connection, sql, policy, query)
#                            a function of a list of arguments, which returns the rows
#                            of a query, or the number of rows changed
#   code(error)              SQLite's primary result code; 0 where it is not SQLite's
#   disconnect               closes all connections
class SQLiteDriver
  BUSY = [5, 6].freeze

  def capabilities = calls ? %w[sql query call] : %w[sql query]

  def configured(each) = [each, {}]

  def opens = nil
  def opens_with = nil
  def executes = nil

  def target
    configured([])
    connection, = connect(":memory:", [], 1)
    one = ->(sql) { rows(connection, sql).first.first }
    { driver: name, driver_version: version, engine: "sqlite", engine_version: one.("SELECT sqlite_version()"),
      facts: { "api" => api, "ruby" => RUBY_DESCRIPTION, "source_id" => one.("SELECT sqlite_source_id()"),
               "clients" => "threads, under one interpreter lock", "uncounted" => Counters::UNCOUNTED, **facts, **code_of_programs },
      compile_options: rows(connection, "PRAGMA compile_options").flatten.sort }
  ensure
    disconnect
  end

  # code_of_programs are the facts of what a program writes.
  def code_of_programs = { "open" => opens, "open_with" => opens_with, "execute" => executes }.compact

  # open returns so many connections, and what was done.
  def open(request, count)
    path, beyond = request["path"].to_s, request["dsn"][/\?(.*)/, 1] || request["settings"]&.keys&.join(", ")
    Protocol.unsupported("#{api} takes a path and settings, not a DSN") if path.empty?
    Protocol.unsupported("#{api} has no way to set #{beyond} for every connection") if beyond
    each, issued = configured(request["each"] || [])
    [connect(path, each, count), { dsn: path, each: each, issued: issued }]
  end

  def rows(connection, sql) = statement(connection, sql, "never", true).([])

  def query_plan(connection, sql, arguments)
    statement(connection, "EXPLAIN QUERY PLAN #{sql}", "never", true).(arguments).map(&:last).join("\n")
  end

  # begins is the SQL that begins a transaction.
  def begins = "BEGIN IMMEDIATE"

  def busy?(error) = BUSY.include?(code(error))
end
