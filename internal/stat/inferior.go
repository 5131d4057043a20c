package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// NonInferiority holds what a comparison says about figures that may be worse than the baseline's
// by a limit. AtLeast and AtMost are one-sided 95 % bounds of how many times better
// they are; NaN with fewer than two launches.
type NonInferiority struct {
	N                        int
	Center, AtLeast, AtMost  float64
	Within, Beyond, Measured bool
}

// NonInferior judges comparisons against a limit, as a fraction. Within says that a
// comparison is shown to keep it, and Beyond that it is shown to exceed it, each
// together with all others by Holm's method. That all keep it takes no adjustment: the
// claim is wrong only where one of them is (an intersection-union test, Berger 1982; the
// first step of Hochberg 1988).
func NonInferior(all []Comparison, limit float64) []NonInferiority {
	losses := make([]NonInferiority, len(all))
	keeps, exceeds, weights := make([]float64, len(all)), make([]float64, len(all)), make([]float64, len(all))
	everyOne := true
	for i, c := range all {
		gain := c.gain
		losses[i] = NonInferiority{N: gain.n, Center: math.Exp(gain.mean), AtLeast: math.NaN(), AtMost: math.NaN(), Measured: gain.n >= MinPairs}
		if !losses[i].Measured {
			continue
		}
		half := tQuantile(gain.freedom, 1-2*alpha) * gain.sd / math.Sqrt(float64(gain.n))
		losses[i].AtLeast, losses[i].AtMost = math.Exp(gain.mean-half), math.Exp(gain.mean+half)
		weights[i] = 1
		exceeds[i] = gain.onSide(-math.Log1p(limit), -1)
		keeps[i] = gain.onSide(-math.Log1p(limit), 1)
		everyOne = everyOne && keeps[i] <= alpha
	}
	keeps, exceeds = holm(keeps, weights), holm(exceeds, weights)
	for i, l := range losses {
		losses[i].Within = l.Measured && (everyOne || keeps[i] <= alpha)
		losses[i].Beyond = l.Measured && exceeds[i] < alpha
	}
	return losses
}

// onSide returns the one-sided p-value of the mean's lying above a limit (side 1) or below
// it (side -1).
func (s sample) onSide(limit, side float64) float64 {
	distance := side * (s.mean - limit)
	if s.sd == 0 {
		return map[bool]float64{true: 0, false: 1}[distance > 0]
	}
	return distuv.StudentsT{Sigma: 1, Nu: s.freedom}.Survival(distance / (s.sd / math.Sqrt(float64(s.n))))
}
