package analysis

import (
	"testing"
	"time"

	"assay"
	"assay/internal/stat"
)

// Rows of two tables are judged by the smaller margin and the louder noise, whichever is
// the first.
func TestRuleOfTwoTables(t *testing.T) {
	a, b := &Row{Table: &Table{Margin: 0.01, Systematic: 0.03}}, &Row{Table: &Table{Margin: 0.02, Systematic: 0.01}}
	want := stat.Rule{Margin: 0.01, Noise: 0.03}
	if ab, ba := a.Rule(b), b.Rule(a); ab != want || ba != want {
		t.Errorf("got %+v and, the other way round, %+v; want %+v", ab, ba, want)
	}
}

// Pairs name their members, by which a run's tables show who varies more than others.
func TestPairsNameTheirMembers(t *testing.T) {
	table := &Table{}
	row := func(driver string) *Row {
		r := &Row{Table: table, Driver: driver}
		r.Cell = assay.Cell{Driver: driver, Profile: "web"}
		for launch := 1; launch <= 2; launch++ {
			r.Trials = append(r.Trials, newTrial(&assay.Trial{Launch: launch, Outcome: assay.OK, Figures: map[string]float64{assay.NsPerOp: 1000}}, nil))
		}
		return r
	}
	if got, want := row("a").pairs(row("b"), assay.NsPerOp), [2]string{"a (web)", "b (web)"}; got.N != 2 || got.Members != want {
		t.Errorf("got %d pairs of %q, want 2 of %q", got.N, got.Members, want)
	}
}

// Launches are of one time where both spans together are at most twice the shorter one.
func TestSameTime(t *testing.T) {
	row := func(from, to int64) *Row {
		r := &Row{}
		for _, at := range []int64{from, to} {
			r.Trials = append(r.Trials, newTrial(&assay.Trial{Outcome: assay.OK, Started: time.Unix(at, 0)}, nil))
		}
		return r
	}
	for _, c := range []struct {
		a, b *Row
		want bool
	}{
		{row(0, 10), row(0, 10), true}, {row(0, 10), row(10, 20), true}, {row(0, 10), row(11, 21), false}, {row(0, 10), row(5, 30), false},
	} {
		if ab, ba := c.a.SameTime(c.b), c.b.SameTime(c.a); ab != c.want || ba != c.want {
			t.Errorf("%v and %v: got %t and %t, want %t", c.a.Trials, c.b.Trials, ab, ba, c.want)
		}
	}
}

// The first launches of two runs are two.
func TestLaunchTimeOfTwoRuns(t *testing.T) {
	row := &Row{}
	for _, run := range []string{"a", "b"} {
		row.Trials = append(row.Trials, newTrial(&assay.Trial{Run: run, Launch: 1, Outcome: assay.OK, Took: 10 * time.Second}, nil))
	}
	if got := launchTime([]*Row{row}); got != 10*time.Second {
		t.Errorf("got %s for a launch, want 10s", got)
	}
}

// Rows of each kind make a run fail, but for those that were published so.
func TestFailed(t *testing.T) {
	row := &Row{Outcome: assay.Failed}
	for name, table := range map[string]*Table{"rows": {Rows: []*Row{row}}, "twins": {Twins: []*Row{row}}, "factors": {Factors: []*Row{row}}, "whole profiles beside them": {bases: []*Row{row}}} {
		for _, published := range []bool{false, true} {
			row.Cell.AsPublished = published
			if got := (&Result{Tables: []*Table{table}}).Failed(); got == published {
				t.Errorf("%s, as published %t: got failed %t, want %t", name, published, got, !published)
			}
		}
	}
}
