package main

import (
	"fmt"
	"math/rand/v2"

	"assay/internal/stat"
)

// lookedAt are the numbers of looks after which a series is checked.
var lookedAt = []int{1, 2, 4, 8}

// looks checks comparisons that are measured again while they are undecided, as
// claims are: each look has the launches of one more run.
func (p *printer) looks(rule lookRule, all []scenario) {
	p.title("Comparisons of equals that are measured again, %d launches at a time, while they are undecided: found to differ in one of the first %v looks, %%.", stat.MinLaunches, lookedAt)
	p.head("scenario", "found to differ")
	counts := make([]lookTally, len(all))
	parallel(len(all), func(i int) {
		counts[i] = experiment{scenario: all[i], truth: equals}.looks(rule, p.seed, p.draws)
	})
	for i, s := range all {
		shares := counts[i].shares()
		for j := range shares {
			p.bar(s, fmt.Sprintf("found to differ in %d looks", lookedAt[j]), shares[j], 0, maxLooked, counts[i].tables)
		}
		p.row(s.name, list(shares))
	}
}

type lookRule func(look int) stat.Rule

// chosenLooks returns how package audit looks.
func chosenLooks(look int) stat.Rule {
	return stat.Rule{Margin: margin, Planned: stat.MinLaunches, Looks: look}
}

// lookTally counts series, and those that found a difference by each of lookedAt.
type lookTally struct {
	series int
	tables int // what is compared within one is not independent
	found  []int
}

// shares are the series that found a difference, in percent.
func (t lookTally) shares() []float64 {
	var all []float64
	for _, found := range t.found {
		all = append(all, percent(found, t.series))
	}
	return all
}

// looks simulates runs whose comparisons with the baseline are each measured again
// until decided, of so many tables at least.
func (e experiment) looks(rule lookRule, seed uint64, tables int) lookTally {
	random := rand.New(rand.NewPCG(seed, 1977))
	tally := lookTally{found: make([]int, len(lookedAt))}
	last := lookedAt[len(lookedAt)-1]
	for tally.tables < tables {
		count, members := e.size()
		drawn := make([]measured, count)
		for i := range drawn {
			drawn[i] = e.draw(random, spare*last*stat.MinLaunches, e.truth(random, members))
		}
		decided := decisions{}
		for look := 1; look <= last; look++ {
			e.look(rule(look), drawn, look*stat.MinLaunches, decided)
		}
		tally.series += count * (members - 1) // all but the baseline
		tally.tables += count
		for _, look := range decided {
			for i, most := range lookedAt {
				if look > 0 && look <= most {
					tally.found[i]++
				}
			}
		}
	}
	return tally
}

// decisions are the looks that decided comparisons, by table and test; below zero
// where the two are equivalent.
type decisions map[[2]int]int

// look judges the first launches, and notes what is decided for the first time.
func (e experiment) look(rule stat.Rule, drawn []measured, launches int, decided decisions) {
	tables := make([]stat.Table, len(drawn))
	for i := range drawn {
		tables[i] = e.table(e.first(drawn[i], launches))
	}
	for i, judged := range rule.Judge(tables) {
		for j, test := range tables[i].Tests {
			key := [2]int{i, j}
			if !test.Baseline || decided[key] != 0 {
				continue
			}
			pair := tables[i].Pair(test.A, test.B)
			switch c := rule.JudgeOne(pair, judged.Prior(pair), false); {
			case c.Verdict.Differs():
				decided[key] = launches / stat.MinLaunches
			case c.Verdict.Decided():
				decided[key] = -1
			}
		}
	}
}
