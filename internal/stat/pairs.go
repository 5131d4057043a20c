package stat

import (
	"fmt"
	"math"
)

// Pairs is a comparison of two members that were measured in the same launches:
// the differences of their log figures, one a launch, in N, mean and standard
// deviation. Mean is NaN with no launch, SD with fewer than two.
type Pairs struct {
	N        int
	Mean, SD float64
	// Added says that the width of intervals decided on the number of launches,
	// where that does not show in N.
	Added bool
	// Joined says that several launches are one pair: more launches are not more pairs.
	Joined bool
	Looks  int // as of a Rule
	// Kind is the kind of both members, whose spread depends on it, or of pairs across kinds.
	// Pairs borrow from those of their kind.
	Kind string
	// Members names both across the tables of a run, which show whether one of them varies
	// more than others. Empty: unknown.
	Members [2]string
}

// CommonKind is the kind of a pair of members of these kinds.
func CommonKind(a, b string) string {
	if a != b {
		return "\x00across" // no profile is called so
	}
	return a
}

// NewPairs pairs figures by index. It fails where the lengths differ, and where
// a figure is not a finite number above zero.
func NewPairs(figures, partners []float64) (Pairs, error) {
	logs, err := logRatios(figures, partners)
	if err != nil {
		return Pairs{}, err
	}
	s := summarize(logs)
	return Pairs{N: s.n, Mean: s.mean, SD: s.sd}, nil
}

// Swapped compares the other way round.
func (p Pairs) Swapped() Pairs {
	p.Mean = -p.Mean
	return p
}

// scaled leaves out what the members make the variance differ by.
func (p Pairs) scaled(f factor) Pairs {
	p.SD /= math.Sqrt(f.times)
	return p
}

// freedom returns the degrees of freedom of the variance.
func (p Pairs) freedom() float64 { return max(0, float64(p.N-1)) }

// variance is 0 where it is unknown.
func (p Pairs) variance() float64 {
	if p.N < 2 {
		return 0
	}
	return p.SD * p.SD
}

// moderated is the variance of one launch's log ratio, with what is borrowed,
// and its degrees of freedom.
func (p Pairs) moderated(prior Prior) (variance, freedom float64) {
	freedom = p.freedom() + prior.Freedom
	if freedom == 0 {
		return math.NaN(), 0
	}
	return (p.freedom()*p.variance() + prior.Freedom*prior.Variance) / freedom, freedom
}

// logRatios takes the difference of logarithms, not the logarithm of the
// ratio: swapped arguments then give exactly the negated values.
func logRatios(figures, partners []float64) ([]float64, error) {
	if len(figures) != len(partners) {
		return nil, fmt.Errorf("%d figures against %d of the baseline: pair them by launch first", len(figures), len(partners))
	}
	logs := make([]float64, len(figures))
	for i, f := range figures {
		if notPositive(f) || notPositive(partners[i]) {
			return nil, fmt.Errorf("pair %d: figure %g, baseline %g: a ratio needs finite figures above zero", i+1, f, partners[i])
		}
		logs[i] = math.Log(f) - math.Log(partners[i])
	}
	return logs, nil
}
