# frozen_string_literal: true

# ActiveRecord's pool of connections, as the worker's.
module Pool
  # pooled opens so many connections and leaves them in the pool, where calls take
  # them from.
  def pooled(configuration, count)
    ActiveRecord::Base.establish_connection(configuration.merge(pool: count, checkout_timeout: 60, idle_timeout: 0, reaping_frequency: nil))
    pool = ActiveRecord::Base.connection_pool
    held = Array.new(count) { pool.checkout.tap(&:active?) }
    held.each { |connection| pool.checkin(connection) }
  end

  def disconnect = ActiveRecord::Base.remove_connection
end
