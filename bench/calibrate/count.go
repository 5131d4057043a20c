package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"assay/internal/stat"
)

var budgets = []int{6, 12, 24, 48}

// tally counts what became of many simulated comparisons.
type tally struct {
	draws, launches           int
	covered, called, alike    int // the interval holds the truth; faster or slower; equivalent
	warned, coveredWithout    int
	drift, modes, order, skew int
}

// simulate repeats comparisons at a true ratio.
func simulate(s scenario, r stopping, seed uint64, draws, budget int, ratio float64) tally {
	random := rand.New(rand.NewPCG(seed, 2013))
	var t tally
	for range draws {
		// Twice the budget is drawn always, so that budgets see the same launches.
		all := s.draw(random, mostTries*slices.Max(budgets), math.Log(ratio))
		comparison, c := r.run(s, all, budget)
		t.note(s, comparison, c, ratio)
	}
	return t
}

func (t *tally) note(s scenario, c stat.Comparison, launches counted, ratio float64) {
	t.draws++
	t.launches += len(launches.ratios)
	covered := c.Ratio.Low <= ratio && ratio <= c.Ratio.High
	_, _, drift := stat.Drift(launches.ratios)
	_, order := stat.Autocorrelation(launches.ratios)
	_, skew := stat.Skewed(launches.ratios)
	_, _, modes := stat.TwoModes(launches.ratios)
	warned := drift || order || skew || modes || s.known != ""
	for count, was := range map[*int]bool{
		&t.covered: covered, &t.called: c.Verdict == stat.Faster || c.Verdict == stat.Slower, &t.alike: c.Verdict == stat.Equivalent,
		&t.warned: warned, &t.coveredWithout: covered && !warned,
		&t.drift: drift, &t.modes: modes, &t.order: order, &t.skew: skew,
	} {
		if was {
			*count++
		}
	}
}

// share is a count as a percentage of all draws.
func (t tally) share(count int) float64 { return 100 * float64(count) / float64(t.draws) }
