package stat

import (
	"math"
	"testing"
)

// The vectors without weights are p.adjust(p, "holm") of R 4.2; those with
// weights are by hand from the definition.
func TestHolm(t *testing.T) {
	for _, c := range []struct{ ps, weights, want []float64 }{
		{[]float64{0.01, 0.02, 0.03, 0.04, 0.05}, []float64{1, 1, 1, 1, 1}, []float64{0.05, 0.08, 0.09, 0.09, 0.09}},
		{[]float64{0.2, 0.001, 0.04}, []float64{1, 1, 1}, []float64{0.2, 0.003, 0.08}},
		{[]float64{0.6, 0.7}, []float64{1, 1}, []float64{1, 1}},
		{[]float64{0.03, 0.5, 0.01}, []float64{1, 0, 1}, []float64{0.03, 1, 0.02}},
		// Half belongs to the first, half to the two others.
		{[]float64{0.02, 0.01, 0.04}, []float64{1, 0.5, 0.5}, []float64{0.04, 0.04, 0.04}},
		{[]float64{0.03, 0.001, 0.04}, []float64{1, 0.5, 0.5}, []float64{0.045, 0.004, 0.045}},
		{nil, nil, nil},
	} {
		got := holm(c.ps, c.weights)
		for i := range c.want {
			if math.Abs(got[i]-c.want[i]) > 1e-12 {
				t.Errorf("holm(%v, %v) = %v, want %v", c.ps, c.weights, got, c.want)
				break
			}
		}
	}
}

// The p-value and the interval are one decision: at most 0.05 where the
// interval lies beyond the noise.
func TestPAgreesWithTheInterval(t *testing.T) {
	base := []float64{100, 101, 99, 100.5, 99.5, 100.2, 99.8, 100.1}
	for _, noise := range []float64{0, 0.05} {
		for shift := 0.90; shift < 1.12; shift += 0.004 {
			figures := make([]float64, len(base))
			for i, b := range base {
				figures[i] = b * shift * (1 + 0.01*float64(i%3-1))
			}
			rule := Rule{Margin: 0, Noise: noise}
			c, err := rule.Compare(figures, base, false)
			must(t, err)
			decided := c.Verdict == Faster || c.Verdict == Slower
			if decided != (c.P < 0.05) {
				t.Errorf("noise %g, shift %.3f: %s with p = %g", noise, shift, c.Verdict, c.P)
			}
		}
	}
}
