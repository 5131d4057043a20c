# frozen_string_literal: true

require_relative "protocol"
require_relative "data"
require_relative "measure"
require_relative "operation"
require_relative "calls"

# The worker: what it answers to each request.
class Worker
  attr_reader :driver, :readers, :writers

  def initialize(driver)
    @driver = driver
    @operations = {}
    @readers = @writers = []
  end

  def hello
    target = @driver.target
    target[:facts]["gems"] = Gems.versions.join(", ")
    { target: target, capabilities: @driver.capabilities, calls: @driver.calls&.names }.compact
  end

  def open(request)
    Protocol.invalid("a database is open already") if any
    readers, writers = request.values_at("readers", "writers").map(&:to_i)
    Protocol.invalid("no connections") unless (readers + writers).positive?
    all, reply = @driver.open(request, readers + writers)
    @readers, @writers = all.take(readers), all.drop(readers)
    (request["once"] || []).each { |sql| @driver.rows((@writers + @readers).first, sql) }
    @free = [@readers, @writers].map { |connections| connections.each_with_object(Queue.new) { |c, queue| queue << c } }
    reply
  rescue StandardError
    self.end unless @free
    raise
  end

  # any is a connection; nil where no database is open.
  def any = (@readers + @writers).first

  # free are the connections that no client uses, of writers or of readers.
  def free(writers) = @free[writers ? 1 : 0]

  def settings(request)
    needs_database
    named = @readers.each_with_index.map { |c, i| ["reader-#{i + 1}", c] } + @writers.each_with_index.map { |c, i| ["writer-#{i + 1}", c] }
    names = request["names"] || []
    { connections: named.map { |name, c| { name: name, settings: names.to_h { |n| [n, @driver.read(c, n)] }.compact } } }
  end

  def prepare(request)
    needs_database
    spec = request["operation"] || {}
    name, clients = spec["name"].to_s, request["clients"].to_i
    Protocol.invalid("the operation #{name.inspect} is prepared already") if @operations.key?(name)
    Protocol.invalid("clients: want 1 or more") unless clients.positive?
    @operations[name] = kind(spec).new(self, spec, clients)
    { query_plan: @operations[name].query_plan }.compact
  end

  def measure(request)
    operation = prepared(request)
    Protocol.unsupported("this worker does not time phases") if request["phases"]
    operation.measure(request)
  end

  def verify(request)
    return prepared(request).verify(request["start"].to_i, request["count"].to_i) unless request["operation"].to_s.empty?

    needs_database
    Protocol.invalid("verify wants an operation or sql") if request["sql"].to_s.empty?
    digest = AnswerDigest.new(request["returns"])
    @driver.rows(any, request["sql"]).each { |row| digest.add(row) }
    { digest: digest.hex, rows: digest.rows }
  end

  def stats(_request) = Counters.now

  def close(_request)
    began = clock
    self.end
    { nanos: clock - began }
  end

  def end
    @driver.disconnect
    @readers = @writers = []
  end

  private

  def kind(spec)
    return Mix if spec["parts"]

    (spec["steps"] || []).any? { |step| step["call"] } ? Call : Operation
  end

  def needs_database = any || Protocol.invalid("no database is open")

  def prepared(request)
    needs_database
    @operations[request["operation"]] || Protocol.invalid("the operation #{request['operation'].inspect} is not prepared")
  end
end
