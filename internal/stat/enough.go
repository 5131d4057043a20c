package stat

import (
	"math"
	"sort"
)

// Enough returns the number of launches at which the interval of the ratio is
// expected to be no wider than half to each side, as a difference of logarithms:
// about a fraction, 0.02 is 2 %. Ratios are figures over the reference's, one a
// launch so far; least is the number of launches fixed beforehand. The result
// is len(ratios) where that many are enough, which is when to stop, and at most
// 1001 more: ask again after each launch. It is len(ratios) also where nothing
// can be said:
// with fewer than two ratios, with one that is not a finite number above zero,
// and where half is not above zero.
//
// It looks at the width alone, never at the verdict. A Rule with the same Least
// gives the intervals that hold under it.
func Enough(ratios []float64, least int, half float64) int {
	n := len(ratios)
	logs, err := logSample(ratios)
	if err != nil || n < 2 || !(half > 0) {
		return n
	}
	logs.least = least
	narrow := func(n int) bool {
		s := logs
		s.n = n
		return s.half() <= half
	}
	if narrow(n) {
		return n
	}
	return n + 1 + sort.Search(mostMore, func(k int) bool { return narrow(n + 1 + k) })
}

// Spread returns the standard deviation of the ratios' logarithms between
// launches: about a fraction, 0.03 is 3 %. It is NaN with fewer than two ratios
// and where one is not a finite number above zero.
func Spread(ratios []float64) float64 {
	logs, err := logSample(ratios)
	if err != nil {
		return math.NaN()
	}
	return logs.sd
}
