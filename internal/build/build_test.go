package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSpec(t *testing.T) {
	for text, want := range map[string]Spec{
		"mattn":                       {Name: "mattn"},
		"mattn@v1.14.37":              {Name: "mattn", Version: "v1.14.37"},
		"ruby-3_2@v2.0.0-rc.1":        {Name: "ruby-3_2", Version: "v2.0.0-rc.1"},
		"x@v3.0.0+incompatible":       {Name: "x", Version: "v3.0.0+incompatible"},
		"apsw@3.46.0":                 {Name: "apsw", Version: "3.46.0"},
		"django@5.2rc1":               {Name: "django", Version: "5.2rc1"},
		"x@11.5.0-beta.1":             {Name: "x", Version: "11.5.0-beta.1"},
		"x@v0.0.0-20200102030405-abc": {Name: "x", Version: "v0.0.0-20200102030405-abc"},
		"sqlite-c@mattn":              {Name: "sqlite-c", Version: "mattn"},
		"x:recommended":               {Name: "x", Options: []string{"recommended"}},
		"x:DQS=0:USE_ALLOCA":          {Name: "x", Options: []string{"DQS=0", "USE_ALLOCA"}},
		"x@v1.2.3:MAX_MMAP_SIZE=-1":   {Name: "x", Version: "v1.2.3", Options: []string{"MAX_MMAP_SIZE=-1"}},
	} {
		got, err := ParseSpec(text)
		if err != nil || !reflect.DeepEqual(got, want) || got.String() != text {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"x:USE_ALLOCA:SQLITE_DQS=0": "x:DQS=0:USE_ALLOCA"} {
		if got, err := ParseSpec(text); err != nil || got.String() != want {
			t.Errorf("%q: got %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "@", "@v1.0.0", "x@", "-x", "--flag", "_x", ".", "..", "../x", "a/b", `a\b`, "a b", "a.b", "ä",
		"x@latest", "x@v1", "x@v1.2", "x@1", "x@1.2.", "x@1.2.3/..", "x@1.2.3 -a", "x@1.2.3\n", "x@v1.2.3/..", "x@v1.2.3 -a", "x@v1.2.3\n", "x@-v1.2.3", "x@v1.2.3@v1.2.3", strings.Repeat("x", 65),
		"x:", "x:dqs=0", "x:DQS=", "x:DQS=0 -o", "x:DQS=0:DQS=1", "x:recommended:DQS=1", "x:recommended:recommended", "x:recommended=1", "x:-O3", "x:A='b'", "x:DQS=0@v1.0.0", ":DQS=0"} {
		if got, err := ParseSpec(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	for _, seed := range []string{"mattn", "mattn@v1.14.37", "x@v1.2.3-rc.1+meta", "../x", "-x@v1.0.0", "x:DQS=0:SQLITE_USE_ALLOCA"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := ParseSpec(text)
		if err != nil {
			return
		}
		if again, err := ParseSpec(spec.String()); err != nil || !reflect.DeepEqual(spec, again) {
			t.Errorf("%q comes back as %q: %+v, %v", text, spec, again, err)
		}
		if strings.ContainsAny(text, "/\\ \n\t\x00'\"$`") || text[0] == '-' || strings.HasPrefix(spec.Version, "-") || !filepath.IsLocal(text) {
			t.Errorf("%q was accepted", text)
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// builder returns a builder over a source, and what it reports.
func builder(t *testing.T, s Source) (*Builder, *[]string) {
	t.Helper()
	var states []string
	var mutex sync.Mutex
	return &Builder{Source: s, Cache: t.TempDir(), Log: func(e Event) {
		mutex.Lock()
		defer mutex.Unlock()
		states = append(states, e.Worker+" "+string(e.State))
	}}, &states
}

func mustBuild(t *testing.T, b *Builder, spec Spec) Worker {
	t.Helper()
	w, err := b.Build(t.Context(), spec)
	must(t, err)
	return w
}

// output runs a worker and returns what it prints.
func output(t *testing.T, w Worker) string {
	t.Helper()
	out, err := exec.Command(w.Program).CombinedOutput()
	must(t, err)
	return string(out)
}

// fakeGo puts a go command first in PATH: the script runs with REAL as the
// path of the true one.
func fakeGo(t *testing.T, script string) {
	t.Helper()
	real, err := exec.LookPath("go")
	must(t, err)
	dir := t.TempDir()
	put(t, dir, map[string]string{"go*": "#!/bin/sh\nREAL='" + real + "'\n" + script})
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestBuildAndCache(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record")
	fakeGo(t, `echo "$1" >>'`+record+`'; exec "$REAL" "$@"`)
	b, states := builder(t, fakeSource(t))

	first := mustBuild(t, b, Spec{Name: "plain"})
	want := Worker{Name: "plain", Program: first.Program, Digest: first.Digest, Modules: []string{"assay/kit@v0.0.0"},
		Toolchain: runtime.Version(), Took: first.Took}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := output(t, first); got != "one\n" {
		t.Errorf("the program printed %q", got)
	}

	second := mustBuild(t, b, Spec{Name: "plain"})
	want.Cached, want.Took = true, second.Took
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if want := []string{"plain building", "plain built", "plain cached"}; !reflect.DeepEqual(*states, want) {
		t.Errorf("events %q, want %q", *states, want)
	}
	if commands, _ := os.ReadFile(record); string(commands) != "env\nlist\nbuild\n" {
		t.Errorf("go commands were %q", commands)
	}
	checkNothingLeft(t, b)
}

// A program that somebody has changed in the cache is not run, but built again.
func TestChangedProgramIsBuiltAgain(t *testing.T) {
	b, _ := builder(t, fakeSource(t))
	first := mustBuild(t, b, Spec{Name: "plain"})
	for name, change := range map[string]func() error{
		"program": func() error { return os.WriteFile(first.Program, []byte("#!/bin/sh\necho owned\n"), 0o755) },
		"digest":  func() error { return os.Remove(first.Program + besideSum) },
	} {
		must(t, change())
		again := mustBuild(t, b, Spec{Name: "plain"})
		if got := output(t, again); again.Cached || got != "one\n" {
			t.Errorf("%s changed: cached %v, and the program printed %q; want it built again, and one", name, again.Cached, got)
		}
	}
}

// checkNothingLeft reports whether temporary folders remain in the cache.
func checkNothingLeft(t *testing.T, b *Builder) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(b.Cache, "build-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("the cache still has %q, %v", left, err)
	}
}

func TestChangesRebuild(t *testing.T) {
	s := fakeSource(t)
	b, _ := builder(t, s)
	seen := map[string]bool{}
	for _, change := range []func(){
		func() {},
		func() { put(t, s.Dir, map[string]string{"kit/kit.go": "package kit\n\nconst Name = \"two\"\n"}) },
		func() { put(t, s.Dir, map[string]string{"workers/plain/go.sum": "\n"}) },
		func() { t.Setenv("CGO_CFLAGS", "-O1") },
		func() { t.Setenv("GOFLAGS", "-tags=other") },
	} {
		change()
		w := mustBuild(t, b, Spec{Name: "plain"})
		if w.Cached || seen[w.Digest] {
			t.Errorf("after change %d the worker came from the cache", len(seen))
		}
		seen[w.Digest] = true
	}
	put(t, s.Dir, map[string]string{"kit/kit_test.go": "package kit\n", "kit/workertest/suite.go": "package workertest\n"}) // no worker is made of them
	for _, flags := range []string{"-mod=mod -tags=other", "-tags=other -modfile=/nowhere", "-buildvcs=false -tags=other -trimpath"} {
		t.Setenv("GOFLAGS", flags)
		if w := mustBuild(t, b, Spec{Name: "plain"}); !w.Cached || output(t, w) != "two\n" {
			t.Errorf("GOFLAGS=%s: got %+v, want it from the cache", flags, w)
		}
	}
}

func TestBuildersShareACache(t *testing.T) {
	b, _ := builder(t, fakeSource(t))
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if _, err := b.Build(t.Context(), Spec{Name: "plain"}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	checkNothingLeft(t, b)
}

func TestCompileError(t *testing.T) {
	s := fakeSource(t)
	put(t, s.Dir, map[string]string{"workers/plain/main.go": "package main\n\nfunc main() { missing() }\n"})
	b, _ := builder(t, s)
	_, err := b.Build(t.Context(), Spec{Name: "plain"})
	checkError(t, err, "worker plain: compile workers/plain and no driver with "+runtime.Version()+": it does not compile: go build ",
		"exit status 1\n\t# assay/workers/plain\n\t", "main.go:3:15: undefined: missing")
	if got := FirstError(err); !strings.HasSuffix(got, "main.go:3:15: undefined: missing") || strings.Contains(got, "\n") {
		t.Errorf("the first error is %q, want the line of main.go", got)
	}
	if !errors.Is(err, ErrNotCompiled) {
		t.Errorf("got %v, want an error that is ErrNotCompiled", err)
	}
	checkNothingLeft(t, b)
}

func checkError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v\ndoes not have %q", err, part)
		}
	}
}

func TestErrorShowsTheLastLines(t *testing.T) {
	fakeGo(t, `test "$1" = env && exec "$REAL" "$@"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do echo "line $i." >&2; done
exit 3`)
	b, _ := builder(t, fakeSource(t))
	_, err := b.Build(t.Context(), Spec{Name: "plain"})
	checkError(t, err, "exit status 3\n\tline 2.\n", "\n\tline 21.")
	if strings.Contains(err.Error(), "line 1.") {
		t.Errorf("more than %d lines are shown: %v", shownLines, err)
	}
}

// A linker names what is missing for every object file: one line tells it.
func TestErrorOfTheLinkerIsOneLine(t *testing.T) {
	fakeGo(t, `test "$1" = env && exec "$REAL" "$@"
echo '/usr/bin/gcc -m64 -o program -lpthread /tmp/000001.o /tmp/000002.o' >&2
for i in 1 2 3; do echo "sqlite3.c:$i: undefined reference to 'log'" >&2; done
echo 'collect2: error: ld returned 1 exit status' >&2
exit 1`)
	b, _ := builder(t, fakeSource(t))
	_, err := b.Build(t.Context(), Spec{Name: "plain"})
	checkError(t, err, "exit status 1\n\tsqlite3.c:3: undefined reference to 'log'")
	if err == nil || strings.Contains(err.Error(), "gcc -m64") || strings.Contains(err.Error(), "sqlite3.c:2") {
		t.Errorf("got %v, want the last line of the linker alone", err)
	}
	if !errors.Is(err, ErrNotCompiled) {
		t.Errorf("got %v, want an error that is ErrNotCompiled", err)
	}
}

// The first error is a line of a compiler that names what it refuses; of a linker, and
// of what is no compiler's, one line that says what is wrong.
func TestFirstError(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"Go":             {&commandError{command: "go build", said: "# assay/workers/a\n./main.go:3:15: undefined: a\n./main.go:4:1: undefined: b\n", error: io.EOF}, "./main.go:3:15: undefined: a"},
		"C":              {&commandError{command: "gcc", said: "In file included from a.h:1:\na.c: In function 'f':\na.c:5:2: warning: odd\na.c:7:3: error: 'x' undeclared\na.c:9:1: error: no\n", error: io.EOF}, "a.c:7:3: error: 'x' undeclared"},
		"beyond the end": {&commandError{command: "go build", said: "./a.go:1:2: first\n" + strings.Repeat("./a.go:2:2: other\n", 2*shownLines), error: io.EOF}, "./a.go:1:2: first"},
		"a linker":       {&commandError{command: "gcc", said: "gcc -m64\na.c:1: undefined reference to 'log'\ncollect2: error: ld returned 1 exit status\n", error: io.EOF}, "a.c:1: undefined reference to 'log'"},
		"no compiler":    {errors.New("no modules\nat all"), "no modules"},
		"cargo":          {&commandError{command: "build", said: "warning: odd\n --> lib.rs:1:2\n\nerror[E0599]: no method `a`\n  --> main.rs:3:4\nerror: could not compile `worker`\n", error: io.EOF}, "error[E0599]: no method `a`"},
		"a program":      {fmt.Errorf("%w: hello: it ended; last lines of stderr:\n\tTraceback\n\tAttributeError: a", ErrNoHello), "it was built, and does not work: hello: it ended; last lines of stderr: AttributeError: a"},
		"no such build":  {&SpecError{fmt.Errorf("lib 1 is published, and not for this machine: %w", &commandError{command: "build", said: "looking\nfound nothing\n", error: io.EOF})}, "lib 1 is published, and not for this machine: build: EOF"},
	} {
		if got := FirstError(c.err); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A dead network, a full disk and a killed compiler say nothing of the sources.
func TestOutsideOfTheSources(t *testing.T) {
	for text, want := range map[string]bool{
		"main.go:4:2: example.test/db@v1.1.0: Get \"https://proxy.test/db/@v/v1.1.0.zip\": dial tcp: lookup proxy.test: no such host": true,
		"go: example.test/db@v1.1.0: reading https://proxy.test/db/@v/v1.1.0.mod: 503 Service Unavailable":                            true,
		"fatal: unable to access 'https://git.test/db/': Could not resolve host: git.test":                                            true,
		"/usr/bin/ld: final link failed: No space left on device":                                                                     true,
		"gcc: fatal error: Killed signal terminated program cc1":                                                                      true,
		"compile: signal: killed": true,
		"go: example.test/db@v9.0.0: reading https://proxy.test/db/@v/v9.0.0.info: 404 Not Found":                     false,
		"go: example.test/db@v9.0.0: reading file:///proxy/db/@v/v9.0.0.info: open v9.0.0: no such file or directory": false,
		"db.go:3:15: undefined: missing": false,
	} {
		err := errors.New(text)
		if got := isEnvironmentError(err); got != want || errors.Is(notCompiled(err), ErrNotCompiled) == want {
			t.Errorf("%s: got %t and %v, want %t", text, got, notCompiled(err), want)
		}
	}
}

func TestNoGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	b, _ := builder(t, fakeSource(t))
	_, err := b.Build(t.Context(), Spec{Name: "plain"})
	checkError(t, err, "worker plain: ", "install Go 1.26 or newer")
}

func TestHints(t *testing.T) {
	get := []string{"get", "example.test/db@v9.0.0"}
	for output, want := range map[string]string{
		`cgo: C compiler "gcc" not found: exec: "gcc": executable file not found in $PATH`: cgoHint,
		"main.go:4:2: missing go.sum entry for module":                                     "the worker's go.sum does not match its sources: run make deps",
		"go: example.test/db@v9.0.0: module lookup disabled by GOPROXY=off":                "GOPROXY is off, so that nothing is downloaded: set it to a proxy, or name a version that is in the module cache",
		"go: module example.test/db: 404 Not Found":                                        "this version is not available; to list those that are: go list -m -versions example.test/db",
	} {
		if got := hintFor(get, output); got != want {
			t.Errorf("%q: hint %q, want %q", output, got, want)
		}
	}
	if got := hintFor([]string{"build"}, "undefined: x"); got != "" {
		t.Errorf("hint %q where there is none", got)
	}
}

// The script stands for a compiler that has children: both hold the pipe open
// that the test reads to the end.
func TestCancelKillsTheCompilerAndItsChildren(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	fakeGo(t, `test "$1" = env && exec "$REAL" "$@"
exec 3>'`+pipe+`'
sleep 1000 & wait`)
	b, _ := builder(t, fakeSource(t))
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by the user")
	result := make(chan error)
	go func() {
		_, err := b.Build(ctx, Spec{Name: "plain"})
		result <- err
	}()
	held, err := os.Open(pipe) // returns when the compiler has started
	must(t, err)
	defer held.Close()
	cancel(stopped)
	if err := <-result; !errors.Is(err, stopped) {
		t.Errorf("error %v, want %v", err, stopped)
	}
	if _, err := io.ReadAll(held); err != nil { // returns when nobody holds the pipe
		t.Error(err)
	}
	checkNothingLeft(t, b)
}

func TestPrebuilt(t *testing.T) {
	s := fakeSource(t)
	t.Setenv("PATH", t.TempDir()) // no go is needed
	b, states := builder(t, s)
	first := mustBuild(t, b, Spec{Name: "script"})
	want := Worker{Name: "script", Program: filepath.Join(s.Dir, "workers/script/worker"), Digest: first.Digest, Took: first.Took, Cached: true}
	if !reflect.DeepEqual(first, want) || len(first.Digest) != 64 {
		t.Errorf("got  %+v\nwant %+v", first, want)
	}
	if want := []string{"script cached"}; !reflect.DeepEqual(*states, want) {
		t.Errorf("events %q, want %q", *states, want)
	}
	put(t, s.Dir, map[string]string{"workers/script/lib/a.sh": "false\n"})
	if second := mustBuild(t, b, Spec{Name: "script"}); second.Digest == first.Digest {
		t.Error("the digest does not cover all files of the folder")
	}
	_, err := b.Build(t.Context(), Spec{Name: "script", Version: "v1.0.0"})
	checkError(t, err, "worker script@v1.0.0: it is of no registry, so it has no versions: ask for script")
}

func TestUnknownWorker(t *testing.T) {
	b, _ := builder(t, fakeSource(t))
	_, err := b.Build(t.Context(), Spec{Name: "nobody"})
	if want := `there is no driver "nobody"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = b.Build(t.Context(), Spec{Name: "plian"})
	checkError(t, err, `there is no driver "plian" (did you mean "plain"?)`)
	put(t, b.Source.Dir, map[string]string{"workers/empty/README": "nothing yet"})
	_, err = b.Build(t.Context(), Spec{Name: "empty"})
	checkError(t, err, "worker empty: workers/empty: neither go.mod nor an executable file named worker in "+b.Source.Dir)
	_, err = b.Build(t.Context(), Spec{Name: "../plain"})
	checkError(t, err, `driver "../plain": want NAME[@VERSION]`)
	_, err = b.Build(t.Context(), Spec{Name: "plain", Version: "v1.0.0"})
	checkError(t, err, "worker plain@v1.0.0: it imports no driver module, so it has no versions and no compile options: ask for plain")
}
