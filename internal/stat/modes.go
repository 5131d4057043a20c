package stat

import (
	"math"
	"slices"
)

// splits are, by the number of values, the shares of the variance that the best
// split into two parts leaves within them in 1 % of normal samples
// (testdata/detect.py simulates them). The last one is that of two equal modes
// four standard deviations apart: the best split of longer normal samples is
// worse than this anyhow, and that of evenly spread ones leaves 0.25.
var splits = []struct {
	n      int
	within float64
}{{6, 0.0326}, {8, 0.0649}, {10, 0.0918}, {12, 0.1139}, {16, 0.1467}, {20, 0.1703}, {24, 0.1866}, {32, 0.2}}

// TwoModes looks for launches that fall into two groups with a gap between
// them: by the best split of the sorted logarithms into two parts (Engelman and
// Hartigan 1969) at 1 %, each of at least two launches and an eighth of all. Gap
// is the upper part's centre over the lower's, 1.15 is 15 %, and upper counts the
// launches of the upper one. Nothing is found in fewer than six figures, or where
// one is not a finite number above zero.
func TwoModes(figures []float64) (gap float64, upper int, found bool) {
	logs, ok := detectable(figures, minToDetect)
	all := summarize(logs)
	if !ok || !(all.sd > 0) {
		return 1, 0, false
	}
	slices.Sort(logs)
	least := max(2, (len(logs)+7)/8)
	best := math.Inf(1)
	for k := least; k <= len(logs)-least; k++ {
		low, high := summarize(logs[:k]), summarize(logs[k:])
		if within := (low.squares() + high.squares()) / all.squares(); within < best {
			best, gap, upper = within, math.Exp(high.mean-low.mean), high.n
		}
	}
	return gap, upper, best < splitLimit(len(logs))
}

// squares is the sum of squared deviations from the mean.
func (s sample) squares() float64 { return s.sd * s.sd * float64(s.n-1) }

// splitLimit interpolates in splits.
func splitLimit(n int) float64 {
	for i, s := range splits {
		if n <= s.n {
			if i == 0 {
				return s.within
			}
			before := splits[i-1]
			part := float64(n-before.n) / float64(s.n-before.n)
			return before.within + part*(s.within-before.within)
		}
	}
	return splits[len(splits)-1].within
}
