package analysis_test

import (
	"slices"
	"testing"

	"assay"
	"assay/internal/analysis/analysistest"
)

// What promises other durability is not counted, not in reads either: each class of
// durability has a suggestion of its own, which names what it was not compared with.
func TestSuggestionsOfClasses(t *testing.T) {
	type of struct {
		driver, profile string
		class           assay.Durability
		put, get        float64
	}
	var trials []assay.Trial
	for _, c := range []of{
		{"mattn", "web", assay.Consistent, 10, 1000}, {"modernc", "web", assay.Consistent, 12, 1500},
		{"mattn", "default", assay.LastCommit, 800, 2000}, {"modernc", "default", assay.LastCommit, 700, 1900},
		{"mattn", "full", assay.Power, 900, 500},
	} {
		trials = append(trials, analysistest.Durable(analysistest.Launches(analysistest.Cell("put", c.driver, c.profile), 6, c.put, 1), c.class, "1")...)
		trials = append(trials, analysistest.Launches(analysistest.Cell("get", c.driver, c.profile), 6, c.get, 1)...)
	}
	type said struct {
		class          assay.Durability
		best           string
		leads, decided int
		others         int
	}
	var got []said
	for _, s := range mustReport(t, analysistest.PlainRun, trials).Suggestions {
		got = append(got, said{s.Durability, s.Best[0].Row.Name(), s.Leads, s.Decided, len(s.Others)})
	}
	want := []said{{assay.LastCommit, "modernc (default)", 2, 2, 2}, {assay.Consistent, "mattn (web)", 2, 2, 2}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// What is refused because its driver does not wait has no rank and no ratio; what waits, and
// is refused as often, has both.
func TestBusyByDefaultIsNotRanked(t *testing.T) {
	for timeout, want := range map[string]int{"0": 0, "5000": 2} {
		slow := analysistest.Change(analysistest.Launches(analysistest.Cell("app", "modernc", "web"), 6, 2000, 1), func(t *assay.Trial) {
			t.Figures[assay.BusyOp] = 0.02
			t.Settings = []assay.Setting{{Name: "busy_timeout", Connection: "writer-1", Effective: timeout}, {Name: "busy_timeout", Connection: "reader-1", Effective: "5000"}}
		})
		rows := rowsOf(t, mustReport(t, analysistest.PlainRun, slices.Concat(analysistest.Launches(analysistest.Cell("app", "mattn", "web"), 6, 1000, 1), slow)))
		row := rows["modernc (web)"]
		if row.Rank != want || row.BusyByDefault != (want == 0) || row.Comparable() != (want > 0) {
			t.Errorf("busy_timeout=%s: got rank %d, busy by default %t; want rank %d", timeout, row.Rank, row.BusyByDefault, want)
		}
	}
}
