# frozen_string_literal: true

# The arguments of an operation: a column file, read whole.
class Columns
  KINDS = { 1 => "q<", 2 => "E", 5 => "q<" }.freeze

  attr_reader :rows

  def initialize(path)
    @data = File.binread(path)
    magic, version, count, @rows = @data.unpack("a8L<L<Q<")
    raise "it is no column file of version 1" unless magic == "ASSAYCOL" && version == 1

    @heads = Array.new(count) { |i| @data.unpack("L<L<Q<Q<Q<", offset: 24 + (32 * i)) }
  rescue SystemCallError, RuntimeError, ArgumentError => e
    Protocol.invalid("trace #{path}: #{e.message}")
  end

  def row(index) = @heads.map { |head| value(index, *head) }

  private

  def value(row, kind, flags, nulls, values, content)
    return if flags.anybits?(1) && @data.getbyte(nulls + (row / 8))[row % 8] == 1
    return text(kind, content, *@data.unpack("Q<2", offset: values + (8 * row))) if [3, 4].include?(kind)

    number = @data.unpack1(KINDS.fetch(kind), offset: values + (8 * row))
    kind == 5 ? number != 0 : number
  end

  def text(kind, content, from, to)
    bytes = @data.byteslice(content + from, to - from)
    kind == 3 ? bytes.force_encoding(Encoding::UTF_8) : ActiveModel::Type::Binary::Data.new(bytes)
  end
end

# An operation of one SQL statement: one without arguments that changes nothing,
# which the protocol asks of a worker that has operations of its own, or one of a
# single client that changes data, in ActiveRecord's transactions.
class Statements
  attr_reader :clients, :rows, :retry_busy, :query_plan, :unit

  def initialize(spec, clients, target)
    @step, *more = spec["steps"] || []
    Protocol.unsupported("this worker runs its own operations, and single SQL statements") if @step.nil? || more.any? || spec["parts"].present?
    @changes, @unit = spec["changes"], [1, spec["transaction"].to_i].max
    @arguments = Columns.new(spec["trace"]) if spec["trace"].present?
    refuse(clients)
    @rows = @step["rows"].to_i
    @retry_busy = spec["retry_busy"]
    @clients = Array.new(clients) { self }
    @target = target
    @query_plan = target.query_plan(@step["sql"])
  end

  def call? = false
  def busy?(error) = @target.busy?(error)

  # run does a unit, and answers its rows: of a transaction, those of a statement
  # where all have as many as they should.
  def run(number)
    return select.size unless @changes
    return change(number) if unit == 1

    ActiveRecord::Base.transaction do
      counts = Array.new(unit) { |i| change((number * unit) + i) }
      counts.find { |count| count != rows } || rows
    end
  end

  def verify(_start, count)
    Protocol.unsupported("what changes data is not verified") if @changes

    digest = AnswerDigest.new(@step["returns"])
    count.times { select.each { |row| digest.add(row) } }
    { digest: digest.hex, rows: digest.rows }
  end

  private

  def refuse(clients)
    arguments = @step["args"].to_i.positive?
    Protocol.unsupported("this worker's SQL has arguments or transactions where one client changes data") if
      (arguments || unit > 1) && !(@changes && clients == 1)
    Protocol.unsupported("this worker's SQL changes data with arguments only") if @changes && !arguments
    Protocol.invalid("arguments without a trace") if arguments && @arguments.nil?
  end

  def select = ActiveRecord::Base.connection.select_rows(@step["sql"])

  def change(position)
    ActiveRecord::Base.connection.exec_update(@step["sql"], "change", @arguments.row(position % @arguments.rows))
  end
end
