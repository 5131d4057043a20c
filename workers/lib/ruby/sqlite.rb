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
#   configured(settings)     notes the settings that the library sets itself, and returns
#                            by name how; the others are set by PRAGMAs
#   connect(path, each, count)
#                            so many connections to a file; each is the SQL that all of
#                            them run, whenever they are opened
#   statement(connection, sql, policy, query)
#                            a function of a list of arguments, which returns the rows
#                            of a query, or the number of rows changed
#   code(error)              SQLite's primary result code; 0 where it is not SQLite's
#   disconnect               closes all connections
class SQLiteDriver
  FIRST = %w[busy_timeout locking_mode page_size auto_vacuum journal_mode].freeze
  # What no PRAGMA sets.
  LACKING = %w[immutable shared_cache mutex memory read_only begin].freeze
  BUSY = [5, 6].freeze
  READONLY = 8

  def capabilities = calls ? %w[sql call] : %w[sql]

  def configured(_settings) = {}

  def opens = nil
  def opens_with = nil
  def executes = nil

  def target
    configured({})
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
    Protocol.unsupported("#{api} takes a path and settings, not a DSN") unless request["dsn"].to_s.empty?
    settings = request["settings"] || {}
    wrong = settings.keys.find { |name| !name.match?(/\A[a-z_]+\z/) }
    Protocol.invalid("#{wrong.inspect} is no setting") if wrong
    lacking = settings.keys & LACKING
    Protocol.unsupported("#{api} has no way to set #{lacking.join(', ')} for every connection") unless lacking.empty?
    own = configured(settings)
    issued = settings.sort_by { |name, _| [FIRST.index(name) || FIRST.size, name] }
                     .to_h { |name, value| [name, own[name] || "PRAGMA #{name} = #{spelt(value)}"] }
    each = issued.except(*own.keys).values + (request["each"] || [])
    [connect(request["path"], each, count), { dsn: request["path"], each: each, issued: issued }]
  end

  def rows(connection, sql) = statement(connection, sql, "never", true).([])

  def read(connection, name)
    return rows(connection, "PRAGMA database_list").any? { |_, main, file| main == "main" && !file.to_s.empty? } ? "0" : "private" if name == "memory"
    return read_only(connection) if name == "read_only"
    return if LACKING.include?(name) || !name.match?(/\A[a-z_]+\z/)

    rows(connection, "PRAGMA #{name}").first&.first&.to_s
  end

  def query_plan(connection, sql, arguments)
    statement(connection, "EXPLAIN QUERY PLAN #{sql}", "never", true).(arguments).map(&:last).join("\n")
  end

  # begins is the SQL that begins a transaction.
  def begins = "BEGIN IMMEDIATE"

  def busy?(error) = BUSY.include?(code(error))

  private

  # spelt is a value of a PRAGMA: UTF-8 would be a subtraction.
  def spelt(value) = value.match?(/\A-?\w+\z/) ? value : "'#{value.gsub("'", "''")}'"

  # read_only tells by what a statement that writes, and changes nothing, is
  # answered in a transaction.
  def read_only(connection)
    rows(connection, "BEGIN IMMEDIATE")
    begin
      rows(connection, "PRAGMA incremental_vacuum(1)")
      "0"
    rescue StandardError => e
      code(e) == READONLY ? "1" : nil
    ensure
      rows(connection, "ROLLBACK")
    end
  rescue StandardError
    nil # query_only, or another holds the lock
  end
end
