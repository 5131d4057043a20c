package analysis_test

import (
	"math"
	"slices"
	"testing"

	"assay"
	"assay/internal/analysis"
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

// What is used is shown: nobody else can lead as often, whatever is still undecided. Else the
// class leans to the one that is ahead, or its candidates hardly differ.
func TestKindsOfAnswer(t *testing.T) {
	// reads are launches of two drivers by operation, the second so many times as slow; wide
	// ones spread so far that they are undecided.
	reads := func(ratios map[string]float64, wide ...string) []assay.Trial {
		var trials []assay.Trial
		for operation, ratio := range ratios {
			for i, driver := range []string{"modernc", "mattn"} {
				trials = append(trials, analysistest.Change(analysistest.Launches(analysistest.Cell(operation, driver, "web"), 6, 1000*math.Pow(ratio, float64(i)), i), func(t *assay.Trial) {
					if i == 1 && slices.Contains(wide, operation) {
						t.Figures[assay.NsPerOp] *= []float64{0.7, 1.4}[t.Launch%2]
					}
				})...)
			}
		}
		return trials
	}
	for name, c := range map[string]struct {
		trials []assay.Trial
		shown  bool
	}{
		"all are decided":           {reads(map[string]float64{"a": 1.2, "b": 1.2, "c": 1.2}), true},
		"one cannot change it":      {reads(map[string]float64{"a": 1.2, "b": 1.2, "c": 1.1}, "c"), true},
		"two can":                   {reads(map[string]float64{"a": 1.2, "b": 1.1, "c": 1.1}, "b", "c"), false},
		"one can, as another leads": {reads(map[string]float64{"a": 1.2, "b": 0.8, "c": 1.1}, "c"), false},
	} {
		a := mustReport(t, analysistest.PlainRun, c.trials).Answer()
		if shown, leaning := len(a.Picks) == 1, len(a.Leaning) == 1; shown != c.shown || leaning == c.shown {
			t.Errorf("%s: got shown %v, leaning %v; want shown %v", name, shown, leaning, c.shown)
			continue
		}
		if lead := a.Lead(); lead == nil || lead.Driver != "modernc" {
			t.Errorf("%s: got %v in the lead, want modernc", name, lead)
		}
		if !c.shown && !(a.Leaning[0].Chance > 0.01 && a.Leaning[0].Chance < 0.99) {
			t.Errorf("%s: got odds of %g that nothing is faster, want some of both", name, a.Leaning[0].Chance)
		}
		if !c.shown && a.Leaning[0].Close() {
			t.Errorf("%s: got too close to matter, want that it may", name)
		}
	}
	near := analysistest.Change(reads(map[string]float64{"a": 1.01, "b": 1.01}), func(t *assay.Trial) {
		if t.Cell.Driver == "mattn" {
			t.Figures[assay.NsPerOp] *= []float64{0.98, 1.02}[t.Launch%2]
		}
	})
	a := mustReport(t, analysistest.PlainRun, near).Answer()
	if len(a.Leaning) != 1 || !a.Leaning[0].Close() || !(a.Leaning[0].Apart > 1.01 && a.Leaning[0].Apart < 1.1) || len(a.Near) != 2 || len(a.Open) > 0 {
		t.Errorf("got %+v, %d near and %d open tables; want candidates and two tables too close to matter", a.Leaning, len(a.Near), len(a.Open))
	}
}

// Where the pick has no figure in a table of its class, nothing bounds what it costs there.
func TestLossNeedsAllTables(t *testing.T) {
	var trials []assay.Trial
	for i, operation := range []string{"get", "scan", "app"} {
		for j, driver := range []string{"mattn", "modernc", "glebarez"} {
			if operation == "app" && driver == "mattn" {
				continue
			}
			trials = append(trials, analysistest.Launches(analysistest.Cell(operation, driver, "web"), 6, float64(1000+1000*j), 1+i+j)...)
		}
	}
	for name, test := range map[string]struct {
		trials []assay.Trial
		known  bool
	}{"without one table": {trials, false}, "in all": {slices.DeleteFunc(slices.Clone(trials), func(t assay.Trial) bool { return t.Cell.Operation == "app" }), true}} {
		s := mustReport(t, analysistest.PlainRun, test.trials).Suggestions[0]
		if got := s.Best[0].Row.Name(); got != "mattn (web)" || math.IsNaN(s.Loss) == test.known {
			t.Errorf("%s: got %s with a loss of at most %g; want mattn (web), with a bound %t", name, got, s.Loss, test.known)
		}
	}
}

// A setting that one connection lacks is not applied.
func TestJoinedConnections(t *testing.T) {
	got := analysis.JoinConnections([]assay.Setting{{Name: "busy_timeout", Connection: "reader-1", Requested: "5000", Effective: "5000", Applied: true},
		{Name: "busy_timeout", Connection: "writer-1", Requested: "5000", Effective: "0"}})
	if len(got) != 1 || got[0].Applied {
		t.Errorf("got %+v, want one entry that is not applied", got)
	}
}

// A figure of no program is no effect of clients, processes or rates.
func TestBusyByDefaultChangesNothing(t *testing.T) {
	for timeout, want := range map[string]int{"0": 0, "5000": 1} {
		var trials []assay.Trial
		for _, clients := range []int{1, 4} {
			cell := analysistest.Cell("app", "modernc", "web")
			cell.Clients = clients
			trials = append(trials, analysistest.Change(analysistest.Launches(cell, 6, 2000, 1), func(t *assay.Trial) {
				t.Figures[assay.OpPerS] = 1e9 / t.Figures[assay.NsPerOp]
				if t.Cell.Clients == 4 {
					t.Figures[assay.BusyOp] = 0.02
					t.Settings = []assay.Setting{{Name: "busy_timeout", Connection: "writer-1", Effective: timeout}}
				}
			})...)
		}
		got := mustReport(t, analysistest.PlainRun, trials).Changes(assay.OpPerS, func(c *assay.Cell) { c.Clients, c.Pool = 0, 0 })
		if len(got) != want {
			t.Errorf("busy_timeout=%s: got %d changes, want %d", timeout, len(got), want)
		}
	}
}
