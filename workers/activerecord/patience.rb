# frozen_string_literal: true

require "active_record/connection_adapters/sqlite3_adapter"

# Runs for each connection to SQLite that the pool opens, so that all have the
# settings.
module Patience
  # A lock's holder is another thread of this process: SQLite's own busy timeout
  # would sleep without letting it run.
  SECONDS = 10

  class << self
    attr_accessor :each
  end
  self.each = []

  def configure_connection
    super
    began = nil
    @connection.busy_handler do |tries|
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC) if tries.zero?
      sleep 0.001
      Process.clock_gettime(Process::CLOCK_MONOTONIC) - began < SECONDS
    end
    Patience.each.each { |sql| execute(sql) }
  end
end
ActiveRecord::ConnectionAdapters::SQLite3Adapter.prepend(Patience)
