# frozen_string_literal: true

require_relative "digest"
require_relative "measure"
require_relative "statements"
require_relative "operations"

# The worker: what it answers to each request.
class Worker
  def initialize(target)
    @target = target
    @prepared = {}
  end

  def hello
    hello = @target.hello
    hello[:facts]["uncounted"] = "alloc_bytes: Ruby counts objects, not their bytes"
    { target: hello, capabilities: ["call", *@target.capabilities], calls: Operations.names }
  end

  def open(request)
    Protocol.invalid("a database is open already") if @opened
    @readers, @writers = request.values_at("readers", "writers").map(&:to_i)
    Protocol.invalid("no connections") unless (@readers + @writers).positive?
    opened = @target.open(request)
    ActiveRecord::Base.establish_connection(opened[:configuration].merge(pool: @readers + @writers, checkout_timeout: 60))
    each_connection(&:active?)
    (request["once"] || []).each { |sql| ActiveRecord::Base.connection.execute(sql) }
    @opened = true
    opened.slice(:issued, :each).merge(@target.opened(ActiveRecord::Base.connection))
  ensure
    ActiveRecord::Base.remove_connection unless @opened
  end

  def settings(request)
    needs_database
    names = request["names"] || []
    connections = each_connection { |c| names.to_h { |name| [name, @target.read(c, name)] }.compact }
    { connections: connections.each_with_index.map { |read, i| { name: name_of(i), settings: read } } }
  end

  def prepare(request)
    needs_database
    operation = request["operation"] || {}
    name, clients = operation["name"].to_s, request["clients"].to_i
    Protocol.invalid("the operation #{name.inspect} is prepared already") if @prepared.key?(name)
    Protocol.invalid("clients: want 1 or more") unless clients.positive?
    calls = (operation["steps"] || []).any? { |step| step["call"].present? }
    @prepared[name] = (calls ? Call : Statements).new(operation, clients, @target)
    { query_plan: @prepared[name].query_plan }
  end

  def measure(request)
    Protocol.unsupported("phases: ActiveRecord does not show them apart") if request["phases"]
    Lap.new(prepared(request), request).run
  end

  def verify(request)
    return prepared(request).verify(request["start"].to_i, request["count"].to_i) if request["operation"].present?

    needs_database
    digest = AnswerDigest.new(request["returns"] || [])
    ActiveRecord::Base.connection.select_rows(request["sql"].to_s).each { |row| digest.add(row) }
    { digest: digest.hex, rows: digest.rows }
  end

  def stats(_request) = Counters.now

  def close(_request)
    began = clock
    self.end
    { nanos: clock - began }
  end

  def end
    ActiveRecord::Base.remove_connection if @opened
    @opened = false
  end

  private

  def needs_database = @opened || Protocol.invalid("no database is open")

  def prepared(request)
    needs_database
    @prepared[request["operation"]] || Protocol.invalid("the operation #{request['operation'].inspect} is not prepared")
  end

  # each_connection yields all connections of the pool, held at the same time.
  def each_connection(&block)
    pool = ActiveRecord::Base.connection_pool
    pool.release_connection
    held = Array.new(pool.size) { pool.checkout }
    held.map(&block)
  ensure
    held&.each { |connection| pool.checkin(connection) }
  end

  def name_of(index) = index < @readers ? "reader-#{index + 1}" : "writer-#{index - @readers + 1}"
end
