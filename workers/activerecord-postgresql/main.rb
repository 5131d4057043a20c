# frozen_string_literal: true

# The worker of ActiveRecord on PostgreSQL. See docs/protocol.md for what it
# answers.
begin
  require "active_record"
  require "pg"
rescue LoadError => e
  warn "#{e.message}: apt-get install ruby ruby-activerecord ruby-sqlite3 ruby-pg"
  exit 69
end
require_relative "protocol"
require_relative "postgresql"
require_relative "worker"

Protocol.serve(Worker.new(PostgreSQLTarget.new))
