package build

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	tinyHeader = "/* The author disclaims copyright to this source code. */\n#define SQLITE_VERSION \"3.9.1\"\n" +
		"#define SQLITE_SOURCE_ID \"2026-02-03 04:05:06 abc\"\nint tiny_threadsafe(void);\n"
	tinySource = "#include \"sqlite3.h\"\n#ifndef SQLITE_THREADSAFE\n#define SQLITE_THREADSAFE 1\n#endif\n" +
		"int tiny_threadsafe(void) { return SQLITE_THREADSAFE; }\n"
	tinyWorker = `#include <stdio.h>
#include ASSAY_SQLITE_HEADER
#ifndef ASSAY_LIKE
#define ASSAY_LIKE "none"
#endif
int main(void) { printf("%s like %s threadsafe %d\n", ASSAY_DRIVER_VERSION, ASSAY_LIKE, tiny_threadsafe()); }
`
)

// cSource has a worker in C, floor; a driver written with cgo, cgodb, whose
// SQLite lies in a folder; and a driver without cgo, db.
func cSource(t *testing.T) Source {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler: ", err)
	}
	s := driverSource(t)
	proxy := strings.TrimPrefix(os.Getenv("GOPROXY"), "file://")
	publish(t, proxy, "example.test/tiny", "v1.0.0", "", map[string]string{"sqlite3.c": tinySource, "sqlite3.h": tinyHeader, "LICENSE": "MIT"})
	publish(t, proxy, "example.test/cgodb", "v1.0.0", "", map[string]string{
		"c/sqlite3.c": tinySource, "sqlite3.h": strings.ReplaceAll(tinyHeader, "3.9.1", "3.8.0"),
		"more.go": "//go:build more\n\npackage cgodb\n\n// #cgo CFLAGS: -DSQLITE_THREADSAFE=7\nimport \"C\"\n",
		"db.go":   "package cgodb\n\n// #cgo CFLAGS: -Ic -DSQLITE_THREADSAFE=2\nimport \"C\"\n"})
	put(t, s.Dir, map[string]string{
		"workers/floor/go.mod":       "module assay/workers/floor\n\ngo 1.26.0\n\nrequire example.test/tiny v1.0.0\n",
		"workers/floor/main.c":       tinyWorker,
		"workers/floor/other/main.c": "int main(void) { return 1; }\n",
		"workers/floor/README.md":    "# The floor\n",
		"workers/cgodb/go.mod": "module assay/workers/cgodb\n\ngo 1.26.0\n\nrequire (\n\tassay/kit v0.0.0\n\texample.test/cgodb v1.0.0\n)\n\n" +
			"replace assay/kit => ../../kit\n",
		"workers/cgodb/main.go": "package main\n\nimport _ \"example.test/cgodb\"\n\nfunc main() {}\n",
	})
	for name, module := range map[string]string{"floor": "example.test/tiny", "cgodb": "example.test/cgodb"} {
		if _, err := fetch(t.Context(), filepath.Join(s.Dir, "workers", name), module); err != nil { // writes go.sum, as make deps does
			t.Fatal(err)
		}
	}
	return s
}

func TestWorkerInC(t *testing.T) {
	b, states := builder(t, cSource(t))
	first := mustBuild(t, b, Spec{Name: "floor"})
	want := Worker{Name: "floor", Version: "3.9.1", Program: first.Program, Digest: first.Digest, Module: "example.test/tiny",
		Modules: []string{"example.test/tiny@v1.0.0"}, Toolchain: first.Toolchain, FixedLayout: "all of it is C", Took: first.Took}
	if !reflect.DeepEqual(first, want) || first.Toolchain == "" {
		t.Errorf("got  %+v\nwant %+v", first, want)
	}
	second := mustBuild(t, b, Spec{Name: "floor"})
	want.Cached, want.Took = true, second.Took
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if want := []string{"floor building", "floor built", "floor cached"}; !reflect.DeepEqual(*states, want) {
		t.Errorf("events %q, want %q", *states, want)
	}
	checkNothingLeft(t, b)
}

func TestWorkerInCVariants(t *testing.T) {
	b, _ := builder(t, cSource(t))
	seen := map[string]string{}
	for _, c := range []struct{ spec, flags, want string }{
		{"floor", "", "3.9.1 like none threadsafe 1\n"},
		{"floor:THREADSAFE=0", "", "3.9.1 like none threadsafe 0\n"},
		{"floor@cgodb", "", "3.8.0 like cgodb threadsafe 2\n"},
		{"floor@cgodb", "-tags=more", "3.8.0 like cgodb threadsafe 7\n"}, // as the driver would be built
		{"floor@cgodb:THREADSAFE=0", "", "3.8.0 like cgodb threadsafe 0\n"},
	} {
		t.Setenv("GOFLAGS", "-modcacherw "+c.flags)
		spec, err := ParseSpec(c.spec)
		must(t, err)
		w := mustBuild(t, b, spec)
		if got := output(t, w); got != c.want || seen[w.Digest] != "" || !reflect.DeepEqual(w.Options, spec.Options) {
			t.Errorf("%s with %q: printed %q, want %q; same digest as %q; options %q", c.spec, c.flags, got, c.want, seen[w.Digest], w.Options)
		}
		seen[w.Digest] = c.spec
	}
}

func TestWorkerInCErrors(t *testing.T) {
	s := cSource(t)
	b, _ := builder(t, s)
	for _, c := range []struct{ spec, want string }{
		{"floor@db", "worker floor@db: after @ comes a driver written with cgo: cgodb, which db is not"},
		{"floor@plain", "worker floor@plain: after @ comes a driver written with cgo: cgodb, which plain is not"},
		{"floor@nobody", "worker floor@nobody: after @ comes a driver written with cgo: cgodb, which nobody is not"},
		{"floor@v1.0.0", "worker floor@v1.0.0: after @ comes a driver written with cgo: cgodb, which v1.0.0 is not"},
		{"db:DQS=0", "db is not written with cgo: its compile options were fixed when it was made; " +
			"ask for db without options, or for a driver written with cgo: cgodb"},
		{"plain:DQS=0", "it imports no driver module, so it has no versions and no compile options: ask for plain"},
		{"db@cgodb", `"cgodb" is neither a version, such as db@v1.2.3, nor the name of a driver whose module example.test/db requires`},
		{"db@1.4.2", `"1.4.2" is neither a version, such as db@v1.4.2, nor`},
	} {
		spec, err := ParseSpec(c.spec)
		must(t, err)
		_, err = b.Build(t.Context(), spec)
		checkError(t, err, c.want)
	}
	put(t, s.Dir, map[string]string{"workers/floor/main.c": "int main(void) { missing; }\n"})
	_, err := b.Build(t.Context(), Spec{Name: "floor"})
	checkError(t, err, "worker floor: compile workers/floor: ", "exit status 1\n\t", "main.c:1:")
	checkNothingLeft(t, b)
}

func TestCompilerOfWorkerInC(t *testing.T) {
	b, _ := builder(t, cSource(t))
	seen := map[string]bool{}
	for _, cc := range []string{"cc", "cc -DTWICE"} {
		t.Setenv("CC", cc)
		w := mustBuild(t, b, Spec{Name: "floor"})
		if w.Cached || seen[w.Digest] {
			t.Errorf("CC=%s came from the cache", cc)
		}
		seen[w.Digest] = true
	}
	t.Setenv("CC", "no-such-compiler")
	_, err := b.Build(t.Context(), Spec{Name: "floor"})
	checkError(t, err, `worker floor: exec: "no-such-compiler": executable file not found`, ccHint)
}

// A module that is not what go.sum says is not compiled.
func TestChecksumOfWorkerInC(t *testing.T) {
	s := cSource(t)
	b, _ := builder(t, s)
	sums, err := os.ReadFile(filepath.Join(s.Dir, "workers/floor/go.sum"))
	if err != nil || !strings.Contains(string(sums), "example.test/tiny v1.0.0 h1:") {
		t.Fatalf("go.sum has %q, %v", sums, err)
	}
	put(t, s.Dir, map[string]string{"workers/floor/go.sum": "example.test/tiny v1.0.0 h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"})
	_, err = b.Build(t.Context(), Spec{Name: "floor"})
	checkError(t, err, "worker floor: ", "verifying example.test/tiny@v1.0.0: checksum mismatch")
}

// Nothing is fetched to tell what was built before.
func TestCached(t *testing.T) {
	s := cSource(t)
	b, _ := builder(t, s)
	for _, name := range []string{"floor", "plain"} {
		if w, ok, err := b.Cached(t.Context(), Spec{Name: name}); ok || err != nil {
			t.Errorf("%s before it was built: %+v, %v", name, w, err)
		}
		built := mustBuild(t, b, Spec{Name: name})
		if w, ok, err := b.Cached(t.Context(), Spec{Name: name}); !ok || err != nil || w.Program != built.Program {
			t.Errorf("%s after it was built: %+v, %t, %v", name, w, ok, err)
		}
	}
	t.Setenv("GOMODCACHE", t.TempDir())
	for _, spec := range []Spec{{Name: "floor"}, {Name: "floor", Version: "cgodb"}, {Name: "db"}} {
		if w, ok, err := b.Cached(t.Context(), spec); ok || err != nil {
			t.Errorf("%s: %+v, %v", spec, w, err)
		}
	}
	if left, err := os.ReadDir(os.Getenv("GOMODCACHE")); err != nil || len(left) > 1 {
		t.Errorf("the module cache has %v, %v", left, err)
	}
	if _, ok, err := b.Cached(t.Context(), Spec{Name: "script"}); !ok || err != nil {
		t.Errorf("prebuilt: %t, %v", ok, err)
	}
	_, _, err := b.Cached(t.Context(), Spec{Name: "nobody"})
	checkError(t, err, "nobody")
}

func TestLibrary(t *testing.T) {
	s := cSource(t)
	for name, want := range map[string]Module{
		"floor": {"public domain", time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)}, // SQLite's, not the module's
		"plain": {},
		"cgodb": {},
	} {
		d, err := s.driver(name)
		must(t, err)
		if got, err := d.Library(t.Context()); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, want)
		}
	}
	t.Setenv("GOMODCACHE", t.TempDir())
	d, err := s.driver("floor")
	must(t, err)
	_, err = d.Library(t.Context())
	checkError(t, err, "look example.test/tiny up: fetch module: ", "GOPROXY=off")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = d.Library(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
