# frozen_string_literal: true

# What travels beside the protocol's lines: column files, rows, histograms, counters.

# A column file. It has a function for each column, from row to value.
class Columns
  attr_reader :rows, :columns

  def initialize(path)
    data = File.binread(path)
    count, @rows = data.unpack("L<Q<", offset: 12)
    @columns = Array.new(count) { |i| column(data, *data.unpack("L<L<Q<Q<Q<", offset: 24 + 32 * i)) }
  end

  private

  def column(data, kind, flags, nulls, values, content)
    get = getter(data, kind, values, content)
    return get if (flags & 1).zero?

    ->(row) { data.getbyte(nulls + row / 8)[row % 8] == 1 ? nil : get.(row) }
  end

  def getter(data, kind, values, content)
    numbers = ->(form, count) { data.byteslice(values, 8 * count).unpack("#{form}*") }
    case kind
    when 1 then numbers.("q<", @rows).method(:[])
    when 5 then numbers.("q<", @rows).map { |n| n != 0 }.method(:[])
    when 2 then numbers.("E", @rows).method(:[])
    else
      ends = numbers.("q<", @rows + 1)
      encoding = kind == 3 ? Encoding::UTF_8 : Encoding::BINARY
      ->(row) { data.byteslice(content + ends[row], ends[row + 1] - ends[row]).force_encoding(encoding) }
    end
  end
end

# A file of rows as they are stored, which is there already.
class Rows
  def self.open(path)
    File.open(path, File::WRONLY | File::APPEND | File::BINARY) { |file| yield new(file) }
  end

  def initialize(file) = @file = file

  # unit writes rows of a unit, each with its step.
  def unit(number, rows)
    @file << [number, 0, rows.size].pack("Q<L<L<")
    rows.each { |step, row| @file << [step, row.size].pack("L<L<") << row.map { |value| stored(value) }.join }
  end

  private

  def stored(value)
    case value
    when nil then "\0".b
    when true, false then [1, value ? 1 : 0].pack("Cq<")
    when Integer then [1, value].pack("Cq<")
    when Float then [2, value].pack("CE")
    when String then [value.encoding == Encoding::BINARY ? 4 : 3, value.bytesize].pack("CL<") << value.b
    else raise "#{value.inspect} is no value of an answer"
    end
  end
end

# Counts of latencies in buckets of fixed bounds.
class Histogram
  MAX = (1 << 41) - 1

  def initialize = @counts = Hash.new(0)

  def record(nanos) = @counts[upper(nanos.clamp(0, MAX))] += 1

  def buckets = @counts.sort

  private

  def upper(v)
    return v if v < 128

    shift = v.bit_length - 8
    (((v >> shift) + 1) << shift) - 1
  end
end

# What the process used so far, without what it takes to read it: that is left out of
# the bytes read, and of the others by the order of reading.
module Counters
  UNCOUNTED = "alloc_bytes, switches: Ruby counts objects, not their bytes; the system forgets the switches of threads that have ended"

  @own_reads = 0

  # now reads what reading adds to last.
  def self.now = system.merge(own)

  # since reads that first, and says what was used since.
  def self.since(before)
    used = own
    used.merge(system).to_h { |name, value| [name, name == :peak_bytes ? value : value - before[name]] }
  end

  def self.add(total, counted) = total.merge!(counted) { |name, a, b| name == :peak_bytes ? [a, b].max : a + b }

  def self.own
    { allocs: GC.stat(:total_allocated_objects), cpu_ns: Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond) }
  end

  def self.system
    peak = proc_file("status")["VmHWM"].to_i * 1024
    reads = @own_reads # before the other file: what reading it adds, it does not show yet
    io = proc_file("io")
    { read_bytes: io.fetch("rchar", reads).to_i - reads, fetched_bytes: io["read_bytes"].to_i, written_bytes: io["write_bytes"].to_i,
      peak_bytes: peak }
  end

  def self.proc_file(name)
    text = File.binread("/proc/self/#{name}")
    @own_reads += text.bytesize
    text.each_line.to_h { |line| line.split(":", 2) }
  rescue SystemCallError
    {}
  end

  private_class_method :own, :system, :proc_file
end
