package lab

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"assay"
	"assay/internal/build"
	"assay/internal/runner"

	"github.com/google/go-cmp/cmp"
)

// A build that the compiler refuses is failed, and one that is impossible here
// unsupported.
func TestOutcomeOfABuild(t *testing.T) {
	dir, err := filepath.Abs("../..")
	must(t, err)
	of := func(driver string) assay.Case { return assay.Case{Cell: assay.Cell{Driver: driver}} }
	failed := map[string]error{
		"mattn":   fmt.Errorf("compile: %w", build.ErrNotCompiled),
		"modernc": errors.New("no C compiler"),
	}
	known, err := build.Source{Dir: dir}.Drivers()
	must(t, err)
	all := &built{known: known, programs: map[string]runner.Program{"null": {}}, failed: failed}
	w, err := all.leaveOut([]assay.Case{of("mattn"), of("modernc"), of("null")})
	must(t, err)
	got := map[string]assay.Outcome{}
	for _, trial := range w.unbuilt {
		got[trial.Cell.Driver] = trial.Outcome
	}
	want := map[string]assay.Outcome{"mattn": assay.Failed, "modernc": assay.Unsupported}
	if diff := cmp.Diff(want, got); diff != "" || len(w.cases) != 1 {
		t.Errorf("%d cases are left, want one; outcomes (-want +got)\n%s", len(w.cases), diff)
	}
}

// A worker is what its driver is.
func TestCautionOfAProgram(t *testing.T) {
	known := []build.Driver{{Name: "old", Caution: "not maintained"}, {Name: "new"}}
	for name, want := range map[string]string{"old": "not maintained", "new": "", "other": ""} {
		if got := program(build.Worker{Name: name}, known, false).Caution; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// A run without any worker is a mistake of who asked for it only where no machine can
// build one.
func TestNoWorker(t *testing.T) {
	impossible, here := &build.SpecError{Err: errors.New("no such version")}, errors.New("no C compiler")
	for _, c := range []struct {
		failed map[string]error
		input  bool
	}{
		{map[string]error{"mattn@v1.99.0": impossible}, true},
		{map[string]error{"mattn@v1.99.0": impossible, "modernc": here}, false},
		{map[string]error{"modernc": here}, false},
	} {
		if err := (workers{failed: c.failed}).none(); err == nil || errors.As(err, new(*InputError)) != c.input {
			t.Errorf("%v: got %v, want an InputError: %t", c.failed, err, c.input)
		}
	}
}

// Drivers that are compared get several link layouts where the links are cheap beside the
// measuring; several builds of a driver always do.
func TestLayoutsByCost(t *testing.T) {
	cases := func(drivers ...string) []assay.Case {
		var all []assay.Case
		for _, d := range drivers {
			name := assay.ParseDriverName(d)
			all = append(all, assay.Case{Cell: assay.Cell{Driver: name.Name, DriverVersion: name.Version}})
		}
		return all
	}
	links := func(n int) time.Duration {
		return time.Duration(float64(n*variedLayouts) * float64(linkTime) / linkShare / float64(runtime.NumCPU()))
	}
	for name, test := range map[string]struct {
		cases  []assay.Case
		budget time.Duration
		want   int
	}{
		"one driver":              {cases("a"), time.Hour, 0},
		"two, no budget":          {cases("a", "b"), 0, 0},
		"two, too little":         {cases("a", "b"), links(2) - time.Second, 0},
		"two, enough":             {cases("a", "b"), links(2) + time.Second, variedLayouts},
		"three need more":         {cases("a", "b", "c"), links(2) + time.Second, 0},
		"two builds, no budget":   {cases("a@v1.0.0", "a@v1.1.0"), 0, variedLayouts},
		"another than the builds": {cases("b@v1.0.0", "b@v1.1.0", "a"), 0, 0},
	} {
		if got := layouts(test.cases, "a", test.budget); got != test.want {
			t.Errorf("%s: got %d layouts, want %d", name, got, test.want)
		}
	}
}
