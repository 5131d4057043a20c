package tune

import (
	"math"
	"testing"
)

// An exact design of three factors, with noise in a column that no factor has: the standard
// error is 2·0.004/√5, with 5 degrees of freedom, of which the 97.5 % quantile of t is 2.5706.
func TestIntervalsOfEffects(t *testing.T) {
	gains := []float64{-0.1, 0, 0.1}
	half := 2.5706 * 2 * 0.004 / math.Sqrt(5)
	rows := design(len(gains), spareRuns)
	noise := design(len(gains)+1, spareRuns)
	var differences []float64
	for i, row := range rows {
		d := 0.004 * noise[i][len(gains)]
		for j, gain := range gains {
			d += gain / 2 * row[j]
		}
		differences = append(differences, d)
	}
	alike := func(a, b float64) bool { return math.Abs(a-b) < 1e-5 }
	for j, e := range effects(rows, differences, 0.02) {
		if gain := gains[j]; !alike(e.Gain, gain) || !alike(e.Low, gain-half) || !alike(e.High, gain+half) || e.Nothing != (gain == 0) {
			t.Errorf("factor %d: got %+v, want %g [%.5f, %.5f], nothing %t", j, e, gain, gain-half, gain+half, gain == 0)
		}
	}
}
