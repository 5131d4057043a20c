# frozen_string_literal: true

# Operations of a worker's own, at a size n. Each public method of a subclass is
# one: it prepares what it needs, has `timed` do the work, and returns rows that tell
# what was done.
class Calls
  attr_reader :nanos, :counters

  def self.names = public_instance_methods(false).map(&:to_s)

  # unshared are those that cannot run in a transaction.
  def self.unshared = []

  def initialize(n, transaction, driver)
    @n = n
    @transaction = transaction
    @driver = driver
  end

  # unit_of runs an operation once, and leaves nothing behind.
  def unit_of(name)
    public_send(name)
  ensure
    clear
  end

  private

  attr_reader :n, :driver

  def timed(&body)
    GC.start
    before = Counters.now
    began = clock
    result = @transaction ? in_transaction(&body) : yield
    @nanos = clock - began
    @counters = Counters.since(before)
    result
  end
end

# A lap whose clock stops for what is not the calls' own.
class CallLap < Lap
  private

  def clock = super - @operation.stopped
end

# A prepared call.
class Call
  attr_reader :query_plan, :rows, :stopped

  def initialize(worker, spec, _clients)
    step = spec["steps"].first
    @name, @rows = step["call"], step["rows"].to_i
    @driver, calls, transaction = worker.driver, worker.driver.calls, spec["transaction"].to_i
    Protocol.unsupported("threads cannot share a transaction") if transaction == 1 && calls.unshared.include?(@name)
    calls.create_tables
    calls.new(1, transaction == 1, @driver).unit_of(@name) # all that is done once was done
    @calls = calls.new(step["n"], transaction == 1, @driver)
  end

  def unit = 1
  def length = 1
  def clients = [method(:run)]
  def retry_busy = false
  def busy?(error) = @driver.busy?(error)
  def verify(_start, _count, rows) = rows.unit(0, @answer.map { |row| [0, row] })

  def measure(request)
    @stopped, @used = 0, {}
    CallLap.new(self, request).run.merge(counters: @used)
  end

  private

  def run(_position)
    began = clock
    @answer = @calls.unit_of(@name)
    if [-1, @answer.size].include?(@rows) # of what is wrong all time counts
      Counters.add(@used, @calls.counters)
      @stopped += clock - began - @calls.nanos
    end
    @answer.size
  end
end
