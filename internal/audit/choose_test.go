package audit_test

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/audit"
	"assay/published"

	"github.com/google/go-cmp/cmp"
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
		must(t, err)
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
	for _, want := range []string{"Runs: new old.", "| driver=a | driver=b | faster | - | 0.667 [0.667, 0.667], n = 6, of earlier builds or an earlier assay |",
		"| driver=a | driver=c | faster | - | 0.501 [0.5, 0.502], n = 6, look 2, 99 % CI |"} {
		if out := printed(t, f); !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// A row of the table has the runs of its own comparison, and the command where it is open.
func TestRowsOfComparisons(t *testing.T) {
	c := asked("c", "p", "a", "b", "c", "d")
	f := judge(t, published.Source{}, c, ages(reported(t, "new", map[string]assay.Trial{"a": trial(1000, "g"), "c": trial(2000, "h")}),
		reported(t, "old", map[string]assay.Trial{"a": trial(1000, "g"), "b": trial(2000, "g")})))
	var out bytes.Buffer
	must(t, audit.Formats.Write(&out, "csv", []audit.Finding{f}))
	rows, err := csv.NewReader(&out).ReadAll()
	must(t, err)
	var got [][]string
	for _, row := range rows[1:] {
		got = append(got, []string{row[slices.Index(rows[0], "b")], row[slices.Index(rows[0], "run")], row[slices.Index(rows[0], "command")]})
	}
	want := [][]string{{"operation=scan driver=b", "old", ""}, {"operation=scan driver=c", "new", ""},
		{"operation=scan driver=d", "new", "assay run p --only driver=a,d --only operation=scan"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if text := printed(t, f); strings.Contains(text, "measures both in turn") {
		t.Errorf("what is open has launches with what it is compared with, and is said to be launched in turn, in\n%s", text)
	}
}

// What failed, or was not supported, under an earlier assay or with earlier builds may pass now;
// what the newest say is settled. A comparison that fails hides none that can still be told.
func TestEarlierEndsAreOpen(t *testing.T) {
	end := func(id string, o assay.Outcome) *analysis.Result {
		return reported(t, id, map[string]assay.Trial{"a": trial(1000, "g"), "b": {Group: "g", Outcome: o, Reason: "no", Cell: assay.Cell{AsPublished: true}}})
	}
	other := func(id string) *analysis.Result {
		return reported(t, id, map[string]assay.Trial{"a": trial(1000, "g")})
	}
	for name, c := range map[string]struct {
		ages    []*analysis.Result
		claim   published.Claim
		want    audit.Verdict
		drivers string // that are measured again; empty: none
	}{
		"failed now":                      {[]*analysis.Result{end("new", assay.Failed)}, asked("c", "p", "a", "b"), audit.Broken, ""},
		"failed before":                   {[]*analysis.Result{other("new"), end("old", assay.Failed)}, asked("c", "p", "a", "b"), audit.Broken, "driver=a,b"},
		"unsupported now":                 {[]*analysis.Result{end("new", assay.Unsupported)}, asked("c", "p", "a", "b"), audit.Unknown, ""},
		"unsupported before":              {[]*analysis.Result{other("new"), end("old", assay.Unsupported)}, asked("c", "p", "a", "b"), audit.Unknown, "driver=a,b"},
		"ignored now":                     {[]*analysis.Result{end("new", assay.NotApplied)}, asked("c", "p", "a", "b"), audit.NoEffect, ""},
		"ignored before":                  {[]*analysis.Result{other("new"), end("old", assay.NotApplied)}, asked("c", "p", "a", "b"), audit.NoEffect, "driver=a,b"},
		"failed, and one is not measured": {[]*analysis.Result{end("new", assay.Failed)}, asked("c", "p", "a", "b", "c"), audit.Broken, "driver=a,c"},
	} {
		f := judge(t, published.Source{}, c.claim, ages(c.ages...))
		command := "assay run p --only " + c.drivers + " --only operation=scan\n"
		if got := printed(t, f); f.Verdict != c.want || strings.Contains(got, command) != (c.drivers != "") || strings.Contains(got, "still open") != (c.drivers != "") {
			t.Errorf("%s: got %s, want %s and a command with %q, in\n%s", name, f.Verdict, c.want, c.drivers, got)
		}
	}
}

// How often earlier runs looked at a comparison counts, and how many launches of a row failed is said.
func TestLooksOfEarlierRuns(t *testing.T) {
	newest, old := reported(t, "new", map[string]assay.Trial{"a": trial(1000, "g"), "b": trial(2000, "g")}), reported(t, "old", map[string]assay.Trial{"a": trial(1000, "g"), "b": trial(2000, "g")})
	lacks := reported(t, "lacks", map[string]assay.Trial{"a": trial(1000, "g")})
	for name, c := range map[string]struct {
		ages []*analysis.Result
		want int
	}{
		"one":                        {[]*analysis.Result{newest}, 1},
		"an earlier one":             {[]*analysis.Result{newest, old}, 2},
		"two earlier ones":           {[]*analysis.Result{newest, old, old}, 3},
		"one that lacks one":         {[]*analysis.Result{newest, lacks}, 1},
		"a later one that lacks one": {[]*analysis.Result{lacks, newest, old}, 2},
	} {
		f := judge(t, published.Source{}, claim(published.Faster, 0), ages(c.ages...))
		level := 0.95
		if c.want > 1 {
			level = 1 - 0.04/float64(c.want*c.want)
		}
		if e := f.Evidence[0]; e.Looks != c.want || e.Here.Level != level {
			t.Errorf("%s: got %d looks, level %v; want %d, %v", name, e.Looks, e.Here.Level, c.want, level)
		}
	}
}

// Runs that have a comparison in launches of one run come before newer ones in which each cell
// is of another, and those with any launches of both before those with none.
func TestWorthOfRuns(t *testing.T) {
	of := func(id, runOfB string, launches int) *analysis.Result {
		run := assay.Run{ID: id, Plan: "p", Baseline: assay.ParseBaseline("a@v1"), Targets: []assay.Target{{Driver: "a", DriverVersion: "v1"}}}
		r, err := listed(t, run, append(cellTrials("a", launches, 1000, nil), cellTrials("b", launches, 2000, func(t *assay.Trial) { t.Run, t.Group = runOfB, "h" })...))("p", 0)
		must(t, err)
		return r
	}
	lacks := reported(t, "lacks", map[string]assay.Trial{"a": trial(1000, "g")})
	run := assay.Run{ID: "versions", Plan: "p", Baseline: assay.ParseBaseline("a@v1")}
	versions, err := listed(t, run, slices.Concat(cellTrials("a", 6, 1000, nil), cellTrials("b", 6, 2000, nil),
		cellTrials("a", 6, 1000, func(t *assay.Trial) { t.Cell.DriverVersion = "v0" })))("p", 0)
	must(t, err)
	for name, c := range map[string]struct {
		ages []*analysis.Result
		want string
	}{
		"two versions of one":         {[]*analysis.Result{versions, of("one", "", 6)}, "one"},
		"of two runs, of one":         {[]*analysis.Result{of("apart", "r2", 6), of("one", "", 6)}, "one"},
		"of two runs, of none":        {[]*analysis.Result{of("apart", "r2", 6), lacks}, "apart"},
		"one lacks one, two launches": {[]*analysis.Result{lacks, of("two", "", 2)}, "two"},
		"two launches, of two runs":   {[]*analysis.Result{of("two", "", 2), of("apart", "r2", 6)}, "apart"},
	} {
		source := published.Source{Versions: map[string]string{"b": "v1"}} // that of a is not stated
		if f := judge(t, source, claim(published.Faster, 0), ages(c.ages...)); f.Evidence[0].Report.Run.ID != c.want {
			t.Errorf("%s: got the run %s, want %s", name, f.Evidence[0].Report.Run.ID, c.want)
		}
	}
}
