package lab

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

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
	all := &built{programs: map[string]runner.Program{"null": {}}, failed: failed}
	w, err := all.leaveOut([]assay.Case{of("mattn"), of("modernc"), of("null")}, known)
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
