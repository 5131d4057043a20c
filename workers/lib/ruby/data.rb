# frozen_string_literal: true

# What travels beside the protocol's lines: column files, digests, histograms,
# counters.

require "digest"

# A column file. It has a function for each column, from row to value.
class Columns
  attr_reader :rows, :types, :columns

  def initialize(path)
    data = File.binread(path)
    magic, version, count, @rows = data.unpack("a8L<L<Q<")
    raise "it is no column file of version 1" unless magic == "ASSAYCOL" && version == 1

    heads = Array.new(count) { |i| data.unpack("L<L<Q<Q<Q<", offset: 24 + 32 * i) }
    @types = heads.map(&:first)
    @columns = heads.map { |head| column(data, *head) }
  rescue SystemCallError, ArgumentError, TypeError, RuntimeError => e
    Protocol.invalid("trace #{path}: #{e.message}")
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
    when 3, 4
      ends = numbers.("q<", @rows + 1)
      encoding = kind == 3 ? Encoding::UTF_8 : Encoding::BINARY
      ->(row) { data.byteslice(content + ends[row], ends[row + 1] - ends[row]).force_encoding(encoding) }
    else raise "a column has the unknown type #{kind}"
    end
  end
end

# The digest of an answer: rows of values by declared type.
class AnswerDigest
  TYPES = %w[int real text blob bool].freeze

  attr_reader :rows

  def initialize(types)
    @types = types || []
    unknown = @types.find { |type| !TYPES.include?(type.chomp("?")) }
    Protocol.invalid("type #{unknown.inspect}: want int, real, text, blob or bool") if unknown
    @sha = Digest::SHA256.new
    @rows = 0
  end

  def add(row)
    raise "a row has #{row.size} columns, declared are #{@types.size}" unless row.size == @types.size

    @rows += 1
    @sha << [row.size].pack("L<") << row.each_with_index.map { |value, i| encode(value, @types[i]) }.join
  end

  def hex = @sha.hexdigest

  private

  # encode follows the protocol's table of what can be what.
  def encode(value, type)
    kind = type.chomp("?")
    value = { true => 1, false => 0 }.fetch(value, value)
    case [value, kind]
    in [nil, _] if type.end_with?("?") then "\0".b
    in [Integer, "int"] then [1, value].pack("Cq<")
    in [Integer, "bool"] then [5, value.zero? ? 0 : 1].pack("CC")
    in [Integer | Float, "real"] then real(value.to_f)
    in [String, "text" | "blob"] then [kind == "text" ? 3 : 4, value.bytesize].pack("CL<") << value.b
    else raise "#{value.inspect} where #{type} is declared"
    end
  end

  def real(value)
    return [2, 0x7ff8000000000000].pack("CQ<") if value.nan?

    [2, value.zero? ? 0.0 : value].pack("CE")
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
  UNCOUNTED = "alloc_bytes: Ruby counts objects, not their bytes"

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
    { allocs: GC.stat(:total_allocated_objects), alloc_bytes: 0, cpu_ns: Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond) }
  end

  def self.system
    status = proc_file("status")
    reads = @own_reads # before the other file: what reading it adds, it does not show yet
    io = proc_file("io")
    { read_bytes: io.fetch("rchar", reads).to_i - reads, fetched_bytes: io["read_bytes"].to_i, written_bytes: io["write_bytes"].to_i,
      switches: status["voluntary_ctxt_switches"].to_i + status["nonvoluntary_ctxt_switches"].to_i,
      peak_bytes: status["VmHWM"].to_i * 1024 }
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
