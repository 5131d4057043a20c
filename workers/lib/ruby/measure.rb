# frozen_string_literal: true

# Nanoseconds of a monotonic clock.
def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

# A part of a mix had another number of rows than expected.
class Missed < StandardError; end

# Threads of clients, which live on: of those that have ended, the system forgets what it counted.
module Threads
  @idle = []

  # run makes calls at the same time.
  def self.run(calls)
    @idle << Queue.new.tap { |queue| Thread.new { loop { queue.pop.() } } } while @idle.size < calls.size
    done = Queue.new
    calls.zip(@idle) { |call, queue| queue << -> { done << (call.() rescue $!) } }
    calls.map { done.pop }.each { |share| raise share if share.is_a?(Exception) }
  end
end

# One measurement of a prepared operation: its clients draw units from one counter.
class Lap
  MAX_FAILURES = 1000
  MIN_UNITS = 10 # of every client in a window
  PATIENCE = 10_000_000_000 # ns that a unit is tried again where it is answered "busy"
  FOREVER = 1 << 62

  # What one client did.
  Share = Struct.new(:executed, :done, :busy, :errors, :misses, :error, :miss, :before, :last, :right, :exit)

  def initialize(operation, request)
    @operation = operation
    start, @window, operations = request.values_at("start", "nanos", "operations").map(&:to_i)
    @first = start / operation.unit
    @units = @window.positive? ? FOREVER : operations / operation.unit
    @min_units = @window.positive? ? MIN_UNITS * operation.clients.size : 0
    @batch = [1, request["batch"].to_i].max
    @histogram = Histogram.new if request["latency"]
    @marks = request["marks"]
    @next = @ready = @failures = 0
    @mutex = Mutex.new
  end

  def run
    marks = File.open(@marks, "ab") unless @marks.to_s.empty?
    before = Counters.now
    clients = @operation.clients
    shares = clients.one? ? [client(clients.first, marks)] : Threads.run(clients.map { |c| -> { client(c, nil) } })
    sum(shares).merge(counters: Counters.since(before))
  ensure
    marks&.close
  end

  private

  def client(unit, marks)
    share = Share.new(0, 0, 0, 0, 0, nil, nil, 0, 0, 0, 0)
    length = @operation.length
    barrier
    previous = @began
    while (from = draw(previous))
      count = [@batch, @units - from].min
      right = (from...from + count).count { |u| right?(unit, (@first + u) % length, share, marks) }
      now = clock
      record((now - previous) / count) if @histogram && right == count
      share.executed += count
      share.done += right
      share.before, share.last, share.right = previous, now, right
      previous = now
    end
    share.exit = @operation.clients.one? ? previous : clock # others may have worked on since then
    share
  end

  # barrier holds a client until all are ready: the last one starts the clock.
  def barrier
    @mutex.synchronize do
      @ready += 1
      if @ready == @operation.clients.size
        @unix = Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond)
        @began = clock
        @deadline = @window.positive? ? @began + @window : FOREVER
      end
    end
    Thread.pass until @deadline
  end

  # draw takes the next units; one client needs no lock.
  def draw(previous)
    return take(previous) if @operation.clients.one?

    @mutex.synchronize { take(previous) }
  end

  def take(previous)
    from = @next
    return if from >= @units || previous >= @deadline && from >= @min_units || @failures >= MAX_FAILURES

    @next = from + @batch
    from
  end

  def record(nanos)
    return @histogram.record(nanos) if @operation.clients.one?

    @mutex.synchronize { @histogram.record(nanos) }
  end

  # right? runs a unit, again where it is busy and that is asked for.
  def right?(unit, position, share, marks)
    began = nil
    begin
      rows = unit.(position)
    rescue Missed => e
      return failed { share.misses += 1; share.miss ||= e.message }
    rescue StandardError => e
      busy = @operation.busy?(e)
      share.busy += 1 if busy
      began ||= clock
      retry if busy && @operation.retry_busy && clock - began < PATIENCE
      return failed { share.errors += 1; share.error ||= "#{e.class}: #{e.message}" }
    end
    want = @operation.rows
    return failed { share.misses += 1; share.miss ||= "#{rows} rows, expected are #{want}" } unless rows == want || want.negative?

    marks&.syswrite(".")
    true
  end

  def failed
    yield
    @mutex.synchronize { @failures += 1 }
    false
  end

  # sum takes the time until the first client had nothing more to do. Of a draw
  # that ended later, the part of its time that lies inside counts.
  def sum(shares)
    over = shares.map(&:exit).min
    late = shares.select { |s| s.last > over }
    done = shares.sum(&:done) - late.sum { |s| s.right * (s.last - [over, s.before].max).fdiv(s.last - s.before) }
    unit = @operation.unit
    { operations: (done * unit).round, nanos: over - @began, began_ns: @unix, executed: shares.sum(&:executed) * unit, errors: shares.sum(&:errors),
      error: shares.filter_map(&:error).first, misses: shares.sum(&:misses), miss: shares.filter_map(&:miss).first,
      busy: shares.sum(&:busy), histogram: @histogram&.buckets }.compact
  end
end

# An operation whose statements do nothing: what it takes is the worker's own loop,
# its arguments and its clock, of which every other figure has as much.
class Null
  OPERATIONS = 200
  LAPS = 40 # the shortest one counts: short ones are seldom interrupted,
  ENOUGH = 20_000_000 # ns, and long ones need fewer

  attr_reader :unit, :length, :rows, :clients

  def initialize(operation)
    @unit, @length, @rows = operation.unit, operation.length, operation.rows
    @clients = [operation.null]
    @statements = unit * [1, operation.statements].max
    @known = {}
  end

  def busy?(_error) = false
  def retry_busy = false

  # nanos is the time of the loop for one operation. It is measured once for each
  # form of the loop.
  def nanos(request)
    form = request.slice("batch", "latency")
    @known[form] ||= begin
      count = unit * [1, OPERATIONS / @statements].max
      took = []
      took << Lap.new(self, form.merge("operations" => count)).run[:nanos] while took.size < LAPS && took.sum < ENOUGH
      took.min.fdiv(count)
    end
  end
end
