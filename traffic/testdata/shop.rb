# frozen_string_literal: true

# A shop that does the orders of a file and records its traffic.

require "active_record"
require_relative "../traffic"

database, log, orders, size = ARGV
Traffic::Recorder.new(log, Integer(size)).subscribe
ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: database)

CONNECTION = ActiveRecord::Base.connection

def bound(*values)
  values.map { |value| ActiveRecord::Relation::QueryAttribute.new("value", value, ActiveModel::Type::Value.new) }
end

def query(sql, *values) = CONNECTION.exec_query(sql, "SQL", bound(*values))
def change(sql, *values) = CONNECTION.exec_update(sql, "SQL", bound(*values))

def sell(item, nested)
  ActiveRecord::Base.transaction do
    change("UPDATE item SET stock = stock - 1 WHERE id = ?", item)
    insert = -> { change("INSERT INTO sale (item_id, at) VALUES (?, 77)", item) }
    nested ? ActiveRecord::Base.transaction(requires_new: true, &insert) : insert.call
  end
end

def undo(item)
  ActiveRecord::Base.transaction do
    change("UPDATE item SET stock = stock - 1 WHERE id = ?", item)
    raise ActiveRecord::Rollback
  end
end

def add(item)
  change("INSERT INTO item (id, name, stock) VALUES (?, ?, ?)", item, "Secret Person", 5)
  raise "item #{item} was added twice"
rescue ActiveRecord::RecordNotUnique
  nil
end

File.foreach(orders) do |line|
  order, item = line.split
  item = item.to_i
  case order
  when "read" then query("SELECT name FROM item WHERE id = ?", item)
  when "find" then query("SELECT id, stock FROM item WHERE stock > ? AND name <> 'Hidden Name' ORDER BY id LIMIT 5", item)
  when "sell" then sell(item, false)
  when "nest" then sell(item, true)
  when "undo" then undo(item)
  when "add" then add(item)
  end
end
