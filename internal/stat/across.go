package stat

import (
	"math"
)

// Across is one ratio over several machines, of which each has its own.
type Across struct {
	// Ratio is the mean over machines like these, with its 95 % confidence interval; N
	// counts machines.
	Ratio Interval
	// Next is where the ratio of one more such machine lies, with 95 %; unknown for
	// fewer than three.
	Next Interval
	// Between is the standard deviation of the machines' log ratios beyond what their
	// launches explain.
	Between float64
	Verdict Verdict
	Reason  Reason
	// Machines counts the machines by their own verdict.
	Machines map[Verdict]int
}

// minSpread is the smallest standard error of a log ratio that is believed: no clock
// and no machine is more exact than a millionth.
const minSpread = 1e-6

// Over combines the ratios of machines by a random-effects model: each machine has a
// ratio of its own, which are a sample of those of machines like these. The variance
// between machines is that of Paule and Mandel, the interval that of Hartung, Knapp,
// Sidik and Jonkman, not narrower than without their factor; the prediction interval
// is that of Higgins, Thompson and Spiegelhalter. The noise of the machines' rules
// counts as in JudgeOne. All comparisons are Paired.
func (r Rule) Over(machines []Comparison, higherBetter bool) Across {
	a := Across{Machines: map[Verdict]int{}}
	logs, variances := make([]float64, len(machines)), make([]float64, len(machines))
	for i, c := range machines {
		a.Machines[c.Verdict]++
		logs[i] = math.Log(c.Ratio.Center)
		variances[i] = max(minSpread*minSpread, c.gain.sd*c.gain.sd/float64(c.gain.n))
		r.Noise = max(r.Noise, c.rule.Noise)
	}
	n := len(machines)
	if n < 2 {
		a.Ratio, a.Next = Interval{n, math.NaN(), math.NaN(), math.NaN()}, Interval{n, math.NaN(), math.NaN(), math.NaN()}
		a.Verdict, a.Reason = Undecided, TooFew
		return a
	}
	between := pauleMandel(logs, variances)
	mean, squares, weights := weighted(logs, variances, between)
	variance := max(1, squares/float64(n-1)) / weights
	half := tQuantile(float64(n-1), level) * math.Sqrt(variance)
	a.Ratio, a.Between = around(n, mean, half), math.Sqrt(between)
	a.Next = Interval{n, math.Exp(mean), math.NaN(), math.NaN()}
	if n > 2 {
		a.Next = around(n, mean, tQuantile(float64(n-2), level)*math.Sqrt(between+variance))
	}
	low, high := mean-half, mean+half
	if !higherBetter {
		low, high = -high, -low
	}
	a.Verdict, a.Reason = r.decideBounds(n, low, high)
	return a
}

// Paired reports whether the comparison is by pairs of launches, and has enough of them
// to say how exact it is.
func (c Comparison) Paired() bool { return c.gain.n >= MinPairs }

func around(n int, mean, half float64) Interval {
	return Interval{n, math.Exp(mean), math.Exp(mean - half), math.Exp(mean + half)}
}

// weighted returns the mean weighted by the inverse of variances that have another in
// common, the weighted sum of squares about it, and the sum of the weights.
func weighted(values, variances []float64, common float64) (mean, squares, weights float64) {
	for i, v := range values {
		w := 1 / (variances[i] + common)
		mean += w * v
		weights += w
	}
	mean /= weights
	for i, v := range values {
		squares += (v - mean) * (v - mean) / (variances[i] + common)
	}
	return mean, squares, weights
}

// pauleMandel is the variance between groups at which the weighted sum of squares is
// what it is expected to be; 0 where it is less without any.
func pauleMandel(values, variances []float64) float64 {
	excess := func(common float64) bool {
		_, squares, _ := weighted(values, variances, common)
		return squares > float64(len(values)-1)
	}
	if !excess(0) {
		return 0
	}
	low, high := 0.0, minSpread
	for excess(high) {
		low, high = high, 2*high
	}
	for range 60 {
		if middle := (low + high) / 2; excess(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
