# frozen_string_literal: true

# Records what a Rails application asks of its database, for assay init --log: statements
# with their arguments, transactions, connections, times and rows. The file is for its
# owner alone. docs/traffic.md is the format's contract.
#
# The library is this one file, and needs nothing but Ruby's own: copy it into your
# program, for example as lib/traffic.rb. Nothing is recorded unless the program asks
# for it, for example in config/initializers/traffic.rb:
#
#   require Rails.root.join("lib/traffic")
#   Traffic::Recorder.new("app.ndjson", 64 << 20).subscribe
#
# It listens to sql.active_record. The log is complete once close was called, or the
# program has ended.

require "json"
require "time"

module Traffic
  VERSION = 2
  BUFFERED = 64 << 10 # bytes that are written at once
  WAITING = 16 # full buffers that may wait for the disk before lines are dropped
  MAX_TEXTS = 10_000 # different statements that are known again
  LONG_TEXT = 4096 # characters of a statement that is not kept to know it again
  LONG_VALUE = 1 << 20 # bytes of a text or blob of which only the length is recorded
  FLUSH_EVERY = 1 # seconds
  LAST_LINE = 33 # bytes, at most, of the line that says how many were dropped

  # Writes one file, which must not exist. It gets at most max bytes; what is more is
  # dropped, and counted. Threads may share a recorder; a process that was forked off
  # needs one of its own.
  class Recorder
    def initialize(path, max)
      flags = File::WRONLY | File::CREAT | File::EXCL | File::BINARY
      flags |= File::NOFOLLOW if defined?(File::NOFOLLOW)
      @file = File.open(path, flags, 0o600)
      @path = path
      @process = Process.pid
      @max = max - LAST_LINE
      @began = now
      @connections = {} # by the object's id
      @txs = 0
      @lock = Mutex.new
      @closed = @filled = false # filled: a line did not fit, so that no later one is written either
      @lines = []
      @buffered = @spent = @dropped = 0
      @known = {} # by text
      @texts = 0
      @full = SizedQueue.new(WAITING)
      line(%({"traffic":#{VERSION},"began":"#{Time.now.utc.iso8601(3)}"}\n))
      @writer = Thread.new { write }
      @flusher = Thread.new { flush }
      at_exit do
        close
      rescue SystemCallError => e # the program's end is its own
        warn "traffic: the log is not complete: #{e.message}"
      end
    end

    # Keeps a database as it is now beside the log, for its owner alone: app.start.db beside
    # app.ndjson. Call it before the program changes anything.
    def snapshot(database)
      path = @path.to_s.delete_suffix(".ndjson") + ".start.db"
      flags = File::WRONLY | File::CREAT | File::EXCL
      flags |= File::NOFOLLOW if defined?(File::NOFOLLOW)
      File.open(path, flags, 0o600).close
      db = SQLite3::Database.new(database.to_s)
      db.execute("VACUUM INTO ?", [path])
      self
    ensure
      db&.close
    end

    # Records what ActiveRecord asks from now on.
    def subscribe
      @subscription = ActiveSupport::Notifications.monotonic_subscribe("sql.active_record") do |_, began, ended, _, event|
        take(began, ended, event)
      end
      self
    end

    # Writes what is left, and how many lines were dropped. Statements after it are not
    # recorded.
    def close
      last = @lock.synchronize do
        return if @closed || Process.pid != @process

        @closed = true
        (@lines << %({"dropped":#{@dropped}}\n)).join
      end
      ActiveSupport::Notifications.unsubscribe(@subscription) if @subscription
      @flusher.kill
      @full << last << nil
      @writer.join
      raise @failed if @failed
    end

    private

    Connection = Struct.new(:number, :tx) # tx 0: none
    Statement = Struct.new(:text, :mark, :id) # id nil: its text is not in the file

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    # Records an event of sql.active_record. What Rails asks about the schema, and what
    # it answers from its own cache, is no traffic of the application.
    def take(began, ended, event)
      return if event[:name] == "SCHEMA" || event[:cached]
      return unless event[:connection]&.adapter_name == "SQLite" # no other quoting is known
      return foreign if Process.pid != @process

      @lock.synchronize do
        connection = @connections[event[:connection].object_id] ||= Connection.new(@connections.size + 1, 0)
        statement = statement(event[:sql])
        mark = statement.mark
        case mark
        when nil
          what, args = describe(statement, event[:type_casted_binds])
        when "begin"
          connection.tx = @txs += 1 unless event[:exception]
        end
        put(began, ended, connection, mark || what, args, event)
        connection.tx = 0 if mark == "rollback" || mark == "commit" && !event[:exception]
      end
    end

    # Says once that a process that was forked off records nothing.
    def foreign
      warn "traffic: this process was forked off after the Recorder was made, and records nothing: make one in each process" unless @warned
      @warned = true
    end

    # Writes full buffers, so that statements do not wait for the disk.
    def write
      while (data = @full.pop)
        begin
          @file.write(data) unless @failed
          @file.flush unless @failed
        rescue SystemCallError => e
          @failed = e
        end
      end
      @file.close
    rescue SystemCallError => e
      @failed ||= e
    end

    # Writes every second what is there.
    def flush
      loop do
        sleep FLUSH_EVERY
        @lock.synchronize { hand }
      end
    end

    # Passes the buffer on to be written. Where too many wait it is kept.
    def hand
      return if @closed || @lines.empty?

      @full.push(@lines.join, true)
      @lines = []
      @buffered = 0
    rescue ThreadError
      nil
    end

    # Adds a line of ASCII, and says whether it did.
    def line(text)
      return false if @closed || @filled || @buffered > 2 * BUFFERED
      if @spent + text.bytesize > @max
        @filled = true
        return false
      end

      @spent += text.bytesize
      @buffered += text.bytesize
      @lines << text
      hand if @buffered >= BUFFERED
      true
    end

    # A statement that changes rows and answers none: Rails counts its rows apart.
    CHANGES = /\A\s*(?:INSERT|UPDATE|DELETE|REPLACE)\b(?!.*\bRETURNING\b)/im

    # Writes the line of a statement or mark, and counts one that it cannot write. Rails
    # before 7.2 does not say how many rows there are, nor do all versions how many were changed.
    def put(began, ended, connection, what, args, event)
      rows = event[CHANGES.match?(event[:sql].to_s) ? :affected_rows : :row_count] || (0 if event[:exception])
      text = +%({"at":#{((began - @began) * 1e9).round},"conn":#{connection.number},"tx":#{connection.tx},"s":"#{what}"#{args})
      text << %(,"rows":#{rows}) if rows
      text << %(,"ns":#{((ended - began) * 1e9).round})
      text << %(,"err":"#{Traffic.kind_of(event[:exception].last)}") if event[:exception]
      @dropped += 1 unless what && line(text << "}\n")
    end

    # Returns the id of a statement, nothing where its text is not in the file, and its
    # arguments. A value that cannot be recorded costs the line, and never the program's
    # statement.
    def describe(statement, values)
      id = id_of(statement)
      return unless id

      values = values.call if values.respond_to?(:call)
      args = Array(values).map { |value| Traffic.value(value) }
      [id, args.empty? ? "" : %(,"args":[#{args.join(",")}])]
    rescue StandardError
      nil
    end

    # Finds a statement.
    def statement(query)
      @known[query] || begin
        text = Traffic.clean(query)
        found = Statement.new(text, Traffic.control(text))
        @known[query.dup.freeze] = found if @known.size < MAX_TEXTS && query.size <= LONG_TEXT
        found
      end
    end

    # Writes the text of a statement the first time; nil where it cannot be written.
    def id_of(statement)
      statement.id || begin
        id = (@texts + 1).to_s
        return unless line(%({"id":"#{id}","sql":#{JSON.generate(statement.text, ascii_only: true)}}\n))

        @texts += 1
        statement.id = id
      end
    end
  end

  TOKEN = %r{
    (?<space>[ \t\r\n\f\ufeff]|--[^\n]*\n?|/\*.*?(?:\*/|\z))
    |'[^']*'?|"[^"]*"?|`[^`]*`?|\[[^\]]*\]?|[A-Za-z0-9_\u{80}-\u{10ffff}]+|.
  }mx

  CONTROL = { "begin" => "begin", "commit" => "commit", "end" => "commit", "savepoint" => "savepoint", "release" => "release", "rollback" => "rollback" }.freeze

  class << self
    # A value as JSON: an integer as a number without a point and exponent, a real with
    # one. What JSON does not have is an object of one field.
    def value(value)
      case value
      when nil then "null"
      when true then "1"
      when false then "0"
      when Integer
        raise RangeError, "SQLite has no such integer" unless value.bit_length < 64

        value.to_s
      when Float then value.finite? ? value.to_s : %({"real":"#{value.to_s.downcase.sub("inity", "")}"})
      when String then value.encoding == Encoding::BINARY ? blob(value) : text(value)
      else
        return blob(value.to_s) if value.class.name == "ActiveModel::Type::Binary::Data"

        raise TypeError, "SQLite has no such value"
      end
    end

    # Takes comments out of SQL, with one space for each run of them and of spaces, and
    # what stands behind PRAGMA and ATTACH, which may have a key.
    def clean(query)
      kept = +""
      space = secret = false
      first = true
      query.dup.force_encoding(Encoding::UTF_8).scrub.scan(TOKEN) do
        found = Regexp.last_match
        text = found[0]
        first, secret = true, false if text == ";"
        next space = !secret if found[:space] || secret

        kept << " " if space && !kept.empty?
        space = false
        secret = first && %w[PRAGMA ATTACH].include?(text.upcase)
        first &&= %w[; EXPLAIN QUERY PLAN].include?(text.upcase)
        kept << text
      end
      kept.gsub(/\A[; ]+|[; ]+\z/, "")
    end

    # Names a statement that begins or ends a transaction or a savepoint. Several in one
    # text have no name.
    def control(text)
      return if text.include?(";")

      words = text.downcase.split(" ")
      return "rollback to" if words[0] == "rollback" && words[1, 2].include?("to")

      CONTROL[words[0]]
    end

    # Says of what kind an error is, and nothing of its text.
    def kind_of(message)
      text = message.to_s.b.downcase
      return "busy" if text.include?("locked") || text.include?("busy")

      text.include?("constraint") ? "constraint" : "error"
    end

    private

    def blob(bytes)
      bytes.bytesize > LONG_VALUE ? %({"blob":#{bytes.bytesize}}) : %({"blob":"#{[bytes].pack("m0")}"})
    end

    def text(text)
      text = text.encode(Encoding::UTF_8)
      return %({"text":#{text.bytesize}}) if text.bytesize > LONG_VALUE

      text.valid_encoding? ? JSON.generate(text, ascii_only: true) : %({"text":"#{[text].pack("m0")}"})
    end
  end
end
