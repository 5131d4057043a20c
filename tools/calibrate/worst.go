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
	table(p, worstScenarios(), len(worstLaunches), func(s scenario, i int) worstTally {
		return experiment{scenario: s, judge: judge, launches: worstLaunches[i], truth: equals}.worst(p.seed, p.draws)
	}, barred(p, "coverage of the noisy one", "coverage of the noisy member", minWorst, 100, func(t worstTally) float64 { return percent(t.covered, t.tables) }, worstTally.judged),
		column[worstTally]{head: "of the others", figure: func(t worstTally) float64 { return percent(t.calmCovered, t.calm) }},
		column[worstTally]{head: "half-width of the others", figure: func(t worstTally) float64 { return 100 * t.half / float64(t.calm) }},
		barred(p, "false verdicts", "false verdicts beside a noisy member", 0, maxAlarmed, func(t worstTally) float64 { return percent(t.alarmed, t.tables) }, worstTally.judged))
}

// worstTally counts tables and the intervals of their calm members.
type worstTally struct {
	tables, covered, alarmed, calm, calmCovered int
	half                                        float64 // a sum over calm members
}

func (t worstTally) judged() int { return t.tables }

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
