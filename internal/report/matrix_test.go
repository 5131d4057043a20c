package report

import (
	"math"
	"testing"

	"assay/internal/stat"
)

// A figure of too few launches, or of a wide interval, is never printed without it.
func TestUncertainty(t *testing.T) {
	for want, i := range map[string]stat.Interval{
		"":      {N: 3, Center: 100, Low: 81, High: 120},
		"±21%":  {N: 3, Center: 100, Low: 90, High: 121},
		"±30%":  {N: 6, Center: 100, Low: 70, High: 110},
		"±5%":   {N: 2, Center: 100, Low: 95, High: 105},
		"±240%": {N: 2, Center: 100, Low: 30, High: 340},
		"±":     {N: 1, Center: 100, Low: math.NaN(), High: math.NaN()},
	} {
		if got := uncertainty(i); got != want {
			t.Errorf("%+v: got %q, want %q", i, got, want)
		}
	}
}
