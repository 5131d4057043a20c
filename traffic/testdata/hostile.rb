# frozen_string_literal: true

# Threads, a fork, values that cannot be bound, and statements behind the end.

require "active_record"
require_relative "../traffic"

log, database = ARGV
recorder = Traffic::Recorder.new(log, 64 << 20).subscribe
ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: database, timeout: 60_000)

def query(sql, *values)
  binds = values.map { |value| ActiveRecord::Relation::QueryAttribute.new("value", value, ActiveModel::Type::Value.new) }
  ActiveRecord::Base.connection_pool.with_connection { |connection| connection.exec_query(sql, "SQL", binds) }
end

# Each has a connection of its own before one of them reads, or the first may be at its end
# when the second begins.
ready = Queue.new
4.times.map do
  Thread.new do
    ActiveRecord::Base.connection_pool.with_connection do
      ready << true
      Thread.pass until ready.size == 4
      50.times { |i| query("SELECT id FROM item WHERE id = ?", i) }
    end
  end
end.each(&:join)

child = fork { query("SELECT stock FROM item") }
Process.wait(child)

begin
  query("SELECT name FROM item WHERE id = ?", Object.new)
  raise SystemExit, "an object was bound"
rescue TypeError, ActiveRecord::StatementInvalid
  nil
end
recorder.close
recorder.close
query("DELETE FROM item")
