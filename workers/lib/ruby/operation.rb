# frozen_string_literal: true

# A prepared operation of steps.
class Operation
  attr_reader :clients, :rows, :retry_busy, :query_plan, :unit, :length

  def statements = @steps.size

  def initialize(worker, spec, clients)
    @worker, @driver, @steps = worker, worker.driver, spec["steps"]
    @changes, @size, @retry_busy = spec["changes"], spec["transaction"].to_i, spec["retry_busy"]
    @unit, @policy = [1, @size].max, spec["statement"] || "once"
    @connections = @changes ? worker.writers : worker.readers
    Protocol.unsupported("#{@driver.api} has no form to run several statements in one call") if @steps.any? { |step| step["script"] }
    open_trace(spec["trace"])
    counts = @steps.map { |step| step["rows"].to_i }
    @rows = counts.min.negative? ? -1 : counts.sum * @unit
    @query_plan = @steps.each_with_index.map { |step, i| @driver.query_plan(worker.any, step["sql"], @arguments[i].(0)) }.join("\n")
    @units = @connections.to_h { |connection| [connection, unit_on(*compiled(connection))] }.compare_by_identity
    @clients = Array.new(clients) { |i| client(i, clients) }
  end

  def measure(request) = Lap.new(self, request).run.merge(loop_ns: (@null ||= Null.new(self)).nanos(request))

  def busy?(error) = @driver.busy?(error)

  # null runs one unit by statements that do nothing, and answer as expected.
  def null
    counts = @steps.map { |step| [0, step["rows"].to_i].max }
    answers = @steps.zip(counts).map { |step, count| step["query"] ? Array.new(count) : count }
    unit_on(answers.map { |answer| ->(_args) { answer } }, Array.new(3) { ->(_args) { 0 } })
  end

  # client is the function that runs one unit: on a connection of the client's own,
  # or on one that is free.
  def client(number, clients)
    return @units[@connections[number]] if @changes ? clients == 1 && @connections.one? : clients <= @connections.size

    free, units = @worker.free(@changes), @units
    lambda do |position|
      connection = free.pop
      units[connection].(position)
    ensure
      free << connection if connection
    end
  end

  def verify(start, count, rows)
    queries = @steps.each_index.select { |i| @steps[i]["query"] }
    runs, = compiled(@connections.first)
    (start...start + count).each do |position|
      queries.each { |i| rows.unit(position, runs[i].(@arguments[i].(position % @length)).map { |row| [i, row] }) }
    end
  end

  private

  def open_trace(path)
    trace = Columns.new(path) unless path.to_s.empty?
    @length = trace ? trace.rows / @unit : 1
    first = 0
    @arguments = @steps.map do |step|
      getters = trace ? trace.columns[first, step["args"].to_i] : []
      first += getters.size
      ->(row) { getters.map { |get| get.(row) } }
    end
  end

  # compiled has the steps on a connection, and BEGIN, COMMIT and ROLLBACK.
  def compiled(connection)
    control = @size.positive? ? [@driver.begins, "COMMIT", "ROLLBACK"] : []
    [@steps.map { |step| @driver.statement(connection, step["sql"], @policy, step["query"]) },
     control.map { |sql| @driver.statement(connection, sql, @policy, false) }]
  end

  def unit_on(runs, control)
    steps = runs.each_with_index.map { |run, i| [run, @arguments[i], @steps[i]["query"]] }
    @size.positive? ? ->(unit) { transaction(steps, control, unit) } : ->(position) { all(steps, position) }
  end

  def all(steps, position)
    total = 0
    steps.each do |run, arguments, query|
      result = run.(arguments.(position))
      total += query ? result.size : result
    end
    total
  end

  def transaction(steps, (start, commit, rollback), unit)
    start.([])
    begin
      total = (0...@size).sum { |i| all(steps, unit * @size + i) }
      commit.([])
      total
    rescue StandardError
      begin
        rollback.([])
      rescue StandardError
        nil # SQLite has rolled back itself, say on a full disk: the first error tells
      end
      raise
    end
  end
end

# An operation that runs others, as its trace says. They check their own rows.
class Mix
  attr_reader :clients, :retry_busy, :query_plan, :length

  def statements = 1

  def initialize(worker, spec, clients)
    @parts = spec["parts"].map { |part| Operation.new(worker, part, clients) }
    @retry_busy = spec["retry_busy"]
    @query_plan = spec["parts"].zip(@parts).map { |part, made| "#{part['name']}: #{made.query_plan}\n" }.join
    trace = Columns.new(spec["trace"])
    @length = trace.rows
    @choices = Array.new(@length) { |row| trace.columns.map { |get| get.(row) } }
    @clients = Array.new(clients) { |i| unit_of(@parts.map { |part| part.clients[i] }) }
  end

  def unit = 1
  def rows = -1
  def busy?(error) = @parts.first.busy?(error)
  def null = unit_of(@parts.map(&:null))
  def measure(request) = Lap.new(self, request).run.merge(loop_ns: (@null ||= Null.new(self)).nanos(request))

  private

  def unit_of(units)
    wanted = @parts.map(&:rows)
    lambda do |row|
      part, position = @choices[row]
      rows = units[part].(position)
      want = wanted[part]
      raise Missed, "part #{part + 1}: #{rows} rows, expected are #{want}" unless rows == want || want.negative?

      rows
    end
  end
end
