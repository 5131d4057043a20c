# frozen_string_literal: true

# Nanoseconds of a monotonic clock.
def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

# What the process used so far.
module Counters
  IO = %w[rchar read_bytes write_bytes].freeze

  def self.now
    io = proc_file("io")
    status = proc_file("status")
    { cpu_ns: Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond),
      allocs: GC.stat(:total_allocated_objects), alloc_bytes: 0,
      read_bytes: io["rchar"].to_i, fetched_bytes: io["read_bytes"].to_i, written_bytes: io["write_bytes"].to_i,
      switches: status["voluntary_ctxt_switches"].to_i + status["nonvoluntary_ctxt_switches"].to_i,
      peak_bytes: status["VmHWM"].to_i * 1024 }
  end

  def self.proc_file(name)
    File.foreach("/proc/self/#{name}").to_h { |line| line.split(":", 2) }
  rescue SystemCallError
    {}
  end

  def self.add(total, before, after)
    after.each { |name, value| total[name] = name == :peak_bytes ? value : total.fetch(name, 0) + value - before[name] }
    total
  end
end

# Counts of latencies in buckets of fixed bounds.
class Histogram
  MOST = (1 << 41) - 1

  def initialize = @counts = Hash.new(0)

  def record(nanos) = @counts[upper(nanos.clamp(0, MOST))] += 1

  def buckets = @counts.sort

  private

  def upper(v)
    return v if v < 128

    shift = v.bit_length - 8
    (((v >> shift) + 1) << shift) - 1
  end
end

# One measurement of an operation: its clients draw units from one counter.
class Lap
  MOST_ERRORS = 1000
  LEAST = 10
  PATIENCE = 10_000_000_000

  def initialize(operation, request)
    @operation = operation
    @start, @window, @operations = request.values_at("start", "nanos", "operations").map(&:to_i)
    @batch = [1, request["batch"].to_i].max
    Protocol.invalid("measure wants nanos or operations, one of them") if @window.positive? == @operations.positive?
    whole = [@start, @operations].all? { |n| (n % operation.unit).zero? }
    Protocol.invalid("want whole transactions of #{operation.unit}") unless whole && @start >= 0
    @units = @window.positive? ? 1 << 62 : @operations / operation.unit
    @least = @window.positive? ? LEAST * operation.clients.size : 0
    @histogram = Histogram.new if request["latency"]
    @marks = request["marks"]
    @next = @executed = @done = @busy = @errors = @misses = @ready = 0
    @mutex = Mutex.new
  end

  def run
    @nanos = 0
    @counters = {}
    marks = File.open(@marks, "ab") if @marks.present?
    @operation.call? ? call(marks) : together(marks)
    reply
  ensure
    marks&.close
  end

  private

  def reply
    { operations: @done * @operation.unit, nanos: @nanos, executed: @executed * @operation.unit, errors: @errors, error: @error,
      misses: @misses, miss: @miss, busy: @busy, counters: @counters, histogram: @histogram&.buckets }.compact
  end

  # call measures units that prepare what they need, with the clock stopped.
  def call(marks)
    call = @operation.clients.first
    while draw(@window.positive? && @nanos >= @window)
      rows = attempt { call.run }
      right = judge(rows)
      next unless right

      @nanos += call.nanos
      @counters.merge!(call.counters) { |name, a, b| name == :peak_bytes ? b : a + b }
      @histogram&.record(call.nanos)
      marks&.syswrite(".")
    end
  end

  def together(marks)
    clients = @operation.clients
    ActiveRecord::Base.clear_active_connections! # each thread takes one
    before = Counters.now
    shares = if clients.one?
               [client(clients.first, marks)]
             else
               clients.map { |c| Thread.new { client(c, nil) } }.map(&:value)
             end
    @counters = Counters.add({}, before, Counters.now)
    sum(shares)
  end

  Share = Struct.new(:before, :last, :right, :exit)

  def client(client, marks)
    previous = barrier
    share = Share.new(previous, previous, 0)
    while (from = draw(@window.positive? && previous - @began >= @window))
      count = [@batch, @units - from].min
      right = (0...count).count { |i| judge(attempt { client.run((@start / @operation.unit) + from + i) }) }
      now = clock
      @mutex.synchronize { @histogram&.record((now - previous) / count) } if right == count
      right.times { marks&.syswrite(".") }
      share.before, share.last, share.right = previous, now, right
      previous = now
    end
    share.exit = clock
    share
  end

  # barrier holds a client until all are ready, and answers the clock.
  def barrier
    @mutex.synchronize do
      @ready += 1
      @began = clock if @ready == @operation.clients.size
    end
    Thread.pass until @began
    clock
  end

  # sum takes the time until the first client had nothing more to do. Of what
  # ended later, the part of its time that lies inside counts.
  def sum(shares)
    over = shares.map(&:exit).min
    late = shares.select { |s| s.last > over && s.right.positive? }
    @done -= late.sum { |s| s.right * (s.last - [over, s.before].max).fdiv(s.last - s.before) }.round
    @nanos = over - @began
  end

  def draw(over)
    @mutex.synchronize do
      next if @next >= @units || over && @next >= @least || @errors + @misses >= MOST_ERRORS

      @next += @batch
      @next - @batch
    end
  end

  # attempt answers the number of rows, or the error. Busy answers are tried
  # again where the operation says so.
  def attempt
    began = nil
    begin
      yield
    rescue StandardError => e
      return e unless @operation.busy?(e)

      @mutex.synchronize { @busy += 1 }
      began ||= clock
      retry if @operation.retry_busy && clock - began < PATIENCE
      e
    end
  end

  def judge(rows)
    right = rows.is_a?(Integer) && [-1, rows].include?(@operation.rows)
    @mutex.synchronize do
      @executed += 1
      next @done += 1 if right

      if rows.is_a?(Exception)
        @errors += 1
        @error ||= "#{rows.class}: #{rows.message}"
      else
        @misses += 1
        @miss ||= "#{rows} rows, expected are #{@operation.rows}"
      end
    end
    right
  end
end
