package build

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/kit/postgres/cluster"
	"assay/kit/process"
	"assay/kit/workertest"
)

// A worker that is a script gets the SQLite that its go.mod pins as a library
// beside it, with the options that are asked for.
func TestScript(t *testing.T) {
	s := cSource(t)
	put(t, s.Dir, map[string]string{
		"workers/script/go.mod":    "module assay/workers/script\n\ngo 1.26.0\n\nrequire example.test/tiny v1.0.0\n",
		"workers/script/worker*":   "#!/bin/sh\n",
		"workers/script/more.rb":   "puts 1\n",
		"workers/script/README.md": "# A script\n",
	})
	if _, err := fetch(t.Context(), filepath.Join(s.Dir, "workers", "script"), "example.test/tiny"); err != nil {
		t.Fatal(err)
	}
	d, err := s.driver("script")
	if err != nil || !d.Script || d.C || d.Prebuilt || d.Version != "v1.0.0" || d.About != "A script" {
		t.Fatalf("%+v, %v", d, err)
	}
	b, _ := builder(t, s)
	first := mustBuild(t, b, Spec{Name: "script"})
	again := mustBuild(t, b, Spec{Name: "script"})
	other := mustBuild(t, b, Spec{Name: "script", Options: []string{"THREADSAFE=9"}})
	if first.Cached || !again.Cached || again.Program != first.Program || other.Digest == first.Digest || first.Version != "" {
		t.Errorf("%+v\n%+v\n%+v", first, again, other)
	}
	for _, w := range []Worker{first, other} {
		for _, name := range []string{"worker", "more.rb", sharedLibrary} {
			if _, err := os.Stat(filepath.Join(filepath.Dir(w.Program), name)); err != nil {
				t.Error(err)
			}
		}
	}
	one, _ := os.ReadFile(filepath.Join(filepath.Dir(first.Program), sharedLibrary))
	two, _ := os.ReadFile(filepath.Join(filepath.Dir(other.Program), sharedLibrary))
	if len(one) == 0 || bytes.Equal(one, two) {
		t.Errorf("libraries of %d and %d bytes are alike", len(one), len(two))
	}
	put(t, s.Dir, map[string]string{"workers/script/more.rb": "puts 2\n"})
	changed := mustBuild(t, b, Spec{Name: "script"})
	three, _ := os.ReadFile(filepath.Join(filepath.Dir(changed.Program), sharedLibrary))
	libraries, err := filepath.Glob(filepath.Join(b.Cache, "libraries", "*", sharedLibrary))
	if changed.Cached || changed.Digest == first.Digest || !bytes.Equal(one, three) || err != nil || len(libraries) != 2 {
		t.Errorf("got %+v with libraries %q, %v, after a change of another file; want another build, and two libraries for two sets of options", changed, libraries, err)
	}
	checkNothingLeft(t, b)
}

// Files of a library that a worker has by symbolic links are the worker's own:
// another library is another build, and the archive holds them.
func TestLinkedFilesBelongToTheWorker(t *testing.T) {
	const linked, library = "workers/script/shared.py", "workers/lib/python/shared.py"
	s := fakeSource(t)
	put(t, s.Dir, map[string]string{library: "one = 1\n"})
	must(t, os.Symlink("../lib/python/shared.py", filepath.Join(s.Dir, filepath.FromSlash(linked))))
	b, _ := builder(t, s)
	before := mustBuild(t, b, Spec{Name: "script"})
	var archive bytes.Buffer
	err := Pack(&archive, s)
	must(t, err)
	unpacked, err := findSource("", filepath.Join(t.TempDir(), "assay"), archive.Bytes(), t.TempDir())
	must(t, err)
	content, err := os.ReadFile(filepath.Join(unpacked.Dir, filepath.FromSlash(linked)))
	if err != nil || string(content) != "one = 1\n" {
		t.Errorf("%s of the archive is %q, %v; want the library's file", linked, content, err)
	}
	fromArchive, _ := builder(t, unpacked)
	if got := mustBuild(t, fromArchive, Spec{Name: "script"}).Digest; got != before.Digest {
		t.Errorf("the digest is %s of the archive and %s of the source, want one", got, before.Digest)
	}
	put(t, s.Dir, map[string]string{library: "one = 2\n"})
	if after := mustBuild(t, b, Spec{Name: "script"}); after.Digest == before.Digest {
		t.Errorf("the digest is still %s after a change of the library", after.Digest)
	}
}

// ruby skips a test where Ruby or what the workers need is not installed.
func ruby(t *testing.T) {
	t.Helper()
	if err := exec.Command("ruby", "-e", "require 'active_record'; require 'sqlite3'; require 'pg'").Run(); err != nil {
		t.Skip("no Ruby with ActiveRecord: ", err)
	}
}

// ActiveRecord passes the conformance suite, on a SQLite of its own that has the
// options asked for.
func TestActiveRecord(t *testing.T) {
	ruby(t)
	b := checkout(t)
	floor := hello(t, built(t, b, "sqlite-c"))
	quickly(t)
	w := built(t, b, "activerecord:recommended")
	conforms(t, w)
	target := hello(t, w)
	if target.EngineVersion != floor.EngineVersion || target.Facts["source_id"] != floor.Facts["source_id"] || target.Facts["threadsafe"] != "false" {
		t.Errorf("ActiveRecord has SQLite %s, %v; pinned is %s", target.EngineVersion, target.Facts, floor.EngineVersion)
	}
	options := " " + strings.Join(target.CompileOptions, " ") + " "
	for _, want := range []string{"DQS=0", "THREADSAFE=0", "OMIT_SHARED_CACHE", "DEFAULT_WAL_SYNCHRONOUS=1", "ENABLE_FTS5", "ENABLE_COLUMN_METADATA"} {
		if !strings.Contains(options, " "+want+" ") {
			t.Errorf("%s is not in%s", want, options)
		}
	}
	misspelt := hello(t, built(t, b, "activerecord:DEFAULT_WHRONOUS=1"))
	if strings.Contains(strings.Join(misspelt.CompileOptions, " "), "WHRONOUS") || misspelt.Facts["threadsafe"] != "true" {
		t.Errorf("misspelt: %q, %v", misspelt.CompileOptions, misspelt.Facts)
	}
}

// So does ActiveRecord on PostgreSQL, by symbolic links to the same files.
func TestActiveRecordOnPostgreSQL(t *testing.T) {
	ruby(t)
	if _, err := cluster.Find(t.Context()); errors.Is(err, cluster.ErrMissing) {
		t.Skip(err)
	}
	w := built(t, checkout(t), "activerecord-postgresql")
	conforms(t, w)
}

// conforms runs the conformance suite on a worker.
func conforms(t *testing.T, w Worker) {
	t.Helper()
	for result := range workertest.Run(t.Context(), w.Program, workertest.Options{}) {
		if !result.OK {
			t.Errorf("%s: %s", result.Name, result.Detail)
		}
	}
}

// started is a worker. Where what it is written in is missing, the test is skipped.
func started(t *testing.T, program string) *process.Worker {
	t.Helper()
	w, err := process.Start(t.Context(), program, process.Options{})
	var ended *process.ExitError
	if errors.As(err, &ended) && ended.Code == process.NotInstalled {
		t.Skip(err)
	}
	must(t, err)
	t.Cleanup(w.Kill)
	return w
}

// builtOnLibrary builds a worker on a library, beside others. Where what it is written
// in is missing, or the registry of its packages, the test is skipped.
func builtOnLibrary(t *testing.T, b *Builder, name string) Worker {
	t.Helper()
	if name == "node-sqlite" {
		node24(t) // sets the environment, which others share
	} else {
		t.Parallel() // most of the time is the interpreter's start
	}
	w, err := b.Build(t.Context(), Spec{Name: name})
	var lacks *NotInstalledError
	if errors.As(err, &lacks) || errors.Is(err, ErrUnreachable) {
		t.Skip(err)
	}
	must(t, err)
	return w
}

// node24 has workers use the Node.js that scripts/tools installs: the system's may
// be too old for node:sqlite.
func node24(t *testing.T) {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	program := filepath.Join(cache, "assay", "tools", "node24", "node_modules", "node", "bin", "node")
	if isExecutable(program) {
		t.Setenv("ASSAY_NODE", program)
	}
}

// slowToCompile are workers on the libraries that are not compiled by tests.
var slowToCompile = []string{"sqlite3-node", "fjall", "heed", "sled"}

// onLibraries are the workers on the libraries, which they have by symbolic links.
func onLibraries(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join("..", "..", "workers"))
	must(t, err)
	var names []string
	for _, entry := range entries {
		links, err := filepath.Glob(filepath.Join("..", "..", "workers", entry.Name(), "*"))
		must(t, err)
		if slices.ContainsFunc(links, func(path string) bool {
			target, err := os.Readlink(path)
			return err == nil && strings.HasPrefix(target, "../lib/")
		}) {
			names = append(names, entry.Name())
		}
	}
	return names
}

// The workers on the libraries pass the conformance suite, with the packages that
// their lock files pin.
func TestLibraries(t *testing.T) {
	b := checkout(t)
	for _, name := range onLibraries(t) {
		if strings.HasPrefix(name, "activerecord") || slices.Contains(slowToCompile, name) {
			continue // ActiveRecord has tests of its own
		}
		t.Run(name, func(t *testing.T) {
			w := builtOnLibrary(t, b, name)
			started(t, w.Program).Kill()
			for result := range workertest.Run(t.Context(), w.Program, workertest.Options{}) {
				if known := faults[name][result.Name]; result.OK == known {
					t.Errorf("got %s, want it to pass: %t", result, !known)
				}
			}
			if again, err := b.Build(t.Context(), Spec{Name: name}); err != nil || !again.Cached || again.Digest != w.Digest {
				t.Errorf("after it was run it is built as %+v, %v, want %s from the cache", again, err, w.Digest)
			}
		})
	}
}

// A driver is described in sixty lines, in Rust with its types in twice as many, and what it installs is pinned by whole
// versions with hashes, without saying where they come from.
func TestLibraryWorkersAreSmallAndPinned(t *testing.T) {
	for _, name := range onLibraries(t) {
		folder := filepath.Join("..", "..", "workers", name)
		mains, _ := filepath.Glob(filepath.Join(folder, "main.*"))
		if len(mains) != 1 {
			t.Fatalf("%s has %q, want one main", name, mains)
		}
		text, err := os.ReadFile(mains[0])
		most := map[string]int{".rs": 120}[filepath.Ext(mains[0])]
		if name == "rocksdb" { // it calls C, without a crate
			most = 191
		}
		if lines := strings.Count(string(text), "\n"); err != nil || lines > max(60, most) {
			t.Errorf("%s has %d lines, %v, want %d at most", mains[0], lines, err, max(60, most))
		}
		if !isExecutable(filepath.Join(folder, installer)) {
			continue
		}
		for file, hash := range map[string]string{"requirements.txt": "--hash=sha256:", "package-lock.json": `"integrity": "sha512-`, "Cargo.lock": "checksum = "} {
			lock, err := os.ReadFile(filepath.Join(folder, file))
			if os.IsNotExist(err) {
				continue
			}
			if err != nil || !strings.Contains(string(lock), hash) || strings.Contains(string(lock), "resolved") || strings.Contains(string(lock), "index-url") {
				t.Errorf("%s of %s: %v; want hashes and no address", file, name, err)
			}
		}
	}
}

// faults are the checks that fail by a fault of the driver itself, by worker.
var faults = map[string]map[string]bool{
	// It makes dates of what is stored in columns declared as dates.
	"django": {"odd values have the right digest, stored and as arguments": true},
	// They read a text up to its first zero byte.
	"libsql":      {"odd values have the right digest, stored and as arguments": true},
	"node-sqlite": {"odd values have the right digest, stored and as arguments": true},
	// It opens a file in one process only, and none to read alone, refuses to compile what query_only
	// forbids, and expressions a hundred levels deep.
	"turso": {"query_only is effective, not only said": true, "a transaction takes the lock when it begins": true,
		"busy answers are counted, and tried again where that is asked for": true, "a statement is compiled for each execution where that is asked for": true,
		"a private database in memory is told from a file and from a shared one": true},
}

// Python's own module gets the SQLite that the worker's go.mod pins.
func TestPythonHasPinnedSQLite(t *testing.T) {
	b := checkout(t)
	target, floor := hello(t, built(t, b, "python")), hello(t, built(t, b, "sqlite-c"))
	if target.Facts["source_id"] != floor.Facts["source_id"] {
		t.Errorf("Python has SQLite %s, want the pinned %s", target.Facts["source_id"], floor.Facts["source_id"])
	}
}

// bare leaves only these programs in PATH.
func bare(t *testing.T, programs ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range programs {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(dir, name))
		}
		if err != nil {
			t.Skip(err)
		}
	}
	t.Setenv("PATH", dir)
	t.Setenv("ASSAY_PYTHON", "")
	t.Setenv("ASSAY_NODE", "")
}

// Where the runtime is missing the worker, and its build, say what to install.
func TestLibrariesWithoutRuntime(t *testing.T) {
	bare(t, "sh")
	t.Setenv("CARGO_HOME", t.TempDir())
	for name, install := range map[string]string{"python": "apt-get install python3", "apsw": "apt-get install python3", "node-sqlite": "install Node.js"} {
		program, err := filepath.Abs(filepath.Join("..", "..", "workers", name, "worker"))
		must(t, err)
		_, err = process.Start(t.Context(), program, process.Options{})
		if err == nil || !strings.Contains(err.Error(), "exit status 69") || !strings.Contains(err.Error(), install) {
			t.Errorf("%s: got %v, want exit status 69 and %q", name, err, install)
		}
	}
	for name, install := range map[string]string{"apsw": "Python 3.10 with pip is not installed", "better-sqlite3": "Node.js with npm is not installed", "redb": "Rust 1.90 with cargo and a C compiler is not installed"} {
		b, _ := builder(t, Source{filepath.Join("..", "..")})
		_, err := b.Build(t.Context(), Spec{Name: name})
		if err == nil || !strings.HasPrefix(err.Error(), "worker "+name+": "+install) {
			t.Errorf("building %s: got %v, want %q", name, err, install)
		}
	}
}

// The gems that the machine has are part of the build of a worker in Ruby: another
// version is another build, and the worker loads those that it reports.
func TestGemsArePartOfTheBuild(t *testing.T) {
	ruby(t)
	for name, gem := range map[string]string{"activerecord": "sqlite3", "activerecord-postgresql": "pg"} {
		dir := filepath.Join("..", "..", "workers", name)
		tools, err := installerSays(t.Context(), dir, "tools")
		if err != nil || !strings.HasPrefix(tools, "Ruby ") {
			t.Fatalf("%s is built with %q, %v, want the version of Ruby first", name, tools, err)
		}
		program, err := filepath.Abs(filepath.Join(dir, "worker"))
		must(t, err)
		target := started(t, program).Hello().Target
		gems := target.Facts["gems"]
		for _, want := range []string{"activerecord " + target.DriverVersion, "activesupport " + target.DriverVersion, gem + " "} {
			if !strings.Contains(tools, want) || !strings.Contains(gems, want) {
				t.Errorf("%s is built with %s, and reports %s, want %q in both", name, tools, gems, want)
			}
		}
		if !strings.HasSuffix(tools, gems) {
			t.Errorf("%s is built with %s, and reports %s, want the same versions", name, tools, gems)
		}
	}
}

// A machine without a gem cannot build the worker, which says what to install.
func TestGemThatIsMissing(t *testing.T) {
	ruby(t)
	s := fakeSource(t)
	text := func(name string) string {
		content, err := os.ReadFile(filepath.Join("..", "..", "workers", "lib", "ruby", name))
		must(t, err)
		return string(content)
	}
	put(t, s.Dir, map[string]string{"workers/gems/worker*": "#!/bin/sh\n", "workers/gems/gems.rb": text("gems.rb"), "workers/gems/build*": text("build"),
		"workers/gems/gems.txt": "no-such-gem\n"})
	b, _ := builder(t, s)
	_, err := b.Build(t.Context(), Spec{Name: "gems"})
	var lacks *NotInstalledError
	if !errors.As(err, &lacks) || !strings.Contains(err.Error(), "no-such-gem") || !strings.Contains(err.Error(), "apt-get install ruby") {
		t.Errorf("got %v, want the gem that is missing and what to install", err)
	}
}

// Without Ruby the worker says what to install.
func TestActiveRecordWithoutRuby(t *testing.T) {
	bare(t, "dirname", "sh")
	for _, name := range []string{"activerecord", "activerecord-postgresql"} {
		program, err := filepath.Abs(filepath.Join("..", "..", "workers", name, "worker"))
		must(t, err)
		_, err = process.Start(t.Context(), program, process.Options{})
		if err == nil || !strings.Contains(err.Error(), "exit status 69") || !strings.Contains(err.Error(), "apt-get install ruby") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
