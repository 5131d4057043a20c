package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"assay/internal/stat"
)

// minWorst is the bar of the coverage of the noisiest member, in percent.
const minWorst = 93

// worstScenarios have one member that is noisier than the others in all tables.
func worstScenarios() []scenario {
	var all []scenario
	for _, times := range []float64{3, 5, 10} {
		all = append(all, scenario{name: fmt.Sprintf("one member %.0fx noisier", times), tables: 14, members: 6, spread: between(0.01, 0.06), noisy: times})
	}
	return all
}

var worstLaunches = []int{2, 3, 6}

// worst checks the intervals of the noisiest member of each table: a mean over members does
// not see that they are too narrow while those of the others are too wide.
func (p *printer) worst(judge judge) {
	p.title("Tables of equals of which one member is noisier in all, with %v launches: coverage %% of its intervals and of the others', half-widths %% of the others, tables %% with a false verdict.", worstLaunches)
	p.head("scenario", "coverage of the noisy one", "of the others", "half-width of the others", "false verdicts")
	all := worstScenarios()
	rows := make([][]worstTally, len(all))
	for i := range rows {
		rows[i] = make([]worstTally, len(worstLaunches))
	}
	parallel(len(all)*len(worstLaunches), func(i int) {
		s, n := i/len(worstLaunches), i%len(worstLaunches)
		rows[s][n] = experiment{scenario: all[s], judge: judge, launches: worstLaunches[n], truth: equals}.worst(p.seed, p.draws)
	})
	for i, s := range all {
		var noisy, others, half, alarmed []float64
		for _, t := range rows[i] {
			noisy, others = append(noisy, percent(t.covered, t.tables)), append(others, percent(t.calmCovered, t.calm))
			half, alarmed = append(half, 100*t.half/float64(t.calm)), append(alarmed, percent(t.alarmed, t.tables))
			p.bar(s, "coverage of the noisy member", percent(t.covered, t.tables), minWorst, 100, t.tables)
			p.bar(s, "false verdicts beside a noisy member", percent(t.alarmed, t.tables), 0, maxAlarmed, t.tables)
		}
		p.row(s.name, list(noisy), list(others), list(half), list(alarmed))
	}
}

// worstTally counts tables and the intervals of their calm members.
type worstTally struct {
	tables, covered, alarmed, calm, calmCovered int
	half                                        float64 // a sum over calm members
}

func (e experiment) worst(seed uint64, tables int) worstTally {
	random := rand.New(rand.NewPCG(seed, 2013))
	var t worstTally
	for t.tables < tables {
		r := e.begin(random)
		for i, judged := range e.judge(e.rule(), r.tables) {
			t.note(r.tables[i], judged, e.members-1)
		}
	}
	return t
}

// note counts a table of equals whose last member but the twin is the noisy one.
func (t *worstTally) note(table stat.Table, judged stat.Judged, noisy int) {
	alarmed := false
	for i, test := range table.Tests {
		if !test.Baseline {
			continue
		}
		c := judged.Comparisons[i]
		alarmed = alarmed || c.Verdict.Differs()
		covers := 0
		if c.Ratio.Low <= 1 && 1 <= c.Ratio.High {
			covers = 1
		}
		if test.A == noisy {
			t.covered += covers
			continue
		}
		t.calm++
		t.calmCovered += covers
		t.half += math.Log(c.Ratio.High/c.Ratio.Low) / 2
	}
	t.tables++
	if alarmed {
		t.alarmed++
	}
}
