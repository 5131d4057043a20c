package stat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// CompareUnpaired judges figures against others that were not measured in the
// same launches: by Welch's t interval on the difference of the mean
// logarithms. Whatever drifted between the launches is in the interval, which
// is why paired figures are compared with Compare. It fails where a figure is
// not a finite number above zero.
func (r Rule) CompareUnpaired(figures, others []float64, higherBetter bool) (Comparison, error) {
	a, err := logSample(figures)
	if err != nil {
		return Comparison{}, fmt.Errorf("compare: %w", err)
	}
	b, err := logSample(others)
	if err != nil {
		return Comparison{}, fmt.Errorf("compare: %w", err)
	}
	a.planned, b.planned = r.Planned, r.Planned
	a.looks, b.looks = r.Looks, r.Looks
	difference, half := welch(a, b)
	n := min(a.n, b.n)
	c := Comparison{Ratio: Interval{n, math.Exp(difference), math.Exp(difference - half), math.Exp(difference + half)}, Level: a.claimed(), rule: r}
	low, high := difference-half, difference+half
	if !higherBetter {
		low, high = -high, -low
	}
	c.Verdict, c.Reason = r.decideBounds(n, low, high)
	return c, nil
}

// logSample summarizes the logarithms of figures.
func logSample(figures []float64) (sample, error) {
	ones := make([]float64, len(figures))
	for i := range ones {
		ones[i] = 1
	}
	logs, err := logRatios(figures, ones)
	return summarize(logs), err
}

// welch returns the difference of two means and the half-width of its interval,
// with the degrees of freedom of Welch and Satterthwaite, at the higher of the
// samples' levels. The half is NaN where a sample has fewer than two values.
func welch(a, b sample) (difference, half float64) {
	va, vb := a.sd*a.sd/float64(a.n), b.sd*b.sd/float64(b.n)
	difference = a.mean - b.mean
	if va+vb == 0 {
		return difference, 0
	}
	freedom := (va + vb) * (va + vb) / (va*va/float64(a.n-1) + vb*vb/float64(b.n-1))
	if !(freedom >= 1) {
		return difference, math.NaN()
	}
	t := distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile((1 + max(a.level(), b.level())) / 2)
	return difference, t * math.Sqrt(va+vb)
}
