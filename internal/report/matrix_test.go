package report

import (
	"math"
	"testing"

	"assay/internal/stat"
)

// A figure of too few launches, or of a wide interval, is never printed without it.
func TestUncertainty(t *testing.T) {
	for i, want := range map[stat.Interval]string{
		{N: 3, Center: 100, Low: 81, High: 120}:                "",
		{N: 3, Center: 100, Low: 90, High: 121}:                "±21%",
		{N: 6, Center: 100, Low: 70, High: 110}:                "±30%",
		{N: 2, Center: 100, Low: 95, High: 105}:                "±5%",
		{N: 2, Center: 100, Low: 30, High: 340}:                "±240%",
		{N: 2, Center: 100, Low: 30, High: 1e12}:               "±",
		{N: 1, Center: 100, Low: math.NaN(), High: math.NaN()}: "±",
	} {
		if got := uncertainty(i); got != want {
			t.Errorf("%+v: got %q, want %q", i, got, want)
		}
	}
}

// The third digit of a figure that is known to a quarter is none.
func TestShownFigure(t *testing.T) {
	for want, i := range map[string]stat.Interval{
		"12.3 µs":     {N: 3, Center: 12345, Low: 12000, High: 12700},
		"12 µs±30%":   {N: 3, Center: 12345, Low: 8641.5, High: 16000},
		"1.2 ms±240%": {N: 2, Center: 1.2345e6, Low: 4e5, High: 4.1973e6},
	} {
		if got := shownFigure(i, "ns"); got != want {
			t.Errorf("%+v: got %q, want %q", i, got, want)
		}
	}
}
