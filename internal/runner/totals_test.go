//go:build unix

package runner

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay"
)

// A launch of a sum is the sum of what the launch of the same number measured of each
// operation; where one is missing there is none.
func TestTotals(t *testing.T) {
	total := assay.Case{Cell: assay.Cell{Operation: "total", Driver: "d", Clients: 1, Profile: "p"}}
	part := func(name string, launch int, twin bool, ns float64, outcome assay.Outcome) assay.Trial {
		trial := assay.Trial{Cell: assay.Cell{Operation: name, Driver: "d", Clients: 1, Profile: "p", Transaction: 5}, Launch: launch, Twin: twin, Outcome: outcome,
			Figures: map[string]float64{}, Checked: assay.CheckState, Reason: "why"}
		if outcome == assay.OK {
			trial.Figures[assay.NsPerOp] = ns
		}
		return trial
	}
	for _, name := range []string{"a", "b"} {
		total.Operation.Terms = append(total.Operation.Terms, assay.Term{Operation: name, Peer: part(name, 1, false, 1, assay.OK).Cell.Peer(), Times: 10})
	}
	total.Operation.Terms[1].Times = 3
	for _, c := range []struct {
		name   string
		trials []assay.Trial
		want   string
	}{
		{"launches that both have", []assay.Trial{part("a", 1, false, 7, assay.OK), part("b", 1, false, 100, assay.OK), part("a", 2, false, 8, assay.OK), part("b", 2, false, 200, assay.OK),
			part("a", 3, false, 9, assay.OK), part("a", 1, true, 1, assay.OK), part("b", 1, true, 2, assay.OK)},
			"[1:ok:370 2:ok:680] [1:ok:16]"},
		{"another target's", []assay.Trial{part("a", 1, false, 7, assay.OK), {Cell: assay.Cell{Operation: "b", Driver: "e", Clients: 1, Profile: "p", Transaction: 5}, Launch: 1}}, "[0:not-run:0] []"},
		{"one failed", []assay.Trial{part("a", 1, false, 7, assay.OK), part("b", 1, false, 100, assay.WrongAnswer)}, "[1:wrong-answer:0] []"},
		{"one cannot be measured", []assay.Trial{part("a", 1, false, 7, assay.OK), part("b", 0, false, 0, assay.Unsupported)}, "[0:unsupported:0] []"},
		{"nothing yet", nil, "[0:not-run:0] []"},
	} {
		var s totals
		s.add(total)
		for _, trial := range c.trials {
			s.note(trial)
		}
		show := func(trials []assay.Trial) []string {
			all := []string{}
			for _, trial := range trials {
				all = append(all, fmt.Sprintf("%d:%s:%g", trial.Launch, trial.Outcome, trial.Figures[assay.NsPerOp]))
			}
			return all
		}
		if got := fmt.Sprint(show(s.of(total, false)), show(s.of(total, true))); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// What is disturbed in one operation is disturbed in the sum, and a sum that a resumed
// run has is not emitted again.
func TestTotalsOfAResumedRun(t *testing.T) {
	var emitted []assay.Trial
	r := &Runner{config: Config{Emit: func(trial assay.Trial) error { emitted = append(emitted, trial); return nil }}}
	total := assay.Case{Cell: assay.Cell{Operation: "total"}, Operation: assay.Operation{Terms: []assay.Term{{Operation: "a", Peer: assay.Cell{Operation: "a"}.Peer(), Times: 2}}}}
	r.totals.add(total)
	for launch := range 3 {
		trial := assay.Trial{Cell: assay.Cell{Operation: "a"}, Launch: launch + 1, Outcome: assay.OK, Disqualified: launch == 2, Figures: map[string]float64{assay.NsPerOp: 5}}
		r.totals.note(trial)
	}
	r.totals.note(assay.Trial{Cell: total.Cell, Launch: 1, Outcome: assay.OK})
	if err := r.sumUp(true); err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, trial := range emitted {
		got = append(got, fmt.Sprint(trial.Launch, trial.Disqualified))
	}
	if want := []string{"2 false", "3 true"}; !slices.Equal(got, want) {
		t.Errorf("emitted %v, want %v", got, want)
	}
}

// Sums appear with each round, not at the end of the run alone: whoever looks at a run
// that goes on sees them.
func TestTotalsOfARound(t *testing.T) {
	b := newBench(t, header+read+strings.ReplaceAll(read, "  read", "  again")+"  total: {sum: {read: 1, again: 2}}\n")
	b.run(t)
	var got, want []string
	for _, trial := range b.trials {
		kind := map[bool]string{true: "sum", false: "measured"}[trial.Cell.Operation == "total"]
		got = append(got, fmt.Sprintf("launch %d: %s", trial.Launch, kind))
	}
	for launch := range b.launches() {
		want = append(want, fmt.Sprintf("launch %d: measured", launch+1), fmt.Sprintf("launch %d: sum", launch+1))
	}
	same(t, "trials", slices.Compact(got), want)
}
