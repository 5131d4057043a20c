package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// power is the chance with which SmallestDifference is found.
const power = 0.80

// SmallestDifference returns the smallest difference, as a fraction, that a
// comparison over that many launches calls faster or slower in 80 % of runs:
// where the t interval of 95 % leaves out a ratio of 1. Spread is that of the
// ratios between launches, for example of the reference's twin. It is false, and
// the difference 0, with fewer than two launches, which give no verdict, and
// where the spread is not a number above zero. Noise above the margin asks for
// more.
func SmallestDifference(spread float64, launches int) (difference float64, ok bool) {
	if launches < MinPairs || notPositive(spread) {
		return 0, false
	}
	freedom, root := launches-1, math.Sqrt(float64(launches))
	critical := tQuantile(float64(freedom), level)
	found := func(shift float64) float64 { // shift in standard errors; the other side is negligible
		return 1 - distuv.NoncentralT{Nu: float64(freedom), Mu: shift}.CDF(critical)
	}
	low, high := 0.0, 2*critical+2
	for range 60 {
		if middle := (low + high) / 2; found(middle) < power {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Expm1(high * spread / root), true
}

// Share returns hits of total as a share of 1 with the 95 % interval of Clopper
// and Pearson (1934), which holds in at least as many cases whatever the true
// share. All are NaN where total is below 1 or hits is not within 0 and total.
func Share(hits, total int) Interval {
	if total < 1 || hits < 0 || hits > total {
		return Interval{0, math.NaN(), math.NaN(), math.NaN()}
	}
	k, n := float64(hits), float64(total)
	share := Interval{N: total, Center: k / n, Low: 0, High: 1}
	if hits > 0 {
		share.Low = distuv.Beta{Alpha: k, Beta: n - k + 1}.Quantile((1 - level) / 2)
	}
	if hits < total {
		share.High = distuv.Beta{Alpha: k + 1, Beta: n - k}.Quantile((1 + level) / 2)
	}
	return share
}
