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

const (
	// minInTurn is how many launches in turn are needed: of fewer, their order says too
	// little of how they depend on each other.
	minInTurn = 20
	// minInTurnFreedom is the least degrees of freedom of their interval: with fewer, it
	// would be wider than that of launches apart.
	minInTurnFreedom = 4
)

// CompareInTurn judges figures against others of launches that were made in turn, the
// first of both, then the second, and so on: by the mean of the differences of their
// logarithms. What changed slowly changed both figures of a difference. The interval
// allows for what still drifts or correlates, and for what both drift from one launch to
// the next, since one of the two may always be the first. The correlation is taken to be
// one standard error larger than it is estimated, and n launches are as many independent
// ones as the mean of n is worth. There is no comparison of too few launches, nor of
// figures that are not finite and above zero.
func (r Rule) CompareInTurn(figures, others []float64, higherBetter bool) (c Comparison, ok bool) {
	p, err := NewPairs(figures, others)
	if err != nil || p.N < minInTurn {
		return Comparison{}, false
	}
	ratios := make([]float64, p.N)
	for i := range ratios {
		ratios[i] = figures[i] / others[i]
	}
	d, drifts, _ := dependence(ratios)
	if !drifts {
		d.Drift = 0
	}
	d.Drift += Dependent(figures, others).Drift / float64(2*p.N)
	d.Correlation += math.Sqrt(max(0, 1-d.Correlation*d.Correlation) / float64(p.N))
	differences := r.sample(p, Prior{})
	if differences.freedom = float64(p.N)/(d.wider()*d.wider()) - 1; differences.freedom < minInTurnFreedom {
		return Comparison{}, false
	}
	c = Comparison{Ratio: differences.interval(math.Exp), Own: differences.freedom, Level: differences.claimed(), rule: r}
	return c.Allowing(d, higherBetter), true
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

// Dependence holds what was found of launches that are not independent of those before
// them; zero: nothing.
type Dependence struct {
	Correlation float64 // of each launch with the next one, of what does not drift
	Drift       float64 // by how much both series drifted, as logarithms without sign
}

// Found reports whether anything was.
func (d Dependence) Found() bool { return d != Dependence{} }

// Dependent looks at series of launches, in their order, by Drift and
// Autocorrelation. Where one of them finds something in one series, the estimates of
// both count for all: drift and correlation hide each other, a test of few
// launches misses much, and all series had the same machine.
func Dependent(all ...[]float64) Dependence {
	var d Dependence
	found := false
	for _, series := range all {
		one, drifts, resembles := dependence(series)
		found = found || drifts || resembles
		d.Drift += one.Drift
		d.Correlation = max(d.Correlation, one.Correlation)
	}
	if !found {
		return Dependence{}
	}
	return d
}

// dependence estimates that of one series, and reports what the tests find.
func dependence(series []float64) (d Dependence, drifts, resembles bool) {
	total, _, drifts := Drift(series)
	r, resembles := Autocorrelation(series)
	if drifts {
		r, _ = Autocorrelation(without(series, math.Log(total)))
	}
	// Pearson's formula for ranks of normal values, and the bias of so many (Kendall 1954).
	r = 2 * math.Sin(math.Pi*r/6)
	return Dependence{Correlation: r + (1+4*r)/float64(max(1, len(series))), Drift: math.Abs(math.Log(total))}, drifts, resembles
}

// without is a series without its drift.
func without(series []float64, drift float64) []float64 {
	flat := make([]float64, len(series))
	for i, x := range series {
		flat[i] = x * math.Exp(-drift*float64(i)/float64(max(1, len(series)-1)))
	}
	return flat
}

// Allowing is a comparison whose interval allows for dependent launches. The
// standard error of a mean of an autoregressive series of first order is
// sqrt((1+r)/(1-r)) times that of independent values; what drifted may be all of a
// difference, so that it counts to both sides. TestAllowingCovers simulates both.
func (c Comparison) Allowing(d Dependence, higherBetter bool) Comparison {
	wider := d.wider()
	center := math.Log(c.Ratio.Center)
	low := center - wider*(center-math.Log(c.Ratio.Low)) - d.Drift
	high := center + wider*(math.Log(c.Ratio.High)-center) + d.Drift
	c.Ratio.Low, c.Ratio.High = math.Exp(low), math.Exp(high)
	if !higherBetter {
		low, high = -high, -low
	}
	c.conclude(c.rule.decideBounds(c.Ratio.N, low, high))
	return c
}

// wider is the factor by which correlation widens the interval of a mean.
func (d Dependence) wider() float64 {
	r := min(mostCorrelated, max(0, d.Correlation))
	return math.Sqrt((1 + r) / (1 - r))
}

// mostCorrelated keeps the interval finite: 14 times as wide as of independent launches.
const mostCorrelated = 0.99
