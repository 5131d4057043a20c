package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// usualDifference is the standard deviation of what two drivers differ by in truth, as a log
// ratio over all tables of a run, that Chance assumes: with smaller ones it says too much, and with
// larger ones too little. make calibrate has both.
const usualDifference = 0.07

// minFreedom are the degrees of freedom below which the variance is not known well enough for
// odds: a small one by chance would be taken for certainty.
const minFreedom = 5

// Chance returns the chance of being no slower than another one over all of some comparisons with
// it, each counted once, by more than the margin; NaN where one of them has too few launches to
// tell.
func Chance(comparisons []Comparison) float64 {
	mean, variance, spread := 0.0, 0.0, 0.0
	n, margin := float64(len(comparisons)), 0.0
	for _, c := range comparisons {
		if c.gain.n < MinPairs {
			return math.NaN()
		}
		own := c.gain.sd * c.gain.sd / float64(c.gain.n) / (n * n)
		mean, variance, spread = mean+c.gain.mean/n, variance+own, spread+own*own/c.gain.freedom
		margin = max(margin, math.Log1p(c.rule.Margin))
	}
	freedom := variance * variance / spread // Welch and Satterthwaite
	if !(freedom >= minFreedom) {
		return math.NaN()
	}
	// What is known beforehand draws the mean towards no difference.
	known := usualDifference * usualDifference / (usualDifference*usualDifference + variance)
	return distuv.StudentsT{Mu: mean * known, Sigma: math.Sqrt(variance * known), Nu: freedom}.Survival(-margin)
}
