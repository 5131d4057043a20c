package stat

import "math"

// Loss is by which factor somebody is worse than the best of the others at most, at
// 95 %, where the comparisons are that one's with all others; 1: nowhere. It is NaN
// where one of them has too few launches. Others that are shown to be worse are no
// matter. The largest of one-sided bounds needs no correction for their number: it
// is no less than the bound of the comparison that in truth is the worst (Berger
// 1982, intersection-union). make calibrate shows that it holds for who was chosen
// by the same figures.
func Loss(comparisons []Comparison) float64 {
	worst := 0.0
	for _, c := range comparisons {
		if c.Verdict == Faster {
			continue
		}
		if c.gain.n < MinPairs {
			return math.NaN()
		}
		half := tQuantile(c.gain.freedom, 2*c.gain.level()-1) * c.gain.sd / math.Sqrt(float64(c.gain.n))
		worst = max(worst, half-c.gain.mean+c.rule.band())
	}
	return math.Exp(worst)
}

// Apart is by which factor both sides of any of the comparisons differ at most, by their
// intervals and the noise; NaN where one of them has too few launches, or programs of one link
// layout, in another of which they may differ by more.
func Apart(comparisons []Comparison) float64 {
	most := 1.0
	for _, c := range comparisons {
		if c.gain.n < MinPairs || c.oneLayout {
			return math.NaN()
		}
		most = max(most, max(c.Ratio.High, 1/c.Ratio.Low)*math.Exp(c.rule.band()))
	}
	return most
}
