# frozen_string_literal: true

# An operation of SQL statements that change nothing: what the protocol asks of
# a worker that has operations of its own.
class Statements
  attr_reader :clients, :rows, :retry_busy, :query_plan

  def initialize(spec, clients, target)
    @steps = spec["steps"] || []
    changes = spec["changes"] || spec["transaction"].to_i.positive? || spec["parts"].present?
    Protocol.unsupported("this worker runs its own operations, and SQL without changes") if changes || @steps.size != 1
    readable(spec["trace"])
    @step = @steps.first
    Protocol.unsupported("this worker's SQL has no arguments") if @step["args"].to_i.positive?
    @rows = @step["rows"].to_i
    @retry_busy = spec["retry_busy"]
    @clients = Array.new(clients) { self }
    @target = target
    @query_plan = target.query_plan(@step["sql"])
  end

  def unit = 1
  def call? = false
  def busy?(error) = @target.busy?(error)
  def run = select.size

  def verify(_start, count)
    digest = AnswerDigest.new(@step["returns"])
    count.times { select.each { |row| digest.add(row) } }
    { digest: digest.hex, rows: digest.rows }
  end

  private

  def select = ActiveRecord::Base.connection.select_rows(@step["sql"])

  def readable(trace)
    return if trace.blank? || File.file?(trace) && File.binread(trace, 8) == "ASSAYCOL"

    Protocol.invalid("#{trace} is no column file")
  end
end
