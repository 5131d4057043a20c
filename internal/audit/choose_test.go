package audit_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/audit"
	"assay/published"
)

// A comparison is judged by the newest runs that have both of its cells in enough launches: what
// was measured anew of other cells, or too briefly, undoes nothing.
func TestNewestRunsWithBothCells(t *testing.T) {
	of := func(id string, drivers ...string) *analysis.Result {
		cells := map[string]assay.Trial{}
		for i, driver := range drivers {
			cells[driver] = trial(float64(1000*(i+1)), "g")
		}
		return reported(t, id, cells)
	}
	brief := func(id string) *analysis.Result {
		run := assay.Run{ID: id, Plan: "p", Baseline: assay.ParseBaseline("a@v1"), Targets: []assay.Target{{Driver: "a", DriverVersion: "v1"}}}
		r, err := listed(t, run, append(cellTrials("a", 2, 1000, nil), cellTrials("b", 2, 1000, nil)...))("p", 0)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	failed := reported(t, "new", map[string]assay.Trial{"a": trial(1000, "g"), "b": {Group: "g", Outcome: assay.Failed, Reason: "no"}})
	for name, c := range map[string]struct {
		ages []*analysis.Result // the newest first
		want string
		told audit.Verdict
	}{
		"the newest has both":         {[]*analysis.Result{of("new", "a", "b"), of("old", "b", "a")}, "new", audit.Holds},
		"the newest lacks one":        {[]*analysis.Result{of("new", "a"), of("old", "a", "b")}, "old", audit.Holds},
		"the two newest lack one":     {[]*analysis.Result{of("new", "a"), of("old", "b"), of("oldest", "a", "b")}, "oldest", audit.Holds},
		"the newest has two launches": {[]*analysis.Result{brief("new"), of("old", "a", "b")}, "old", audit.Holds},
		"one fails in the newest":     {[]*analysis.Result{failed, of("old", "a", "b")}, "new", audit.Broken},
		"all lack one":                {[]*analysis.Result{of("new", "a"), of("old", "b")}, "new", audit.Unknown},
	} {
		f := judge(t, published.Source{}, claim(published.Faster, 0), ages(c.ages...))
		if f.Evidence[0].Report.Run.ID != c.want || f.Verdict != c.told {
			t.Errorf("%s: got %s by run %s (%s), want %s by %s", name, f.Verdict, f.Evidence[0].Report.Run.ID, f.Reason, c.told, c.want)
		}
	}
}

// Each comparison of a claim has the newest runs of its own cells, and the claim names the runs of all.
func TestRunsOfEachComparison(t *testing.T) {
	of := func(id string, started int64, drivers ...string) *analysis.Result {
		cells := map[string]assay.Trial{}
		for i, driver := range drivers {
			cells[driver] = trial(float64(1000*(i+1)), "g")
		}
		r := reported(t, id, cells)
		r.Run.Started = time.Unix(started, 0)
		return r
	}
	c := asked("c", "p", "a", "b", "c")
	f := judge(t, published.Source{}, c, ages(of("new", 200, "a", "c"), of("old", 100, "c", "a", "b")))
	var got []string
	for _, e := range f.Evidence {
		got = append(got, e.Report.Run.ID+": "+string(e.Verdict))
	}
	if want := []string{"old: holds here", "new: holds here"}; !slices.Equal(got, want) || f.Verdict != audit.Holds {
		t.Errorf("got %q and that the claim %s, want %q and that it holds", got, f.Verdict, want)
	}
	if out := printed(t, f); !strings.Contains(out, "Runs: new old.") {
		t.Errorf("no runs of both comparisons, the newest first, in\n%s", out)
	}
}
