# Runs SQL on two connections of ActiveRecord's pool, as read.py does.
require "active_record"
require "yaml"

config = YAML.load_file("database.yml")["default"]
load "./sqlite_profile.rb" if File.exist?("sqlite_profile.rb")
ActiveRecord::Base.establish_connection(config)
connections = Array.new(2) { ActiveRecord::Base.connection_pool.checkout }
$stdin.each_line(chomp: true) do |line|
  number, sql = line.split(" ", 2)
  row = connections[number.to_i].raw_connection.execute(sql).first
  puts row.is_a?(Hash) ? row.values.first : Array(row).first
rescue SQLite3::Exception => error
  puts "error: #{error.message}"
end
