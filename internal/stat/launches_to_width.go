package stat

import (
	"math"
	"sort"
)

// relativePrecision is how narrow an interval is that says enough of a large
// difference: a third of it to each side. No difference is claimed by stopping
// there that chance makes: t is then three times its quantile.
const relativePrecision = 1.0 / 3

// Width says how wide an interval may be.
type Width struct {
	Half  float64 // to each side, as a fraction
	Exact bool    // of large differences too; otherwise a third of the difference is narrow enough
}

// half is the half-width of an interval about a mean, in logarithms.
func (w Width) half(mean float64) float64 {
	wanted := math.Log1p(max(0, w.Half))
	if w.Exact {
		return wanted
	}
	return max(wanted, relativePrecision*math.Abs(mean))
}

// LaunchesToWidth returns how many more launches each test of each table is expected to need
// until its interval is no wider than wanted; 0 where it is so narrow, which is
// when to stop. It is at most 1001: ask again after each launch. Verdicts
// have no part in it, or a run would stop where chance makes one; a Rule with the
// Planned launches allows for the stopping.
func (r Rule) LaunchesToWidth(tables []Table, wanted Width) [][]int {
	all := make([][]int, len(tables))
	for i, prior := range priors(tables) {
		for _, test := range tables[i].Tests {
			p := tables[i].Pair(test.A, test.B)
			all[i] = append(all[i], r.launchesToWidth(p, prior(p), wanted))
		}
	}
	return all
}

// launchesToWidth is LaunchesToWidth of one comparison; of one with too few launches, those that
// are missing.
func (r Rule) launchesToWidth(p Pairs, prior Prior, wanted Width) int {
	if p.N < MinPairs {
		return MinPairs - p.N
	}
	s := r.sample(p, prior)
	half := wanted.half(s.mean)
	return s.until(func(s sample) bool { return !(s.half() > half) })
}

// LaunchesToWidthUncompared is LaunchesToWidth of figures that are compared with nothing.
func (r Rule) LaunchesToWidthUncompared(figures []float64, precision float64) int {
	ones := make([]float64, len(figures))
	for i := range ones {
		ones[i] = 1
	}
	p, err := NewPairs(figures, ones)
	if err != nil || p.N < MinPairs {
		return max(0, MinPairs-len(figures))
	}
	s, half := r.sample(p, Prior{}), Width{Half: precision}.half(0)
	return s.until(func(s sample) bool { return !(s.half() > half) })
}

// until returns how many more launches of the same spread it takes to become done, at
// most MaxMore + 1.
func (s sample) until(done func(sample) bool) int {
	if done(s) {
		return 0
	}
	return least(func(launches int) bool { return done(s.longer(launches)) })
}

// least is the smallest number from 1 on that is enough, at most MaxMore + 1. More are
// enough, too. Small numbers are found in few steps.
func least(enough func(int) bool) int {
	high := 1
	for high <= MaxMore && !enough(high) {
		high *= 2
	}
	low := high/2 + 1
	return low + sort.Search(min(high, MaxMore+1)-low, func(k int) bool { return enough(low + k) })
}
