package tune

import (
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
