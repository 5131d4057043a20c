# frozen_string_literal: true

require "digest"

# The digest of an answer: rows of values by declared type.
class AnswerDigest
  attr_reader :rows

  def initialize(types)
    @types = types
    @sha = Digest::SHA256.new
    @rows = 0
  end

  def add(row)
    raise "#{row.size} columns, declared are #{@types.size}" unless row.size == @types.size

    @rows += 1
    @sha << [row.size].pack("L<") << row.each_with_index.map { |value, i| encode(value, @types[i]) }.join
  end

  def hex = @sha.hexdigest

  private

  def encode(value, type)
    if value.nil?
      raise "NULL, declared is #{type}" unless type.end_with?("?")

      return "\0".b
    end
    case type.chomp("?")
    when "int" then [1, whole(value)].pack("Cq<")
    when "real" then real(value)
    when "text" then bytes(3, value)
    when "blob" then bytes(4, value)
    when "bool" then [5, truth(value) ? 1 : 0].pack("CC")
    else raise "unknown type #{type}"
    end
  end

  def whole(value)
    value = { true => 1, false => 0 }.fetch(value, value)
    value.is_a?(Integer) ? value : raise("#{value.inspect} is no int")
  end

  def truth(value) = whole(value) != 0

  def real(value)
    raise "#{value.inspect} is no real" unless value.is_a?(Numeric)
    return [2, 0x7ff8000000000000].pack("CQ<") if value.to_f.nan?

    [2, value.zero? ? 0.0 : value.to_f].pack("CE")
  end

  def bytes(tag, value)
    raise "#{value.inspect} is no text or blob" unless value.is_a?(String)

    [tag, value.bytesize].pack("CL<") << value.b
  end
end
