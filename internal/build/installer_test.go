package build

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// installing is a source with a script whose installer makes a package of its lock
// file, with a symbolic link in it. What it works with is in a file outside.
func installing(t *testing.T) (Source, string) {
	t.Helper()
	s := fakeSource(t)
	tools := filepath.Join(t.TempDir(), "tools")
	put(t, filepath.Dir(tools), map[string]string{"tools": "interpreter 1\n"})
	put(t, s.Dir, map[string]string{
		"workers/installs/worker*": "#!/bin/sh\ncat \"${0%/*}/packages/one\"\n",
		"workers/installs/lock":    "one 1.0\n",
		"workers/installs/build*": `#!/bin/sh
set -e
case $1 in
tools) cat '` + tools + `' ;;
files) echo lock ;;
install)
	[ "$(ls)" = "build
lock" ] || { echo "the folder has more than the lock file" >&2; exit 1; }
	echo installed >>'` + tools + `.log'
	case $TMPDIR in "$PWD"*) echo "temporary files go to the worker's folder" >&2; exit 1 ;; esac
	mkdir packages && cp lock packages/one && ln -s ../packages packages/again
	;;
esac
`})
	return s, tools
}

// What a script's installer makes lies in the cache, made once for each lock file
// and each interpreter, and nothing is left in the source.
func TestInstaller(t *testing.T) {
	s, tools := installing(t)
	b, states := builder(t, s)
	first := mustBuild(t, b, Spec{Name: "installs"})
	again := mustBuild(t, b, Spec{Name: "installs"})
	if first.Cached || !again.Cached || first.Program != again.Program || first.Digest != again.Digest || first.Toolchain != "interpreter 1" {
		t.Errorf("got %+v\nand then %+v, want one build, cached the second time", first, again)
	}
	if got := output(t, first); got != "one 1.0\n" {
		t.Errorf("the worker prints %q, want what was installed", got)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "workers/installs/packages")); err == nil {
		t.Error("packages were installed into the source, want them in the cache only")
	}
	if want := "installs building, installs built, installs cached"; strings.Join(*states, ", ") != want {
		t.Errorf("events %q, want %q", *states, want)
	}
	put(t, s.Dir, map[string]string{"workers/installs/lock": "one 2.0\n"})
	locked := mustBuild(t, b, Spec{Name: "installs"})
	put(t, filepath.Dir(tools), map[string]string{"tools": "interpreter 2\n"})
	t.Setenv("INTERPRETER", "2") // tools are asked once in an environment
	other := mustBuild(t, b, Spec{Name: "installs"})
	if locked.Cached || other.Cached || locked.Digest == first.Digest || other.Digest == locked.Digest || output(t, other) != "one 2.0\n" {
		t.Errorf("with another lock file: %+v; with another interpreter: %+v; want a new build for each", locked, other)
	}
	checkNothingLeft(t, b)
}

// Of one lock file, two installations that differ are two builds; and one that
// somebody has changed is made again.
func TestInstallationThatChanges(t *testing.T) {
	s, _ := installing(t)
	b, _ := builder(t, s)
	first := mustBuild(t, b, Spec{Name: "installs"})
	folder := filepath.Dir(first.Program)
	put(t, folder, map[string]string{"packages/one": "owned\n"})
	if again := mustBuild(t, b, Spec{Name: "installs"}); again.Cached || output(t, again) != "one 1.0\n" {
		t.Errorf("a changed installation was used: %+v", again)
	}
	before, err := withOutput("digest", folder)
	must(t, err)
	put(t, filepath.Dir(folder), map[string]string{filepath.Base(folder) + besideSum: "another"})
	if after, err := withOutput("digest", folder); err != nil || after == before {
		t.Errorf("the digest is %s, %v for another output too", after, err)
	}
}

// What was installed is taken again where the worker's other files change, and by
// another worker with the same lock file: compiling a driver takes minutes.
func TestInstalledOnce(t *testing.T) {
	s, tools := installing(t)
	b, _ := builder(t, s)
	first := mustBuild(t, b, Spec{Name: "installs"})
	put(t, s.Dir, map[string]string{"workers/installs/main.rb": "puts 1\n"})
	changed := mustBuild(t, b, Spec{Name: "installs"})
	must(t, os.CopyFS(filepath.Join(s.Dir, "workers/second"), os.DirFS(filepath.Join(s.Dir, "workers/installs"))))
	second := mustBuild(t, b, Spec{Name: "second"})
	for _, w := range []Worker{changed, second} {
		if w.Cached || w.Digest == first.Digest || output(t, w) != "one 1.0\n" {
			t.Errorf("got %+v, want another build with the same packages", w)
		}
	}
	if log, err := os.ReadFile(tools + ".log"); err != nil || string(log) != "installed\n" {
		t.Errorf("installed %q, %v, want it once for one lock file", log, err)
	}
	packages, err := filepath.Glob(filepath.Join(b.Cache, "packages", "*", "packages", "one"))
	if err != nil || len(packages) != 1 {
		t.Fatalf("the cache has %q, %v, want one installation", packages, err)
	}
	put(t, filepath.Dir(packages[0]), map[string]string{"one": "owned\n"})
	put(t, s.Dir, map[string]string{"workers/installs/main.rb": "puts 2\n"})
	if w := mustBuild(t, b, Spec{Name: "installs"}); output(t, w) != "one 1.0\n" {
		t.Errorf("the worker has %q, want what was changed in the cache installed again", output(t, w))
	}
	checkNothingLeft(t, b)
}

// A build that takes long is told again and again, and no longer once it has ended.
func TestLongBuildsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []Event
		b := &Builder{Log: func(e Event) { told = append(told, e) }}
		end := b.building("slow", time.Now())
		time.Sleep(2*buildingInterval + time.Second)
		end()
		time.Sleep(2 * buildingInterval)
		want := []Event{{Worker: "slow", State: Building}, {Worker: "slow", State: Building, Took: buildingInterval},
			{Worker: "slow", State: Building, Took: 2 * buildingInterval}}
		if !slices.Equal(told, want) {
			t.Errorf("told %v, want %v", told, want)
		}
	})
}

// An installer that fails, or that lacks something, says why, and nothing is left.
func TestInstallerThatFails(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"lacks":     {"echo 'Perl is not installed: apt-get install perl' >&2; exit 69", "worker installs: Perl is not installed: apt-get install perl"},
		"fails":     {"if [ $1 = install ]; then echo 'no such package' >&2; exit 1; fi; echo lock", "worker installs: install what the worker needs: "},
		"unlocked":  {"echo requirements.lock", "worker installs: workers/installs has no file requirements.lock, which its build installs from: write it, or remove build"},
		"alone":     {"if [ $1 = install ]; then echo 'npm error code ENOTFOUND' >&2; seq 50 >&2; exit 1; fi; echo lock", "worker installs: install what the worker needs: the registry of packages cannot be reached: "},
		"cargo":     {"if [ $1 = install ]; then echo 'error: could not compile `worker`' >&2; exit 101; fi; echo lock", "worker installs: install what the worker needs: it does not compile: "},
		"node-gyp":  {"if [ $1 = install ]; then echo 'npm error gyp ERR! stack Error: `make` failed with exit code: 2' >&2; exit 1; fi; echo lock", "worker installs: install what the worker needs: it does not compile: "},
		"no linker": {"if [ $1 = install ]; then echo 'error: linker `cc` not found' >&2; echo 'error: could not compile `worker`' >&2; exit 101; fi; echo lock", "worker installs: install what the worker needs: "},
		"memory":    {"if [ $1 = install ]; then echo 'cc1: out of memory' >&2; echo 'error: could not compile `worker`' >&2; exit 101; fi; echo lock", "worker installs: install what the worker needs: "},
	} {
		s, _ := installing(t)
		put(t, s.Dir, map[string]string{"workers/installs/build*": "#!/bin/sh\n" + c.script + "\n"})
		b, _ := builder(t, s)
		_, err := b.Build(t.Context(), Spec{Name: "installs"})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if compiler := name == "cargo" || name == "node-gyp"; errors.Is(err, ErrNotCompiled) != compiler {
			t.Errorf("%s: got %v, want that the sources are refused: %t", name, err, compiler)
		}
		var lacks *NotInstalledError
		if errors.As(err, &lacks) != (name == "lacks") || errors.Is(err, ErrUnreachable) != (name == "alone") {
			t.Errorf("%s: got %T, want it to be told from the others", name, err)
		}
		if Broken(err) != (name == "cargo" || name == "node-gyp") {
			t.Errorf("%s: got %v, want only what does not compile to be broken", name, err)
		}
		if name == "fails" && !strings.Contains(err.Error(), "no such package") {
			t.Errorf("got %v, want the installer's own words in it", err)
		}
		checkNothingLeft(t, b)
	}
}

// Of several processes that install the same at once, the program and the digest
// beside it are of one of them.
func TestInstallAtOnce(t *testing.T) {
	for range 100 {
		cache := t.TempDir()
		program := filepath.Join(cache, "workers", "program")
		put(t, cache, map[string]string{"workers/other": ""})
		var all sync.WaitGroup
		for i := range 4 {
			made := filepath.Join(cache, fmt.Sprint("made", i))
			put(t, made, map[string]string{"file": fmt.Sprint(i)})
			all.Go(func() {
				if err := install(made, program); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if !intact(program) {
			t.Fatal("the digest beside the program is another one's, want its own")
		}
	}
}
