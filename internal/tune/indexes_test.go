package tune

import (
	"math"
	"slices"
	"testing"

	"assay/internal/stat"
)

// near are six launches around a gain.
func near(gain float64) []float64 {
	var all []float64
	for _, d := range []float64{0.01, -0.01, 0.006, -0.006, 0.003, -0.003} {
		all = append(all, gain+d)
	}
	return all
}

// Each operation of each index has a verdict of its own.
func TestVerdictsOfOperations(t *testing.T) {
	all := []Finalist{
		{rows: row{operations: [][]float64{near(0.1), near(-0.1)}}},
		{rows: row{operations: [][]float64{near(0), near(0)}}},
		{rows: row{operations: [][]float64{near(-0.1), near(0)}}},
	}
	judgeOperations(all, len(near(0)))
	for i, want := range [][]stat.Verdict{{stat.Faster, stat.Slower}, {stat.Undecided, stat.Undecided}, {stat.Slower, stat.Undecided}} {
		if got := all[i].Verdicts; !slices.Equal(got, want) {
			t.Errorf("index %d: got the verdicts %v, want %v", i, got, want)
		}
	}
}

// A large effect of two launches is told by what they showed, as an interval of so few
// can say anything; one that an interval decides is told by it.
func TestLargeRatio(t *testing.T) {
	wide, narrow := stat.Interval{N: 2, Center: 135, Low: 0.046, High: 398188}, stat.Interval{N: 6, Center: 12, Low: 11, High: 13}
	for _, c := range []struct {
		interval stat.Interval
		gains    []float64
		want     string
	}{
		{wide, []float64{math.Log(100), math.Log(182)}, "135x (100 to 182 in 2 launches)"},
		{narrow, []float64{math.Log(11.5), math.Log(12.5)}, "12.0x [11.0, 13.0]"},
		{wide, []float64{math.Log(100), math.Log(0.5)}, "135x [0.0460, 398188]"},
	} {
		if got := largeRatio(c.interval, c.gains); got != c.want {
			t.Errorf("of launches %v: got %q, want %q", c.gains, got, c.want)
		}
	}
}
