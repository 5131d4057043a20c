# frozen_string_literal: true

require_relative "gems"
require "json"

# Lines of JSON on standard input and output: one reply to each request.
module Protocol
  # An error reply.
  class Refusal < StandardError
    attr_reader :code

    def initialize(code, message)
      @code = code
      super(message)
    end

    def body = { code: code, definite: code != "failed", message: message }
  end

  def self.unsupported(message) = raise(Refusal.new("unsupported", message))

  # needs loads libraries. Where one is missing, it ends the worker as one that is not
  # installed.
  def self.needs(*libraries, install:)
    raise LoadError, "this is Ruby #{RUBY_VERSION}, and the worker needs 3.1" if RUBY_VERSION < "3.1"

    Gems.activate
    libraries.each { |library| require library }
  rescue LoadError => e
    warn "#{e.message}: #{install}"
    exit 69
  end

  REQUESTS = %w[open settings query prepare measure verify stats close].freeze

  # serve answers requests until the input ends or close is asked.
  def self.serve(worker)
    say(type: "hello", protocol: 1, **worker.hello)
    while (line = $stdin.gets)
      request = JSON.parse(line)
      raise "no request: #{line}" unless request["id"].positive?

      say(reply(worker, request))
      break if request["type"] == "close"
    end
    worker.end
  end

  def self.say(message)
    $stdout.write(JSON.generate(message) << "\n")
    $stdout.flush
  end

  def self.reply(worker, request)
    type, id = request.values_at("type", "id")
    unsupported("this worker does not know the request #{type.inspect}") unless REQUESTS.include?(type)
    { type: "ok", id: id, body: worker.public_send(type, request) }
  rescue Refusal => e
    { type: "error", id: id, **e.body }
  rescue StandardError => e
    { type: "error", id: id, code: "failed", definite: false, message: "#{e.class}: #{e.message}" }
  end
end
