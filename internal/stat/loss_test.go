package stat

import (
	"math"
	"testing"
)

// The bound is the largest upper end of one-sided 95 % intervals; t quantiles from
// SciPy.
func TestLoss(t *testing.T) {
	compare := func(n int, ratio float64) Comparison {
		figures, reference := pairs(n, ratio, 0.02)
		c, err := Rule{Margin: 0.02}.Compare(figures, reference, false)
		must(t, err)
		return c
	}
	bound := func(ratio float64) float64 { // of four pairs
		return ratio * math.Exp(2.3533634348018264*0.02/math.Sqrt(3))
	}
	for _, c := range []struct {
		name string
		all  []Comparison
		want float64
	}{
		{"nobody else", nil, 1},
		{"the others are slower", []Comparison{compare(4, 0.5), compare(4, 0.8)}, 1},
		{"one is undecided", []Comparison{compare(4, 0.5), compare(4, 0.99)}, bound(0.99)},
		{"one is faster", []Comparison{compare(4, 1.01), compare(4, 1.3)}, bound(1.3)},
		{"one has too few launches", []Comparison{compare(4, 1.3), compare(0, 1)}, math.NaN()},
	} {
		if got := Loss(c.all); math.Abs(got-c.want) > 1e-9 || math.IsNaN(got) != math.IsNaN(c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
