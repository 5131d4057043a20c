//go:build unix

package runner

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
	"assay/internal/plan"
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
		{"not run before the run was resumed", []assay.Trial{part("a", 0, false, 0, assay.NotRun), part("b", 0, false, 0, assay.NotRun), part("a", 1, false, 7, assay.OK), part("b", 1, false, 100, assay.OK)}, "[1:ok:370] []"},
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

// A sum is of its own target, is disturbed where one of its operations was, has the
// durability of the first that has one, and says which operation failed.
func TestTotalsHaveWhatTheirOperationsHave(t *testing.T) {
	cell := func(name, without string) assay.Cell {
		return assay.Cell{Operation: name, Driver: "d", Clients: 1, Profile: "p", Without: without}
	}
	total := assay.Case{Cell: cell("total", "")}
	for _, name := range []string{"a", "b", "c"} {
		total.Operation.Terms = append(total.Operation.Terms, assay.Term{Operation: name, Peer: cell(name, "").Peer(), Times: 1})
	}
	for failed, want := range map[string]string{"": `true power op/s 5e+08 ""`, "b": `true power op/s 0 "b: why"`} {
		var s totals
		s.add(total)
		for i, name := range []string{"a", "b", "c"} {
			part := assay.Trial{Cell: cell(name, ""), Launch: 1, Outcome: assay.OK, Disqualified: i == 1, Figures: map[string]float64{assay.NsPerOp: []float64{0.5, 0.5, 1}[i]},
				Durability: []assay.Durability{"", assay.Power, assay.Consistent}[i]}
			if name == failed {
				part.Outcome, part.Reason = assay.Failed, "why"
			}
			s.note(part)
			part.Cell, part.Outcome = cell(name, "synchronous"), assay.WrongAnswer
			s.note(part)
		}
		for _, got := range s.of(total, false) {
			if got := fmt.Sprintf("%t %s op/s %g %q", got.Disqualified, got.Durability, got.Figures[assay.OpPerS], got.Reason); got != want {
				t.Errorf("%q failed: got %s, want %s", failed, got, want)
			}
		}
	}
}

// The answers of a sum are checked as far as those of all of its operations are.
func TestTotalsAreCheckedAsAllAre(t *testing.T) {
	cell := func(name string) assay.Cell {
		return assay.Cell{Operation: name, Driver: "d", Clients: 1, Profile: "p"}
	}
	total := assay.Case{Cell: cell("total")}
	for _, name := range []string{"a", "b", "c"} {
		total.Operation.Terms = append(total.Operation.Terms, assay.Term{Operation: name, Peer: cell(name).Peer(), Times: 1})
	}
	for last, want := range map[assay.Check]assay.Check{assay.CheckState: assay.CheckState, assay.CheckAnswers: assay.CheckRows} {
		var s totals
		s.add(total)
		for name, checked := range map[string]assay.Check{"a": assay.CheckState, "b": assay.CheckState, "c": last} {
			s.note(assay.Trial{Cell: cell(name), Launch: 1, Outcome: assay.OK, Checked: checked, Figures: map[string]float64{assay.NsPerOp: 1}})
		}
		if got := s.of(total, false); len(got) != 1 || got[0].Checked != want {
			t.Errorf("operations checked by %s and %s: got the sums %+v, want one that is checked by %s", assay.CheckState, last, got, want)
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
	must(t, r.sumUp(true))
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

// halfWidths are those of the confidence intervals that a report on the run has, as
// fractions, by operation.
func (b *bench) halfWidths(t *testing.T) map[string]float64 {
	t.Helper()
	r, err := analysis.New(assay.Run{Baseline: b.Baseline, Options: assay.Options{Launches: b.Launches}}, analysistest.Each(b.trials))
	must(t, err)
	all := map[string]float64{}
	for _, table := range r.Tables {
		for _, row := range table.Rows {
			if f, has := row.Figure(table.Primary.Name); has && f.Comparison != nil {
				all[table.Cell().Operation] = math.Sqrt(f.Comparison.Ratio.High/f.Comparison.Ratio.Low) - 1
			}
		}
	}
	return all
}

// A run of a sum alone ends when the sum's intervals are narrow enough, however wide those
// of its operations are; a run of all ends when all are.
func TestOnlyASumIsNarrow(t *testing.T) {
	const precision = 0.25
	for name, c := range map[string]struct {
		only   map[string][]string
		narrow []string
	}{
		"all":               {nil, []string{"create", "save", "total"}},
		"the sum":           {map[string][]string{"operation": {"total"}}, []string{"create", "total"}},
		"it and some of it": {map[string][]string{"operation": {"total", "save"}}, []string{"create", "save", "total"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, strings.NewReplacer("DRIVERS", "caller, caller-uneven", "caller/plain", "caller", ", tuned: {synchronous: normal}", "").Replace(calls))
			var err error
			if b.Cases, err = plan.SelectToMeasure(b.Cases, c.only); err != nil {
				t.Fatal(err)
			}
			b.Launches, b.Precision, b.Exact = 4, precision, true
			b.run(t)
			var narrow []string
			half := b.halfWidths(t)
			for _, operation := range []string{"create", "save", "total"} {
				if half[operation] <= precision {
					narrow = append(narrow, operation)
				}
			}
			if !slices.Equal(narrow, c.narrow) {
				t.Errorf("after %d launches %v are narrow enough, want %v: %v", b.launches(), narrow, c.narrow, half)
			}
		})
	}
}

// Each group gets as many launches as the sums and operations need that were asked for.
func TestNeedsOfSums(t *testing.T) {
	const wide, narrow = 1.5, 1.0
	for _, c := range []struct {
		name          string
		forSum        []string
		first, second float64 // how the ratios of the operations spread
		needs         []bool
	}{
		{"all is asked for", nil, narrow, wide, []bool{false, true}},
		{"the sum", []string{"first", "second"}, narrow, wide, []bool{false, false}},
		{"the sum and what is wide", []string{"first"}, narrow, wide, []bool{false, true}},
		{"the sum and what is narrow", []string{"second"}, narrow, wide, []bool{false, false}},
		{"a sum that is wide itself", []string{"first", "second"}, wide, wide, []bool{true, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := planned(t, Config{Precision: 0.1})
			var jobs []*job
			for _, driver := range []string{"a", "b"} {
				total := at(assay.Blocks, "total "+driver+" p")
				for _, name := range []string{"first", "second"} {
					j := at(assay.Blocks, name+" "+driver+" p")
					j.ForSum = slices.Contains(c.forSum, name)
					jobs = append(jobs, j)
					total.Operation.Terms = append(total.Operation.Terms, assay.Term{Operation: name, Peer: j.Cell.Peer(), Times: 1})
				}
				r.totals.add(total.Case)
			}
			r.groups = groupCases(jobs, r.baseline)
			r.totals.group(r.groups, r.baseline)
			for i, g := range r.groups {
				for launch := range 6 {
					for _, m := range g.members {
						nanos := []float64{1000, 10}[i]
						if m.cell().Driver == "b" && launch%2 == 0 {
							nanos *= []float64{c.first, c.second}[i]
						}
						trial := trialOf(m.first, launch+1, m.twin, nanos)
						g.record.note(&trial)
						r.totals.note(trial)
					}
					g.launches.add(time.Second, false)
				}
			}
			var needs []bool
			for _, g := range r.scheduled() {
				needs = append(needs, g.Needed > 6)
			}
			if !slices.Equal(needs, c.needs) {
				t.Errorf("got %v, want %v", needs, c.needs)
			}
		})
	}
}
