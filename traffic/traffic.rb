# frozen_string_literal: true

# Records what a Rails application asks of its database, for assay init --log: which
# statements, how often, how many at once, how skewed their arguments are. It writes no
# bound value, and nothing that stands in single quotes; of what stands in double quotes
# see strip. docs/traffic.md is the format's contract.
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

require "digest"
require "json"
require "openssl"
require "securerandom"
require "time"

module Traffic
  VERSION = 1
  BUFFERED = 64 << 10 # bytes that are written at once
  WAITING = 16 # full buffers that may wait for the disk before lines are dropped
  MAX_TEXTS = 10_000 # different statements that are told apart
  LONG_TEXT = 4096 # characters of a statement that is not kept to know it again
  BUCKETS = 16 # of the ranks of integers
  TAG_BYTES = 8
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
      @process = Process.pid
      @max = max - LAST_LINE
      @key = SecureRandom.bytes(32) # that nobody keeps
      @began = now
      @connections = {} # by the object's id
      @txs = 0
      @lock = Mutex.new
      @closed = @filled = false # filled: a line did not fit, so that no later one is written either
      @lines = []
      @buffered = @spent = @dropped = 0
      @known = {} # templates, by text
      @templates = {} # by id: those whose text is in the file
      @full = SizedQueue.new(WAITING)
      line(%({"traffic":#{VERSION},"began":"#{Time.now.utc.iso8601}","buckets":#{BUCKETS}}\n))
      @writer = Thread.new { write }
      @flusher = Thread.new { flush }
      at_exit do
        close
      rescue SystemCallError => e # the program's end is its own
        warn "traffic: the log is not complete: #{e.message}"
      end
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

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    # Records an event of sql.active_record. What Rails asks about the schema, and what
    # it answers from its own cache, is no traffic of the application.
    def take(began, ended, event)
      return if event[:name] == "SCHEMA" || event[:cached]
      return unless event[:connection]&.adapter_name == "SQLite" # strip knows no other quoting
      return foreign if Process.pid != @process

      @lock.synchronize do
        connection = @connections[event[:connection].object_id] ||= Connection.new(@connections.size + 1, 0)
        mark = Traffic.control(event[:sql])
        case mark
        when nil
          what, args = describe(event[:sql], event[:type_casted_binds])
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

    # Writes the line of a statement or mark, and counts one that it cannot write. Rails
    # before 7.2 does not say how many rows there are.
    def put(began, ended, connection, what, args, event)
      rows = event[:row_count] || (0 if event[:exception])
      text = +%({"at":#{((began - @began) * 1e9).round},"conn":#{connection.number},"tx":#{connection.tx},"s":"#{what}"#{args})
      text << %(,"rows":#{rows}) if rows
      text << %(,"ns":#{((ended - began) * 1e9).round})
      text << %(,"err":"#{Traffic.kind_of(event[:exception].last)}") if event[:exception]
      @dropped += 1 unless what && line(text << "}\n")
    end

    # Returns the id of a statement, nothing where its text is not in the file, and its
    # arguments. A value that cannot be described costs the line, and never the program's
    # statement.
    def describe(query, values)
      template = template(query)
      return unless template

      values = values.call if values.respond_to?(:call)
      args = Array(values).each_with_index.map { |value, i| argument(template, i, value) }
      [template.id, args.empty? ? "" : %(,"args":[#{args.join(",")}])]
    rescue StandardError
      nil
    end

    # An argument: its type, its length, its tag, and of an integer its rank among those
    # seen.
    def argument(template, place, value)
      return '{"t":"null"}' if value.nil?

      type, length, data = typed(value)
      rank = template.rank(place, value) if type == "int"
      tag = OpenSSL::HMAC.hexdigest("SHA256", @key, data)[0, 2 * TAG_BYTES]
      %({"t":"#{type}","n":#{length},"tag":"#{tag}"#{rank}})
    end

    def typed(value)
      case value
      when Integer then ["int", 8, "i#{value}"]
      when Float then ["real", 8, "r#{value}"]
      when true, false then ["bool", 1, "b#{value}"]
      when String then [value.encoding == Encoding::BINARY ? "blob" : "text", value.bytesize, "t".b + value.b]
      when Time, Date then ["time", 8, "d#{value.iso8601}"]
      else
        return ["blob", value.to_s.bytesize, "t".b + value.to_s.b] if value.class.name == "ActiveModel::Type::Binary::Data"

        ["other", 0, "o#{value.class}#{value}".b]
      end
    end

    # Finds a statement without its literals, and writes its text the first time; nil
    # where there are too many, and where the text cannot be written.
    def template(query)
      return @known[query] if @known.key?(query)

      id, text = Traffic.fingerprint(query)
      unless @templates.key?(id)
        return if @templates.size >= MAX_TEXTS || !line(%({"id":"#{id}","sql":#{JSON.generate(text, ascii_only: true)}}\n))

        @templates[id] = Template.new(id)
      end
      @known[query.dup.freeze] = @templates[id] if @known.size < MAX_TEXTS && query.size <= LONG_TEXT
      @templates[id]
    end
  end

  # A statement without its literals.
  class Template
    attr_reader :id

    def initialize(id)
      @id = id
      @ranges = {} # of integers, by argument
    end

    # The part of the range that the argument's integers had so far in which this one
    # lies; nothing before there is a range.
    def rank(place, value)
      low, high = @ranges[place] || [value, value]
      low, high = @ranges[place] = [[low, value].min, [high, value].max]
      high - low < BUCKETS ? "" : %(,"rank":#{BUCKETS * (value - low) / (high - low + 1)})
    end
  end

  WORD = /[A-Za-z0-9_\u{80}-\u{10ffff}]/
  TOKEN = %r{
    (?<space>[ \t\r\n\f\ufeff]|--[^\n]*\n?|/\*.*?(?:\*/|\z))
    |(?<literal>[xX]?'[^']*(?:''[^']*)*'?|0x(?:#{WORD}|\.)*|(?:[0-9]|\.[0-9])(?:(?<=[eE])[+\-]|#{WORD}|\.)*)
    |(?<name>"#{WORD}+"(?!"))
    |(?<text>"[^"]*(?:""[^"]*)*"?)
    |(?<quoted>`[^`]*(?:``[^`]*)*`?|\[[^\]]*\]?)
    |(?<parameter>[?:@$]#{WORD}*)
    |(?<word>#{WORD}+)
    |(?<other>.)
  }mx

  CONTROL = { "begin" => "begin", "commit" => "commit", "end" => "commit", "savepoint" => "savepoint", "release" => "release", "rollback" => "rollback" }.freeze
  CONTROL_WORDS = 5 # of the longest of them: ROLLBACK TRANSACTION TO SAVEPOINT and a name

  class << self
    # Names a statement by its text without literals, however it writes its parameters,
    # and returns the text.
    def fingerprint(query)
      text, alike = strip(query)
      [Digest::SHA256.hexdigest(alike)[0, 2 * TAG_BYTES], text]
    end

    # Takes comments and spaces out of SQL, and puts :literal1, :literal2 and so on in
    # the place of literals: numbers, texts and blobs. What stands in double quotes is
    # taken for a name if it looks like one. Of PRAGMA and ATTACH, which may have a key,
    # it keeps that word. It returns the same with ? for every parameter as well.
    def strip(query)
      kept = +""
      alike = +""
      space = secret = false
      first = true
      literals = 0
      query.encode(Encoding::UTF_8).scrub.scan(TOKEN) do
        found = Regexp.last_match
        text = found[0]
        first, secret = true, false if text == ";"
        next space = !secret if found[:space] || secret

        text = ":literal#{literals += 1}" if found[:literal] || found[:text]
        [kept, alike].each { |each| each << " " } if space && !kept.empty?
        space = false
        secret = first && %w[PRAGMA ATTACH].include?(text.upcase)
        first &&= %w[; EXPLAIN QUERY PLAN].include?(text.upcase)
        kept << text
        alike << (found[:parameter] ? "?" : text)
      end
      [kept, alike].map { |each| each.sub(/[; ]+\z/, "") }
    end

    # Names a statement that begins or ends a transaction or a savepoint. Several in one
    # text have no name.
    def control(query)
      words = []
      over = false
      query.scan(TOKEN) do
        found = Regexp.last_match
        text = found[0].downcase
        if text == ";"
          over = words.any?
        elsif !found[:space]
          return if over || words.size == CONTROL_WORDS || words.empty? && !CONTROL.key?(text)

          words << text
        end
      end
      return "rollback to" if words[0] == "rollback" && words[1, 2].include?("to")

      CONTROL[words[0]]
    rescue ArgumentError, EncodingError # of a text that is no UTF-8
      nil
    end

    # Says of what kind an error is, and nothing of its text.
    def kind_of(message)
      text = message.to_s.b.downcase
      return "busy" if text.include?("locked") || text.include?("busy")

      text.include?("constraint") ? "constraint" : "error"
    end
  end
end
