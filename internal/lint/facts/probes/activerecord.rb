# frozen_string_literal: true

# Opens databases with ActiveRecord, each with one more key in its configuration,
# and says what its connections then have. Arguments: the version of ActiveRecord
# and that of the gem sqlite3, or nothing for the newest one. Requests come as one
# JSON document on standard input; answers are JSON lines on standard output.

version, sqlite3 = ARGV
begin
  gem "activerecord", "= #{version}"
  sqlite3 ? gem("sqlite3", "= #{sqlite3}") : gem("sqlite3")
rescue Gem::LoadError => e
  warn "#{e.message.lines.first.strip}: gem install activerecord:#{version}#{sqlite3 ? " sqlite3:#{sqlite3}" : ' sqlite3'}"
  exit 69
end

# Some versions of ActiveSupport need these and do not ask for them.
require "logger"
require "set"

require "active_record"
require "json"
require "sqlite3"
require "tmpdir"

# A trial is one configuration, in a process and a folder of its own.
class Trial
  HELD = 0.3 # seconds for which another program has the database locked

  def initialize(request)
    @request = request
    @config = { "adapter" => "sqlite3", "database" => File.join(Dir.pwd, "data.db"), "pool" => 2 }
    request["settings"].each do |s|
      (s["place"].empty? ? @config : (@config[s["place"]] ||= {}))[s["key"]] = s["value"]
    end
  end

  def answer
    raw = SQLite3::Database.new("data.db")
    raw.execute("CREATE TABLE t (n)")
    raw.close
    ActiveRecord::Base.establish_connection(@config)
    connections = Array.new(2) { ActiveRecord::Base.connection_pool.checkout }
    connections.each { |c| c.select_value("SELECT 1") }
    { connections: connections.map { |c| @request["observe"].to_h { |name| [name, observe(c, name).to_s] } } }
  rescue ArgumentError, TypeError, NoMethodError, ActiveRecord::ActiveRecordError, SQLite3::Exception => e
    { refused: "#{e.class}: #{e.message}" }
  end

  private

  def observe(connection, name)
    case name
    when "begin" then start(connection)
    when "read_only" then read_only(connection)
    when "waits" then waits(connection)
    else connection.select_value("PRAGMA #{name}")
    end
  end

  # How a transaction begins.
  def start(connection)
    seen = []
    raw = connection.raw_connection
    raw.trace { |sql| seen << sql }
    connection.transaction { connection.select_value("SELECT 1") }
    raw.trace(nil)
    seen.filter_map { |sql| sql[/\A\s*begin\s*(deferred|immediate|exclusive)?/i] && ($1 || "deferred").downcase }.first || "none"
  end

  def read_only(connection)
    connection.execute("INSERT INTO t VALUES (1)")
    0
  rescue ActiveRecord::ActiveRecordError => e
    e.message.match?(/readonly|read-only/i) ? 1 : raise
  end

  # Whether a write waits until another program unlocks the database.
  def waits(connection)
    ready, say = IO.pipe
    holder = fork do
      db = SQLite3::Database.new("data.db")
      db.execute("BEGIN IMMEDIATE")
      say.write("!")
      sleep HELD
      db.execute("COMMIT")
      exit!(0)
    end
    ready.read(1)
    begin
      connection.execute("INSERT INTO t VALUES (1)")
      1
    rescue ActiveRecord::ActiveRecordError => e
      e.message.match?(/locked|busy/i) ? 0 : raise
    end
  ensure
    Process.kill("KILL", holder)
    Process.wait(holder)
  end
end

# in_a_process runs a block in a process of its own, and returns what it returns.
def in_a_process
  reader, writer = IO.pipe
  child = fork do
    reader.close
    Dir.mktmpdir("trial-", Dir.pwd) { |dir| Dir.chdir(dir) { writer.write(JSON.generate(yield)) } }
    writer.close
    $stderr.flush
    exit!(0)
  end
  writer.close
  text = reader.read
  Process.wait(child)
  text
end

# What is loaded here need not be loaded in each process.
ActiveRecord::Base.establish_connection("adapter" => "sqlite3", "database" => ":memory:")
ActiveRecord::Base.connection.transaction { ActiveRecord::Base.connection.select_value("SELECT 1") }
ActiveRecord::Base.remove_connection

request = JSON.parse($stdin.read)
db = SQLite3::Database.new(":memory:")
engine = db.execute("SELECT sqlite_version()").first.first
db.close # else each trial warns that it has it, too
puts JSON.generate({ version: ActiveRecord.version.to_s, beside: { "sqlite3" => SQLite3::VERSION, "ruby" => RUBY_VERSION }, engine: engine })
request["trials"].each do |trial|
  text = in_a_process { Trial.new(trial).answer }
  abort "a trial ended without an answer: #{trial}" if text.empty?
  puts text
end
