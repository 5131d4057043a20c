package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// LaunchesToDecide returns the further launches after which the comparison is likely decided; 0
// where it is decided or that cannot be told. The ratio and the spread seen so far are
// those of few launches: where the ratio will be then is a t distribution about it.
func (c Comparison) LaunchesToDecide() int {
	if c.Verdict.Decided() || !(c.gain.sd > 0) || c.joined || c.Reason == OneLayout {
		return 0
	}
	wider := math.Sqrt(c.gain.freedom / distuv.ChiSquared{K: c.gain.freedom}.Quantile(1-cautious))
	more := least(func(launches int) bool { return c.chance(launches, wider) >= likely })
	if more > MaxMore {
		return 0
	}
	return more
}

// likely is the chance of being decided at which LaunchesToDecide stops to count. Of
// what is so told, make calibrate shows that about two thirds or more are decided within
// twice the launches.
const likely = 0.9

// cautious is the chance that the spread is no larger than LaunchesToDecide assumes: few
// launches say little about it.
const cautious = 0.7

// chance returns the chance of being decided after so many more launches, whose spread is so many
// times as wide as what was seen.
func (c Comparison) chance(launches int, wider float64) float64 {
	then, n, more := c.gain.longer(launches), float64(c.gain.n), float64(launches)
	then.sd *= wider
	mean := distuv.StudentsT{Mu: c.gain.mean, Sigma: c.gain.sd * math.Sqrt(more/(n*(n+more))), Nu: c.gain.freedom}
	t := distuv.StudentsT{Sigma: 1, Nu: then.freedom}.Quantile(1 - (1-then.level())/max(1, c.factor)/2)
	differs := c.rule.band() + t*then.sd/math.Sqrt(float64(then.n))
	equal := max(0, math.Log1p(c.rule.Margin)-c.rule.band()-then.half())
	if equal >= differs {
		return 1
	}
	return mean.CDF(-differs) + mean.Survival(differs) + mean.CDF(equal) - mean.CDF(-equal)
}
