package build

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/kit/wire"

	"github.com/google/go-cmp/cmp"
)

// published is a source with a worker whose library is published in versions 1.0, 1.1 and 2.0,
// and whose installer writes down what it is given.
func published(t *testing.T, files map[string]string) Source {
	t.Helper()
	s := fakeSource(t)
	all := map[string]string{
		"worker*": "#!/bin/sh\ncat \"${0%/*}/given\"\n",
		"build*": "#!/bin/sh\n# " + s.Dir + // what a program says is asked once
			`
case $1 in
files) cd "${0%/*}"; for f in requirements.txt package.json package-lock.json Cargo.toml Cargo.lock; do [ ! -f $f ] || echo $f; done ;;
tools) echo tool 1 ;;
versions) echo "2.0.0 1.1.0 1.0.0 nonsense" ;;
install)
	if grep -q 9.9 *.*; then echo "ERROR: No matching distribution found for lib" >&2; exit 1; fi
	for f in *.*; do echo "$f:"; cat $f; done >given ;;
esac
`}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		put(t, s.Dir, map[string]string{"workers/lib/" + name: text})
	}
	return s
}

// Each ecosystem's manifest has the version that was asked for, and the rest of it is as it was; the
// file that locks the pinned one is gone.
func TestVersionsOfLibraries(t *testing.T) {
	cargo := "[package]\nname = \"lib\"\nversion = \"0.1.0\"\n\n[dependencies]\nlib = { features = [\"a\"], version = \"1.0.0\" }\nother = \"3.0.0\"\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"pypi": {map[string]string{"requirements.txt": "before==3.0 \\\n    --hash=sha256:00\nlib==1.0.0 \\\n    --hash=sha256:11\n"}, "requirements.txt:\nlib==1.1\n"},
		"npm": {map[string]string{"package.json": `{"version": "0.1.0", "dependencies": {"other": "3.0.0", "lib": "1.0.0"}}` + "\n", "package-lock.json": "{}\n"},
			"package.json:\n" + `{"version": "0.1.0", "dependencies": {"other": "3.0.0", "lib": "1.1.0"}}` + "\n"},
		"cargo": {map[string]string{"Cargo.toml": cargo, "Cargo.lock": "\n"}, "Cargo.toml:\n" + strings.Replace(cargo, `version = "1.0.0"`, `version = "=1.1.0"`, 1)},
		"alone": {map[string]string{"requirements.txt": "another==1.0.0\n"}, "requirements.txt:\nanother==1.1\n"},
	} {
		b, _ := builder(t, published(t, c.files))
		put(t, b.Source.Dir, map[string]string{"workers/lib/README.md": "# lib, a library\n", "workers/lib/driver.yaml": "caution: no release since 2019\n"})
		if d, err := b.Source.driver("lib"); err != nil || d.Caution != "no release since 2019" || d.About != "lib, a library" {
			t.Errorf("%s: got %+v, %v, want what its files say", name, d, err)
		}
		if got := output(t, mustBuild(t, b, Spec{Name: "lib", Version: "1.1.0"})); got != c.want {
			t.Errorf("%s: it installs from\n%s\nwant\n%s", name, got, c.want)
		}
		if w := mustBuild(t, b, Spec{Name: "lib", Version: "1.1.0"}); w.Version != "1.1.0" || w.Module == "" {
			t.Errorf("%s: got version %q of %q, want 1.1.0 of the library", name, w.Version, w.Module)
		}
		pinned := mustBuild(t, b, Spec{Name: "lib"})
		if pinned.Version != "1.0.0" {
			t.Errorf("%s: got version %q, want the pinned one", name, pinned.Version)
		}
		if same := mustBuild(t, b, Spec{Name: "lib", Version: "1.0.0"}); !same.Cached || same.Digest != pinned.Digest {
			t.Errorf("%s: the pinned version is another build: %+v, want %+v", name, same, pinned)
		}
		checkNothingLeft(t, b)
	}
}

// What installers keep for the next build is removed where no build used it for 30 days, also
// while other versions are built.
func TestWorkThatNoBuildUses(t *testing.T) {
	b, _ := builder(t, published(t, map[string]string{"Cargo.toml": "[dependencies]\nlib = \"1.0.0\"\n", "Cargo.lock": "\n", "package.json": "{}\n"}))
	work := filepath.Join(b.Cache, "work")
	age := func(name string, days int) {
		then := time.Now().Add(-time.Duration(days) * 24 * time.Hour)
		must(t, errors.Join(os.MkdirAll(filepath.Join(work, name), 0o755), os.Chtimes(filepath.Join(work, name), then, then)))
	}
	age("old", 31)
	age("recent", 29)
	folders := func() []string {
		entries, err := os.ReadDir(work)
		must(t, err)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	mustBuild(t, b, Spec{Name: "lib"})
	locked := folders()
	if len(locked) != 2 || slices.Contains(locked, "old") {
		t.Fatalf("work has %q, want the folder of 29 days ago and a new one", locked)
	}
	own := locked[slices.IndexFunc(locked, func(name string) bool { return name != "recent" })]
	age(own, 31)
	mustBuild(t, b, Spec{Name: "lib", Version: "1.1.0"})
	got := folders()
	if len(got) != 2 || slices.Contains(got, own) {
		t.Errorf("work has %q, want it without that of the locked version, which no build uses", got)
	}
	put(t, b.Source.Dir, map[string]string{"workers/lib/package.json": "{ }\n"})
	mustBuild(t, b, Spec{Name: "lib", Version: "1.1.0"})
	if edited := folders(); !slices.Equal(edited, got) {
		t.Errorf("after an edit work has %q, want %q", edited, got)
	}
}

// What no registry has, or a worker does not say that it has, is an error of the request.
func TestVersionsThatThereAreNot(t *testing.T) {
	s := published(t, map[string]string{"requirements.txt": "lib==1.0.0\n"})
	b, _ := builder(t, s)
	said := ""
	b.Hello = func(context.Context, string) (wire.Hello, error) {
		return wire.Hello{Target: wire.Target{DriverVersion: said}}, nil
	}
	for _, c := range []struct{ asked, said, want string }{
		{"9.9", "", "there is no lib 9.9; the nearest are 1.1.0, 2.0.0"},
		{"v1.1.0", "", `"v1.1.0" is not a version of lib`},
		{"other", "", `"other" is not a version of lib`},
		{"1.1", "1.1.0.1", `the worker says that it has lib "1.1.0.1", and 1.1 was asked for`},
		{"1.1", "1.1.0.0", ""},
		{"", "anything", ""},
	} {
		said = c.said
		_, err := b.Build(t.Context(), Spec{Name: "lib", Version: c.asked})
		if c.want == "" {
			must(t, err)
		} else if checkError(t, err, c.want); !errors.As(err, new(*SpecError)) {
			t.Errorf("%q: got %T, want a SpecError", c.asked, err)
		}
	}
	put(t, s.Dir, map[string]string{"workers/lib/requirements.txt": "one==1.0.0\ntwo==1.0.0\n"})
	_, err := b.Build(t.Context(), Spec{Name: "lib", Version: "1.1.0"})
	checkError(t, err, "it is of no registry, so it has no versions: ask for lib")
	checkNothingLeft(t, b)
}

// A build that does not say hello is not cached, whatever it is built with.
func TestHelloBeforeCaching(t *testing.T) {
	b, _ := builder(t, cSource(t))
	put(t, b.Source.Dir, map[string]string{"workers/script/worker*": "#!/bin/sh\n", "workers/script/build*": "#!/bin/sh\n",
		"workers/library/worker*": "#!/bin/sh\n", "workers/library/go.mod": "module assay/workers/library\n\ngo 1.26.0\n\nrequire example.test/tiny v1.0.0\n"})
	_, err := fetch(t.Context(), filepath.Join(b.Source.Dir, "workers", "library"), "example.test/tiny")
	must(t, err)
	b.Hello = func(context.Context, string) (wire.Hello, error) { return wire.Hello{}, errors.New("silent") }
	for _, name := range []string{"db", "floor", "script", "library"} {
		for range 2 {
			if _, err := b.Build(t.Context(), Spec{Name: name}); !errors.Is(err, ErrNoHello) || !Broken(err) {
				t.Errorf("%s: got %v, want it refused for want of a hello", name, err)
			}
		}
	}
	b.Hello = nil
	mustBuild(t, b, Spec{Name: "db"})
	checkNothingLeft(t, b)
}

// The program that is asked for its hello is started, and does not stay.
func TestAskHello(t *testing.T) {
	program := filepath.Join(t.TempDir(), "worker")
	hello := `{"type":"hello","protocol":1,"target":{"driver_version":"1.2.3"}}`
	must(t, os.WriteFile(program, []byte("#!/bin/sh\necho '"+hello+"'\nexec sleep 60\n"), 0o755))
	got, err := AskHello(t.Context(), program)
	if err != nil || got.Target.DriverVersion != "1.2.3" {
		t.Errorf("got %+v, %v", got, err)
	}
	must(t, os.WriteFile(program, []byte("#!/bin/sh\necho 'Perl is missing' >&2\nexit 69\n"), 0o755))
	b := &Builder{Hello: AskHello}
	err = b.checkHello(t.Context(), Driver{}, program, "")
	if lacks, is := errors.AsType[*NotInstalledError](err); !is || lacks.Words != "Perl is missing" {
		t.Errorf("got %v, want what the worker lacks", err)
	}
}

func TestVersionsInOrder(t *testing.T) {
	for e, want := range map[Ecosystem][]string{
		PyPI:  {"0.9", "1.0.dev1", "1.0a1", "1.0b1", "1.0rc1", "1.0", "1.0.post1", "1.0.1", "1.2", "1.10", "2.0b2", "3.46.0.0", "3.46.0.1"},
		NPM:   {"1.0.0-alpha.1", "1.0.0-alpha.2", "1.0.0", "1.2.0", "1.10.0"},
		Cargo: {"0.9.0", "0.31.0", "0.100.0"},
		Go:    {"v1.0.0-rc.1", "v1.0.0", "v1.2.0", "v1.14.9", "v1.14.10"},
	} {
		got := slices.Clone(want)
		slices.Reverse(got)
		slices.SortFunc(got, e.Compare)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", e, diff)
		}
		for _, version := range want {
			if !e.IsVersion(version) || e.Released(version) != (strings.Trim(version, "v0123456789.") == "" || strings.Contains(version, "post")) {
				t.Errorf("%s %s: version %t, released %t", e, version, e.IsVersion(version), e.Released(version))
			}
		}
	}
	b, _ := builder(t, published(t, map[string]string{"requirements.txt": "lib==1.0.0\n"}))
	long, short := mustBuild(t, b, Spec{Name: "lib", Version: "10.1.0.0"}), mustBuild(t, b, Spec{Name: "lib", Version: "10.1"})
	if PyPI.Compare(long.Version, short.Version) != 0 || !short.Cached || long.Digest != short.Digest {
		t.Errorf("10.1 and 10.1.0.0 are two builds: %+v, %+v", short, long)
	}
	d, err := b.Source.driver("lib")
	must(t, err)
	got, err := b.Versions(t.Context(), d)
	if diff := cmp.Diff([]string{"1.0.0", "1.1.0", "2.0.0"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// A version that was withdrawn is told from one that nobody published.
func TestWithdrawnVersion(t *testing.T) {
	s := published(t, map[string]string{"Cargo.toml": "[dependencies]\nlib = \"2.0.0\"\n", "Cargo.lock": "\n", "build*": "#!/bin/sh\n# " + t.TempDir() + `
case $1 in
files) echo Cargo.toml Cargo.lock ;;
versions) echo 1.0.0 2.0.0 ;;
install) printf 'error: failed to select a version for the requirement lib\n  version 1.0.0 is yanked\n' >&2; exit 101 ;;
esac
`})
	b, _ := builder(t, s)
	_, err := b.Build(t.Context(), Spec{Name: "lib", Version: "1.0.0"})
	if checkError(t, err, "lib 1.0.0 was withdrawn"); !errors.As(err, new(*SpecError)) {
		t.Errorf("got %T, want a SpecError", err)
	}
}
