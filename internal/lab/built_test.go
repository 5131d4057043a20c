package lab

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"assay"
	"assay/internal/build"
	"assay/internal/runner"
)

// A build that the compiler refuses is failed, and one that is impossible here
// unsupported.
func TestOutcomeOfABuild(t *testing.T) {
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	of := func(driver string) assay.Case { return assay.Case{Cell: assay.Cell{Driver: driver}} }
	r := &run{cases: []assay.Case{of("mattn"), of("modernc"), of("null")}}
	failed := map[string]error{
		"mattn":   fmt.Errorf("compile: %w", build.ErrNotCompiled),
		"modernc": errors.New("no C compiler"),
	}
	b := &build.Builder{Source: build.Source{Dir: dir}}
	if err := r.leaveOut(b, &built{programs: map[string]runner.Program{"null": {}}, failed: failed}); err != nil {
		t.Fatal(err)
	}
	got := map[string]assay.Outcome{}
	for _, trial := range r.done {
		got[trial.Cell.Driver] = trial.Outcome
	}
	want := map[string]assay.Outcome{"mattn": assay.Failed, "modernc": assay.Unsupported}
	if fmt.Sprint(got) != fmt.Sprint(want) || len(r.cases) != 1 {
		t.Errorf("got %v and %d cases left, want %v and one", got, len(r.cases), want)
	}
}
