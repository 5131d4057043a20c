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
	p.head("scenario", "decided in time")
	counts := make([][2]int, len(all)*len(fixedLaunches))
	parallel(len(counts), func(i int) {
		e := experiment{scenario: all[i/len(fixedLaunches)], judge: chosen, launches: fixedLaunches[i%len(fixedLaunches)], truth: mixed}
		counts[i] = e.timely(p.seed, p.draws/50)
	})
	for i, s := range all {
		var shares []float64
		for _, c := range counts[i*len(fixedLaunches) : (i+1)*len(fixedLaunches)] {
			shares = append(shares, percent(c[0], c[1]))
			p.bar(s, "decided in time", percent(c[0], c[1]), minTimely, 100, c[1])
		}
		p.row(s.name, list(shares))
	}
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
				more := judged.Comparisons[j].MoreLaunches()
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
