package build

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// publish puts a version of a module into a module proxy that is a folder.
func publish(t *testing.T, proxy, module, version, requires string, sources map[string]string) {
	t.Helper()
	mod := "module " + module + "\n\ngo 1.24\n" + requires
	prefix := module + "@" + version + "/"
	content := tree{{prefix + "go.mod", false, []byte(mod)}}
	for name, source := range sources {
		content = append(content, sourceFile{prefix + name, false, []byte(source)})
	}
	var archive strings.Builder
	must(t, content.zip(&archive))
	base := module + "/@v/" + version
	put(t, proxy, map[string]string{
		base + ".info": `{"Version":"` + version + `"}`,
		base + ".mod":  mod,
		base + ".zip":  archive.String(),
	})
}

// driverSource has a worker of a driver that is published in versions:
// v1.0.0, which is pinned; v1.1.0; v1.2.0 whose libc is moved by another
// module that it requires; and v1.3.0, which is written with cgo and has a
// stub for where that is off.
func driverSource(t *testing.T) Source {
	t.Helper()
	proxy := t.TempDir()
	for _, v := range []string{"v1.0.0", "v1.1.0", "v1.5.0"} {
		publish(t, proxy, "modernc.org/libc", v, "", map[string]string{"libc.go": "package libc\n\nconst Version = \"libc " + v + "\"\n"})
	}
	publish(t, proxy, "example.test/mover", "v1.0.0", "require modernc.org/libc v1.5.0\n", map[string]string{
		"mover.go": "package mover\n\nimport _ \"modernc.org/libc\"\n"})
	driver := "package db\n\nimport \"modernc.org/libc\"\n\nconst Version = VERSION + libc.Version\n"
	for _, c := range []struct{ version, requires, more string }{
		{"v1.0.0", "require modernc.org/libc v1.0.0\n", ""},
		{"v1.1.0", "require modernc.org/libc v1.1.0\n", ""},
		{"v1.2.0", "require modernc.org/libc v1.1.0\nrequire example.test/mover v1.0.0\n", "package db\n\nimport _ \"example.test/mover\"\n"},
		{"v1.3.0", "require modernc.org/libc v1.1.0\n", "package db\n\nimport \"C\"\n"},
	} {
		sources := map[string]string{"db.go": strings.ReplaceAll(driver, "VERSION", `"`+c.version+` "`)}
		if c.more != "" {
			sources["more.go"] = c.more
		}
		publish(t, proxy, "example.test/db", c.version, c.requires, sources)
	}
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy))
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GOMODCACHE", t.TempDir())

	s := fakeSource(t)
	put(t, s.Dir, map[string]string{
		"workers/db/go.mod": "module assay/workers/db\n\ngo 1.26.0\n\nrequire (\n\tassay/kit v0.0.0\n\texample.test/db v1.0.0\n" +
			"\tmodernc.org/libc v1.0.0 // indirect\n)\n\nreplace assay/kit => ../../kit\n",
		"workers/db/main.go": "package main\n\nimport (\n\t\"assay/kit\"\n\t\"example.test/db\"\n)\n\nfunc main() { println(kit.Name, db.Version) }\n",
	})
	// go.sum, as make deps writes it
	if _, err := run(t.Context(), filepath.Join(s.Dir, "workers/db"), []string{"GOWORK=off"}, "list", "-mod=mod", "-deps", "./..."); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestVersions(t *testing.T) {
	b, _ := builder(t, driverSource(t))
	for _, c := range []struct{ asked, version, libc string }{
		{"", "v1.0.0", "v1.0.0"},
		{"v1.0.0", "v1.0.0", "v1.0.0"},
		{"v1.1.0", "v1.1.0", "v1.1.0"},
	} {
		w := mustBuild(t, b, Spec{Name: "db", Version: c.asked})
		want := Worker{Name: "db", Version: c.version, Program: w.Program, Digest: w.Digest, Module: "example.test/db",
			Modules:   []string{"assay/kit@v0.0.0", "example.test/db@" + c.version, "modernc.org/libc@" + c.libc},
			Toolchain: runtime.Version(), Took: w.Took, Cached: c.asked == "v1.0.0"} // asking for the pinned one is not another build
		if diff := cmp.Diff(want, w); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", c.asked, diff)
		}
		if got := output(t, w); got != "one "+c.version+" libc "+c.libc+"\n" {
			t.Errorf("%q: printed %q", c.asked, got)
		}
	}
	checkNothingLeft(t, b)
}

// A driver whose module requires another driver's is made on what that other worker pins;
// the name of a driver that it does not require is no version.
func TestDriverOnAnotherDriversModule(t *testing.T) {
	s := driverSource(t)
	put(t, s.Dir, map[string]string{
		"workers/libc/go.mod":  "module assay/workers/libc\n\ngo 1.26.0\n\nrequire modernc.org/libc v1.5.0\n",
		"workers/libc/main.go": "package main\n\nimport _ \"modernc.org/libc\"\n\nfunc main() {}\n",
	})
	b, _ := builder(t, s)
	w := mustBuild(t, b, Spec{Name: "db", Version: "libc"})
	if got, want := output(t, w), "one v1.0.0 libc v1.5.0\n"; got != want || w.Version != "v1.0.0+libc" || !w.Named {
		t.Errorf("printed %q, version %s, named %t; want %q, v1.0.0+libc, true", got, w.Version, w.Named, want)
	}
	if own := mustBuild(t, b, Spec{Name: "db"}); own.Digest == w.Digest || own.Version != "v1.0.0" {
		t.Errorf("the pinned build is %s %s, the other %s", own.Version, own.Digest, w.Digest)
	}
	_, err := b.Build(t.Context(), Spec{Name: "libc", Version: "db"})
	if !errors.As(err, new(*SpecError)) {
		t.Errorf("libc on a module that it does not require: got %v, want a SpecError", err)
	}
}

func TestMovedModules(t *testing.T) {
	b, _ := builder(t, driverSource(t))
	_, err := b.Build(t.Context(), Spec{Name: "db", Version: "v1.2.0"})
	want := "worker db@v1.2.0: compile workers/db and example.test/db@v1.2.0 with " + runtime.Version() +
		": modules moved away from what example.test/db was made with: modernc.org/libc is v1.5.0, the driver was made with v1.1.0"
	if err == nil || err.Error() != want {
		t.Errorf("error %v\nwant %s", err, want)
	}
}

func TestVersionThatDoesNotExist(t *testing.T) {
	b, _ := builder(t, driverSource(t))
	_, err := b.Build(t.Context(), Spec{Name: "db", Version: "v9.0.0"})
	var wrong *SpecError
	if !errors.As(err, &wrong) {
		t.Errorf("got %v, want a SpecError", err)
	}
	checkError(t, err, "worker db@v9.0.0: ", "go get example.test/db@v9.0.0: exit status 1", "v9.0.0",
		"\nthis version is not available; to list those that are: go list -m -versions example.test/db")
	if checked := b.Check(t.Context(), Spec{Name: "db", Version: "v9.0.0"}); !errors.As(checked, &wrong) {
		t.Errorf("checked: got %v, want a SpecError", checked)
	}
	checkNothingLeft(t, b)
}

// A check finds out what can be told of a build without making it.
func TestCheckCompilesNothing(t *testing.T) {
	s := driverSource(t)
	b, _ := builder(t, s)
	must(t, b.Check(t.Context(), Spec{Name: "db", Version: "v1.1.0"}))
	if w := mustBuild(t, b, Spec{Name: "db", Version: "v1.1.0"}); w.Cached {
		t.Error("the check made the program")
	}
	if err := b.Check(t.Context(), Spec{Name: "db", Version: "v1.1.0"}); err != nil {
		t.Errorf("of a program that is there: %v", err)
	}
	checkError(t, b.Check(t.Context(), Spec{Name: "nosuch"}), `there is no driver "nosuch"`)
	checkNothingLeft(t, b)
}

// A registry that answers for this version alone has none of it; one that does not answer,
// or forbids something else, says nothing of the version.
func TestRefusedVersion(t *testing.T) {
	b, _ := builder(t, driverSource(t))
	status := http.StatusForbidden
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "This module version is not available.", status)
	}))
	defer registry.Close()
	t.Setenv("GOPROXY", registry.URL)
	for _, c := range []struct {
		status int
		wrong  bool
	}{{http.StatusForbidden, true}, {http.StatusNotFound, true}, {http.StatusServiceUnavailable, false}, {http.StatusUnauthorized, false}} {
		status = c.status
		_, err := b.Build(t.Context(), Spec{Name: "db", Version: "v1.9.0"})
		if err == nil || errors.As(err, new(*SpecError)) != c.wrong {
			t.Errorf("status %d: got %v, want a SpecError: %t", c.status, err, c.wrong)
		}
	}
	for text, want := range map[string]bool{
		"go: example.test/db@v1.9.0: reading https://proxy.test/db/@v/v1.9.0.mod: 403 Forbidden":    true,
		"go: example.test/db@v1.9.0: reading https://proxy.test/other/@v/v1.0.0.mod: 403 Forbidden": false,
		"go: example.test/db@v1.9.0: Get \"https://proxy.test/db/@v/v1.9.0.mod\": Forbidden":        false,
	} {
		if got := forbids(errors.New(text), "v1.9.0"); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
}

func TestCgoDriverWithoutCgo(t *testing.T) {
	b, _ := builder(t, driverSource(t))
	t.Setenv("CGO_ENABLED", "0")
	_, err := b.Build(t.Context(), Spec{Name: "db", Version: "v1.3.0"})
	checkError(t, err, "package example.test/db is written with cgo, and cgo is off; "+cgoHint)
	mustBuild(t, b, Spec{Name: "db", Version: "v1.1.0"})
}

// A compile option of which the source has no name is misspelt, and nothing need be compiled
// to see that.
func TestKnownOptions(t *testing.T) {
	a := amalgamation{module: "db@v1.0.0", version: "3.50.0", source: filepath.Join(t.TempDir(), "sqlite3.c")}
	must(t, os.WriteFile(a.source, []byte("#ifdef SQLITE_ENABLE_FTS5\n#if SQLITE_DQS\n#define SQLITE_DQSX\n"), 0o644))
	for option, want := range map[string]string{"ENABLE_FTS5": "", "DQS=0": "", "ENABLE_FST5": "has no compile option ENABLE_FST5", "DQ=0": "has no compile option DQ", "ENABLE_FTS": "has no compile option ENABLE_FTS"} {
		err := knownOptions(a, []string{option})
		if want == "" && err != nil || want != "" && (!errors.As(err, new(*SpecError)) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", option, err, want)
		}
	}
}
