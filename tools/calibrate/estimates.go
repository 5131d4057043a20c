package main

import (
	"math/rand/v2"

	"assay/internal/stat"
)

// longest bounds how long an estimate may be that is checked: what needs more
// launches is not simulated.
const longest = 100

// estimates checks the launches that undecided comparisons are said to need: two
// thirds of them decide within twice as many.
func (p *printer) estimates(all []scenario) {
	p.title("Undecided comparisons with a baseline after %v launches (two thirds of the members differ by 1 to 40 %%) that decide within twice the launches said, %%, of those of which at most %d are said.", fixedLaunches, longest)
	table(p, all, len(fixedLaunches), func(s scenario, i int) [2]int {
		return experiment{scenario: s, judge: chosen, launches: fixedLaunches[i], truth: mixed}.timely(p.seed, p.draws/50)
	}, barred(p, "decided in time", "decided in time", minTimely, 100, func(c [2]int) float64 { return percent(c[0], c[1]) }, func(c [2]int) int { return c[1] }))
}

// timely counts the estimates that hold, and all.
func (e experiment) timely(seed uint64, runs int) [2]int {
	random := rand.New(rand.NewPCG(seed, 1945))
	var counts [2]int
	enough := e
	enough.budget = e.launches + 2*longest
	for range runs {
		count, members := e.size()
		var drawn []measured
		var tables []stat.Table
		for range count {
			drawn = append(drawn, e.draw(random, spare*enough.budget, e.truth(random, members)))
			tables = append(tables, e.table(e.first(drawn[len(drawn)-1], e.launches)))
		}
		for i, judged := range e.rule().Judge(tables) {
			for j, test := range tables[i].Tests {
				more := judged.Comparisons[j].LaunchesToDecide()
				if !test.Baseline || more == 0 || more > longest {
					continue
				}
				counts[1]++
				longer := append([]stat.Table{}, tables...)
				longer[i] = e.table(e.first(drawn[i], e.launches+2*more))
				if e.rule().Judge(longer)[i].Comparisons[j].Verdict.Decided() {
					counts[0]++
				}
			}
		}
	}
	return counts
}
