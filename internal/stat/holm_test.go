package stat

import (
	"math"
	"testing"
)

// The vectors are p.adjust(p, "holm") of R 4.2.
func TestHolm(t *testing.T) {
	for _, c := range []struct{ ps, want []float64 }{
		{[]float64{0.01, 0.02, 0.03, 0.04, 0.05}, []float64{0.05, 0.08, 0.09, 0.09, 0.09}},
		{[]float64{0.2, 0.001, 0.04}, []float64{0.2, 0.003, 0.08}},
		{[]float64{0.6, 0.7}, []float64{1, 1}},
		{[]float64{0.03, math.NaN(), 0.01}, []float64{0.03, math.NaN(), 0.02}},
		{nil, nil},
	} {
		got := Holm(c.ps)
		for i := range c.want {
			if math.Abs(got[i]-c.want[i]) > 1e-12 || math.IsNaN(got[i]) != math.IsNaN(c.want[i]) {
				t.Errorf("Holm(%v) = %v, want %v", c.ps, got, c.want)
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
			if err != nil {
				t.Fatal(err)
			}
			decided := c.Verdict == Faster || c.Verdict == Slower
			if decided != (c.P < 0.05) {
				t.Errorf("noise %g, shift %.3f: %s with p = %g", noise, shift, c.Verdict, c.P)
			}
		}
	}
}
