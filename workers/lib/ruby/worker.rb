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
    readers, writers = request.values_at("readers", "writers")
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
    names = request["names"] || []
    { connections: named.map { |name, c| { name: name, settings: names.to_h { |n| [n, @driver.read(c, n)] }.compact } } }
  end

  # query runs SQL on a connection, or what begins or ends a transaction.
  def query(request)
    Protocol.unsupported("#{@driver.api} has one pool, of one database") if request["dsn"]
    sql = { "begin" => @driver.begins, "rollback" => "ROLLBACK" }.fetch(request["control"], request["sql"])
    answer(@driver.rows(named.fetch(request["connection"]), sql), request["rows"])
  end

  def prepare(request)
    spec = request["operation"]
    operation = @operations[spec["name"]] = kind(spec).new(self, spec, request["clients"])
    { query_plan: operation.query_plan }.compact
  end

  def measure(request) = @operations[request["operation"]].measure(request)

  def verify(request)
    return answer(@driver.rows(any, request["sql"]), request["rows"]) if request["sql"]

    Rows.open(request["rows"]) { |rows| @operations[request["operation"]].verify(request["start"].to_i, request["count"].to_i, rows) }
    {}
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

  def named
    { "reader" => @readers, "writer" => @writers }.flat_map { |kind, all| all.each_with_index.map { |c, i| ["#{kind}-#{i + 1}", c] } }.to_h
  end

  # answer writes rows to a file, where one is named.
  def answer(found, path)
    Rows.open(path) { |rows| rows.unit(0, found.map { |row| [0, row] }) } if path
    {}
  end
end
