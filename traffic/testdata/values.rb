# frozen_string_literal: true

# Binds values of all kinds, whose last one is too long to be recorded.

require "active_record"
require_relative "../traffic"

log, database = ARGV
recorder = Traffic::Recorder.new(log, 64 << 20).subscribe
ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: database)
ActiveRecord::Base.connection # loads the driver
recorder.snapshot(database)

[nil, 0, -1, 2**53 + 1, 2**63 - 1, -2**63, 0.1, -0.0, 1.0, 1e22, 5e-324, Float::MAX, Float::INFINITY, -Float::INFINITY, Float::NAN,
 "", "é😀\u2028", "a\0b", "\"\\\n\t\x7f'", "1", "a\xffb", "ascii".encode("US-ASCII"), "\xe9".dup.force_encoding("ISO-8859-1"),
 "x" * ((1 << 20) + 1)].each do |value|
  bound = ActiveRecord::Relation::QueryAttribute.new("x", value, ActiveModel::Type::Value.new)
  ActiveRecord::Base.connection.exec_update("INSERT INTO v VALUES (?)", "SQL", [bound])
end
bytes = ActiveRecord::Relation::QueryAttribute.new("x", (0..255).to_a.pack("C*"), ActiveModel::Type::Binary.new)
ActiveRecord::Base.connection.exec_update("INSERT INTO v VALUES (?)", "SQL", [bytes])
recorder.close
