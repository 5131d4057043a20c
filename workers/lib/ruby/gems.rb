# frozen_string_literal: true

# The gems that gems.txt names, with those that they need in turn, at the versions
# that this machine has.
module Gems
  module_function

  # named are those of the file beside the program.
  def named = File.read(File.join(File.dirname($PROGRAM_NAME), "gems.txt")).split

  # activate has `require` take the gems whose versions are told, and no other files.
  def activate = named.each { |name| gem(name) }

  # versions are texts such as "activerecord 6.1.7", sorted.
  def versions
    activate
    known = {}
    named.each { |name| add(Gem::Dependency.new(name), known) }
    known.sort.map { |name, version| "#{name} #{version}" }
  end

  # add takes what was activated, or else what `require` would activate.
  def add(needed, known)
    return if known.key?(needed.name)

    found = Gem.loaded_specs[needed.name] || Gem::Specification.find_by_name(needed.name, needed.requirement)
    known[needed.name] = found.version.to_s
    found.runtime_dependencies.each { |further| add(further, known) }
  end
end

# What the files of libraries were compiled to when assay built the worker, which is started
# again and again. What has changed since is compiled as ever. The file is hidden, so that
# it is no part of the build's digest: Ruby compiles the same to other bytes each time.
module Compiled
  FILE = File.join(File.dirname($PROGRAM_NAME), ".compiled")

  # load_iseq is what `require` asks.
  def load_iseq(path)
    @known ||= File.exist?(FILE) ? Marshal.load(File.binread(FILE)) : {}
    state, code = @known.delete(path)
    load_from_binary(code) if state == Compiled.state(path)
  end

  def self.state(path) = File.stat(path).then { |found| [RUBY_DESCRIPTION, found.size, found.mtime.to_r] }

  # save compiles what this process has loaded.
  def self.save
    loaded = $LOADED_FEATURES.select { |path| path.end_with?(".rb") && File.file?(path) }
    kept = loaded.to_h { |path| [path, [state(path), RubyVM::InstructionSequence.compile_file(path).to_binary]] }
    File.binwrite(FILE, Marshal.dump(kept))
  end
end
RubyVM::InstructionSequence.singleton_class.prepend(Compiled)

if __FILE__ == $PROGRAM_NAME
  begin
    puts ["Ruby #{RUBY_VERSION} #{RUBY_PLATFORM} #{Gem.ruby}", *Gems.versions].join(", ")
  rescue LoadError => e
    warn "#{e.message}: apt-get install ruby ruby-activerecord ruby-sqlite3 ruby-pg"
    exit 69
  end
end
