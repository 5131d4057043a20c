require "json"
require File.expand_path("../traffic", __dir__)
puts JSON.generate(JSON.parse($stdin.read).map { |query| Traffic.clean(query) }.map { |text| [text, Traffic.control(text).to_s] })
