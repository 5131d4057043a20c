package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A ratio is beyond bounds with p below 0.05 exactly where its whole interval is.
func TestBeyondIsWherePlaceIsOutside(t *testing.T) {
	figures, others := []float64{10, 11, 10.5, 10.2, 10.8}, []float64{8, 8.3, 8.1, 8.2, 7.9}
	for looks := range 4 {
		rule := Rule{Margin: 0.02, Looks: looks}
		paired, err := rule.Compare(figures, others, false)
		apart, apartErr := rule.CompareUnpaired(figures, others, false)
		if err != nil || apartErr != nil {
			t.Fatal(err, apartErr)
		}
		for _, c := range []Comparison{paired, apart} {
			for _, bounds := range [][2]float64{{1, math.Inf(1)}, {0, 1}, {1.25, 1.4}, {0, c.Ratio.Low * 0.9999}, {0, c.Ratio.Low * 1.0001}, {c.Ratio.High * 1.0001, 9}, {c.Ratio.High * 0.9999, 9}} {
				_, outside := rule.Place(c.Ratio, bounds[0], bounds[1])
				if p := c.Beyond(bounds[0], bounds[1]); p < 0.05 != outside {
					t.Errorf("look %d, %v beyond %v: p %v, and outside: %v", looks, c.Ratio, bounds, p, outside)
				}
			}
		}
	}
	var x, y []float64
	random := rand.New(rand.NewPCG(1, 1))
	for range 24 {
		x, y = append(x, math.Exp(0.01*random.NormFloat64())), append(y, math.Exp(0.01*random.NormFloat64()))
	}
	p, err := NewPairs(x, y)
	c, ok := Rule{}.CompareInTurn(x, y, false)
	// The standard error is wider * sd / sqrt(n), with n / wider^2 - 1 degrees of freedom.
	if se := c.standardError(); err != nil || !ok || math.Abs(se*se*(c.Own+1)/(p.SD*p.SD)-1) > 1e-9 {
		t.Errorf("in turn: standard error %v with %v degrees of freedom, of figures that spread by %v", se, c.Own, p.SD)
	}
	if p := (Comparison{Ratio: Interval{N: 1, Center: 5}}).Beyond(0, 1); p != 1 {
		t.Errorf("one launch: p %v, want 1", p)
	}
}
