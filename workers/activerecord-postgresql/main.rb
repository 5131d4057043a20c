# frozen_string_literal: true

# The worker of ActiveRecord on PostgreSQL. See docs/protocol.md for what it
# answers.
require_relative "worker"
Protocol.needs("active_record", "pg", install: "apt-get install ruby ruby-activerecord ruby-sqlite3 ruby-pg")
require_relative "operations"
require_relative "pool"
require_relative "postgresql"

Protocol.serve(Worker.new(PostgreSQLDriver.new))
