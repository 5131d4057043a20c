package build

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/kit/process"
	"assay/kit/sqlite"
	"assay/kit/wire"
	"assay/kit/workertest/gotest"
)

// checkout builds the workers of this checkout in the cache that the command
// uses, because compiling SQLite takes a minute.
func checkout(t *testing.T) *Builder {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles SQLite")
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler: ", err)
	}
	dir, err := filepath.Abs("../..")
	must(t, err)
	cache, err := os.UserCacheDir()
	must(t, err)
	return &Builder{Source: Source{dir}, Cache: filepath.Join(cache, "assay")}
}

func hello(t *testing.T, w Worker) wire.Target {
	t.Helper()
	worker, err := process.Start(t.Context(), w.Program, process.Options{})
	must(t, err)
	defer worker.Kill()
	return worker.Hello().Target
}

func built(t *testing.T, b *Builder, spec string) Worker {
	t.Helper()
	s, err := ParseSpec(spec)
	must(t, err)
	return mustBuild(t, b, s)
}

// quickly has SQLite compiled without optimization for what is asked for next, which
// takes a quarter of the time. Such a build has a digest of its own.
func quickly(t *testing.T) {
	t.Helper()
	before := optimization
	optimization = []string{"-O0", "-pthread"}
	t.Cleanup(func() { optimization = before })
	t.Setenv("CGO_CFLAGS", "-O0")
}

// The floor passes the conformance suite, by itself and made of a driver's
// SQLite, with the driver's compile options.
func TestFloor(t *testing.T) {
	b := checkout(t)
	plain, driver := built(t, b, "sqlite-c"), hello(t, built(t, b, "mattn"))
	quickly(t)
	for _, spec := range []string{"sqlite-c", "sqlite-c@mattn", "sqlite-c@crawshaw"} {
		t.Run(spec, func(t *testing.T) {
			if spec != "sqlite-c" {
				conforms(t, built(t, b, spec))
				return
			}
			conforms(t, plain)
			gotest.Memory(t, plain.Program) // SQLite 3.32 has no database in memory that connections share
			gotest.Settings(t, plain.Program)
			timesPhases(t, plain.Program)
		})
	}
	floor := hello(t, built(t, b, "sqlite-c@mattn"))
	if floor.EngineVersion != driver.EngineVersion || floor.Facts["source_id"] != driver.Facts["source_id"] {
		t.Errorf("the floor is %s %s, the driver's %s %s", floor.EngineVersion, floor.Facts["source_id"], driver.EngineVersion, driver.Facts["source_id"])
	}
	options := func(target wire.Target) string {
		all := slices.DeleteFunc(slices.Sorted(slices.Values(target.CompileOptions)), func(o string) bool { return strings.HasPrefix(o, "COMPILER=") })
		return strings.Join(all, "\n")
	}
	if a, b := options(driver), options(floor); a != b {
		t.Errorf("compile options of the driver:\n%s\nof the floor:\n%s", a, b)
	}
}

// timesPhases has a worker that runs queries time each phase of an operation, and looks at its plan.
func timesPhases(t *testing.T, program string) {
	t.Helper()
	w := started(t, program)
	var prepared wire.Prepared
	var measured wire.Measured
	ask(t, w, wire.TypeOpen, wire.Open{Path: filepath.Join(t.TempDir(), "a.db"), Readers: 1, Idle: 1}, nil)
	ask(t, w, wire.TypePrepare, one("SELECT 1"), &prepared)
	ask(t, w, wire.TypeMeasure, wire.Measure{Operation: "one", Operations: 3, Phases: true}, &measured)
	counts := map[string]int64{}
	for _, phase := range measured.Phases {
		counts[phase.Name] = phase.Count
	}
	if want := map[string]int64{"bind": 3, "next": 6, "scan": 3, "close-rows": 3}; !maps.Equal(counts, want) || prepared.QueryPlan != "SCAN CONSTANT ROW" {
		t.Errorf("phases %v, want %v; plan %q, want SCAN CONSTANT ROW", counts, want, prepared.QueryPlan)
	}
}

// An option that the driver's own flags override, and one that is misspelt, do
// not show in what the build says of itself.
func TestOptionThatDoesNotArrive(t *testing.T) {
	quickly(t)
	target := hello(t, built(t, checkout(t), "mattn:DQS=0:NO_SUCH_THING=1:THREADSAFE=0"))
	for option, want := range map[string]bool{"DQS=0": true, "THREADSAFE=0": false, "THREADSAFE=1": true, "NO_SUCH_THING=1": false} {
		if slices.Contains(target.CompileOptions, option) != want {
			t.Errorf("%s in the build: %t; it says %q", option, !want, target.CompileOptions)
		}
	}
}

// documentedSpec matches a build with compile options of a driver written with
// cgo, as documents write it.
var documentedSpec = regexp.MustCompile(`\b(?:mattn|crawshaw|eatonphil|sqlite-c)(?:@[a-z0-9.-]+)?(?::[A-Z][A-Z0-9_]*(?:=[A-Za-z0-9_]+)?|:recommended)+`)

// Every set of compile options that the documents name compiles, links, and is
// what the build says of itself; and so does one option that needs the
// mathematical library.
func TestOptionsInDocuments(t *testing.T) {
	quickly(t)
	b := checkout(t)
	specs := map[string]bool{"mattn:ENABLE_FTS5": true}
	pages, err := filepath.Glob(filepath.Join(b.Source.Dir, "docs", "*.md"))
	must(t, err)
	for _, page := range append(pages, filepath.Join(b.Source.Dir, "README.md")) {
		text, err := os.ReadFile(page)
		must(t, err)
		for _, spec := range documentedSpec.FindAllString(string(text), -1) {
			specs[spec] = true
		}
	}
	if !specs["mattn:recommended"] || len(specs) < 4 {
		t.Fatalf("the documents name %v, want mattn:recommended and two more", specs)
	}
	for spec := range specs {
		t.Run(spec, func(t *testing.T) {
			w := built(t, b, spec)
			says := hello(t, w).CompileOptions
			for _, option := range sqlite.CompileOptions(w.Options) {
				// The driver's own flags settle THREADSAFE; LIKE_DOESNT_MATCH_BLOBS,
				// OMIT_* and the like are shown as they are.
				if !slices.Contains(says, option) && !strings.HasPrefix(option, "THREADSAFE=") {
					t.Errorf("%s is not in the build; it says %q", option, says)
				}
			}
		})
	}
}

func TestOptionsWithoutC(t *testing.T) {
	spec, err := ParseSpec("modernc:DQS=0")
	must(t, err)
	if _, err := checkout(t).Build(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "modernc is not written with cgo") {
		t.Error(err)
	}
}

// Layouts are programs that differ and say the same of themselves.
func TestLayouts(t *testing.T) {
	b := checkout(t)
	w, err := b.BuildLayouts(t.Context(), Spec{Name: "modernc"}, 2)
	if err != nil || len(w.Layouts) != 2 || w.FixedLayout != "" {
		t.Fatalf("%+v, %v", w, err)
	}
	first, err := os.ReadFile(w.Layouts[0])
	must(t, err)
	second, err := os.ReadFile(w.Layouts[1])
	if err != nil || string(first) == string(second) {
		t.Errorf("the layouts are alike, %v", err)
	}
	one := hello(t, Worker{Program: w.Layouts[0]})
	if other := hello(t, Worker{Program: w.Layouts[1]}); one.Facts["source_id"] != other.Facts["source_id"] {
		t.Errorf("%v, %v", one, other)
	}
	if w, err := b.BuildLayouts(t.Context(), Spec{Name: "mattn"}, 1); err != nil || w.FixedLayout != "its C code" {
		t.Errorf("mattn: %q, %v", w.FixedLayout, err)
	}
	if w, err := b.BuildLayouts(t.Context(), Spec{Name: "sqlite-c"}, 1); err != nil || len(w.Layouts) != 0 || w.FixedLayout == "" {
		t.Errorf("sqlite-c: %v, %v", w, err)
	}
}
