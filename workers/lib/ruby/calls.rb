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

# A call, prepared for measuring.
class Call
  attr_reader :query_plan

  def initialize(worker, spec, _clients)
    @step = spec["steps"].first
    @name, n = @step["call"], @step["n"]
    @driver, calls, transaction = worker.driver, worker.driver.calls, spec["transaction"].to_i
    Protocol.unsupported("threads cannot share a transaction") if transaction == 1 && calls.unshared.include?(@name)
    calls.create_tables
    calls.new(1, transaction == 1, @driver).unit_of(@name) # all that is done once was done
    @calls = calls.new(n, transaction == 1, @driver)
  end

  def verify(_start, _count, rows) = rows.unit(0, @answer.map { |row| [0, row] })

  # measure runs units one after the other: each stops the clock for what is not its
  # own.
  def measure(request)
    window, units = request.values_at("nanos", "operations").map(&:to_i)
    total = { operations: 0, nanos: 0, executed: 0, errors: 0, misses: 0, busy: 0, counters: {} }
    histogram = Histogram.new
    marks = File.open(request["marks"], "ab") unless request["marks"].to_s.empty?
    while more?(total, window, units)
      total[:executed] += 1
      began = clock
      unless right?(total)
        total[:nanos] += clock - began # what fails takes time, too
        next
      end
      total[:operations] += 1
      total[:nanos] += @calls.nanos
      histogram.record(@calls.nanos)
      Counters.add(total[:counters], @calls.counters)
      marks&.syswrite(".")
    end
    request["latency"] ? total.merge(histogram: histogram.buckets) : total
  ensure
    marks&.close
  end

  private

  def more?(total, window, units)
    return false if total[:errors] + total[:misses] >= Lap::MAX_FAILURES

    window.positive? ? total[:nanos] < window || total[:executed] < Lap::MIN_UNITS : total[:executed] < units
  end

  def right?(total)
    @answer = @calls.unit_of(@name)
    want = @step["rows"].to_i
    return true if [-1, @answer.size].include?(want)

    total[:misses] += 1
    total[:miss] ||= "#{@answer.size} rows, expected are #{want}"
    false
  rescue StandardError => e
    total[:busy] += 1 if @driver.busy?(e)
    total[:errors] += 1
    total[:error] ||= "#{e.class}: #{e.message}"
    false
  end
end
