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
	if err != nil {
		t.Fatal(err)
	}
	of := func(driver string) assay.Case { return assay.Case{Cell: assay.Cell{Driver: driver}} }
	failed := map[string]error{
		"mattn":   fmt.Errorf("compile: %w", build.ErrNotCompiled),
		"modernc": errors.New("no C compiler"),
	}
	known, err := build.Source{Dir: dir}.Drivers()
	if err != nil {
		t.Fatal(err)
	}
	all := &built{programs: map[string]runner.Program{"null": {}}, failed: failed}
	w, err := all.leaveOut([]assay.Case{of("mattn"), of("modernc"), of("null")}, known)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]assay.Outcome{}
	for _, trial := range w.unbuilt {
		got[trial.Cell.Driver] = trial.Outcome
	}
	want := map[string]assay.Outcome{"mattn": assay.Failed, "modernc": assay.Unsupported}
	if diff := cmp.Diff(want, got); diff != "" || len(w.cases) != 1 {
		t.Errorf("%d cases are left, want one; outcomes (-want +got)\n%s", len(w.cases), diff)
	}
}
