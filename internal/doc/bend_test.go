package doc

import (
	"math"
	"strconv"
	"testing"

	"assay/internal/doc/chart"
)

func TestBend(t *testing.T) {
	unknown := math.NaN()
	for name, c := range map[string]struct {
		higher bool
		half   float64 // of each interval, as a share of its centre
		points []float64
		want   string
	}{
		"no end":            {false, .01, []float64{8, 4, 2}, "0.25x from 0 to 2"},
		"flat at the end":   {false, .01, []float64{8, 4, 2, 2.01}, "0.25x from 0 to 3, flat from 2"},
		"flat at the start": {false, .01, []float64{2, 2.01, 8}, "4.0x from 0 to 2, flat up to 1"},
		"best inside":       {false, .01, []float64{4, 2, 8}, "best at 1"},
		"best range":        {true, .01, []float64{4, 9, 9.01, 2}, "best from 1 to 2"},
		"saturates":         {true, .01, []float64{1, 4, 4.01}, "4.0x from 0 to 2, flat from 1"},
		"noise":             {true, .2, []float64{1, 1.1, .95}, "0.95x from 0 to 2: undecided"},
		"no intervals":      {false, unknown, []float64{1, 9, 2}, "2.0x from 0 to 2: undecided"},
	} {
		points := make([]chart.Point, len(c.points))
		for i, v := range c.points {
			points[i] = chart.Point{X: float64(i), Y: chart.Interval{Low: v * (1 - c.half), Center: v, High: v * (1 + c.half)}}
		}
		lines := &chart.Lines{X: chart.Axis{Tick: func(v float64) string { return strconv.Itoa(int(v)) }}, Series: []chart.Curve{{Points: points}}}
		if got := Bend(lines, c.higher); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
