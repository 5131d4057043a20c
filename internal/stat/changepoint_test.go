package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// series draws log ratios of runs, with a standard deviation, that shift in the
// middle.
func series(random *rand.Rand, n int, sd, shift float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = sd * random.NormFloat64()
		if i >= n/2 {
			values[i] += shift
		}
	}
	return values
}

// Series of which the truth is known: docs/history.md has some of these figures.
func TestChangePointsOfKnownTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("it simulates many series")
	}
	const draws = 300
	for _, c := range []struct {
		n         int
		sd, shift float64
		least     float64 // share of series with a change point within one run of the shift
		most      float64 // share of series with any other change point
	}{
		{12, 0.02, 0, 0, 0.02}, {30, 0.02, 0, 0, 0.02}, {60, 0.05, 0, 0, 0.02},
		{12, 0.02, 0.05, 0.45, 0.12}, {20, 0.02, 0.05, 0.75, 0.2}, {30, 0.02, 0.10, 0.95, 0.05}, {60, 0.02, 0.05, 0.75, 0.2},
	} {
		random := rand.New(rand.NewPCG(7, uint64(c.n)))
		found, wrong := 0, 0
		for range draws {
			near, other := false, false
			for _, p := range ChangePoints(series(random, c.n, c.sd, c.shift)) {
				if c.shift != 0 && math.Abs(float64(p.At-c.n/2)) <= 1 {
					near = true
				} else {
					other = true
				}
			}
			if near {
				found++
			}
			if other {
				wrong++
			}
		}
		t.Logf("%d runs, spread %.0f %%, shift %.0f %%: found within one run in %.1f %%, another change point in %.1f %%", c.n, 100*c.sd, 100*c.shift,
			100*float64(found)/draws, 100*float64(wrong)/draws)
		if float64(found) < c.least*draws || float64(wrong) > c.most*draws {
			t.Errorf("%+v: got %d found and %d wrong of %d", c, found, wrong, draws)
		}
	}
}

func TestChangePoints(t *testing.T) {
	two := append(append([]float64{0, 0.01, -0.01, 0, 0.01, -0.01, 0.005, 0}, 0.2, 0.21, 0.19, 0.2, 0.21, 0.2, 0.19, 0.2), 0.1, 0.11, 0.1, 0.09, 0.1, 0.1, 0.11, 0.1)
	got := ChangePoints(two)
	if len(got) != 2 || got[0].At != 8 || got[1].At != 16 || math.Abs(got[0].After-0.2) > 0.01 || math.Abs(got[1].After-0.1) > 0.01 {
		t.Errorf("got %+v, want changes at 8 and 16", got)
	}
	for name, values := range map[string][]float64{"none": nil, "few": {1, 1, 2, 2, 2}, "equal": {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, "zero": make([]float64, 20)} {
		if got := ChangePoints(values); len(got) > 0 {
			t.Errorf("%s: got %+v, want no change", name, got)
		}
	}
}
