package audit_test

import (
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/audit"
	"assay/published"
)

// A claim is judged by the newest runs that have all of its cells in enough launches: what was
// measured anew of other cells, or too briefly, undoes nothing.
func TestNewestRunsWithAllCells(t *testing.T) {
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
		"the newest has all":          {[]*analysis.Result{of("new", "a", "b"), of("old", "b", "a")}, "new", audit.Holds},
		"the newest lacks one":        {[]*analysis.Result{of("new", "a"), of("old", "a", "b")}, "old", audit.Holds},
		"the two newest lack one":     {[]*analysis.Result{of("new", "a"), of("old", "b"), of("oldest", "a", "b")}, "oldest", audit.Holds},
		"the newest has two launches": {[]*analysis.Result{brief("new"), of("old", "a", "b")}, "old", audit.Holds},
		"one fails in the newest":     {[]*analysis.Result{failed, of("old", "a", "b")}, "new", audit.Unknown},
		"all lack one":                {[]*analysis.Result{of("new", "a"), of("old", "b")}, "new", audit.Unknown},
	} {
		f := judge(t, published.Source{}, claim(published.Faster, 0), ages(c.ages...))
		if f.Report.Run.ID != c.want || f.Verdict != c.told {
			t.Errorf("%s: got %s by run %s (%s), want %s by %s", name, f.Verdict, f.Report.Run.ID, f.Reason, c.told, c.want)
		}
	}
}
