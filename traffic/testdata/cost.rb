# frozen_string_literal: true

# What recording costs: CPU time of a statement with and without the subscriber, on a
# database in memory, with arguments that hardly come again.
#
#     ruby traffic/testdata/cost.rb

require "active_record"
require "tmpdir"
require_relative "../traffic"

COUNT = 20_000
ROWS = 200_000

ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
CONNECTION = ActiveRecord::Base.connection
CONNECTION.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, stock INTEGER)")
CONNECTION.execute("WITH RECURSIVE k (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < #{ROWS - 1}) INSERT INTO item SELECT i, 'item ' || i, i FROM k")

def bound(*values)
  values.map { |value| ActiveRecord::Relation::QueryAttribute.new("value", value, ActiveModel::Type::Value.new) }
end

def cost
  draw = Random.new(1)
  began = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
  COUNT.times { yield draw.rand(ROWS) }
  (Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - began) / COUNT * 1e6
end

def measured
  (1..3).map do
    [cost { |i| CONNECTION.exec_query("SELECT name, stock FROM item WHERE id = ?", "SQL", bound(i)) },
     cost { |i| CONNECTION.exec_update("UPDATE item SET stock = ? WHERE id = ?", "SQL", bound(i, i)) }]
  end.transpose.map(&:min)
end

plain = measured
Dir.mktmpdir do |folder|
  recorder = Traffic::Recorder.new(File.join(folder, "log"), 256 << 20)
  recorder.subscribe
  recorded = measured
  %w[query update].each_with_index do |name, i|
    puts format("%s: %.1f us without, %.1f us more with the writer", name, plain[i], recorded[i] - plain[i])
  end
end
