package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// comparisons are of operations with true log gains, by launches with some noise.
func comparisons(random *rand.Rand, gains []float64, launches int, noise float64) []Comparison {
	var all []Comparison
	for _, gain := range gains {
		values := make([]float64, launches)
		for i := range values {
			values[i] = gain + random.NormFloat64()*noise
		}
		s := summarize(values)
		all = append(all, Rule{}.JudgeOne(Pairs{N: s.n, Mean: s.mean, SD: s.sd}, Prior{}, true))
	}
	return all
}

// The bounds are one-sided: with four launches that differ by 2 % about 1, Student's t
// with 3 degrees of freedom is 2.353 at 95 %.
func TestInferiorBounds(t *testing.T) {
	s := summarize([]float64{-0.02, 0.02, -0.02, 0.02})
	half := 2.353 * s.sd / 2
	got := NonInferior([]Comparison{Rule{}.JudgeOne(Pairs{N: 4, Mean: s.mean, SD: s.sd}, Prior{}, true)}, 0.05)[0]
	if math.Abs(got.AtLeast-math.Exp(-half)) > 1e-3 || math.Abs(got.AtMost-math.Exp(half)) > 1e-3 || !got.Within || got.Beyond {
		t.Errorf("got %+v, want the bounds %.4f and %.4f, within 5 %%", got, math.Exp(-half), math.Exp(half))
	}
	if got := NonInferior([]Comparison{{}}, 0.05)[0]; got.Measured || got.Within || got.Beyond || !math.IsNaN(got.AtLeast) {
		t.Errorf("of nothing got %+v, want that nothing was measured", got)
	}
}

// Where one of several operations loses just the limit, that all keep it is claimed in
// at most 5 % of simulated questions; where all do, so is that one of them exceeds it,
// or keeps it.
func TestInferiorErrors(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 5))
	const questions = 4000
	limit := -math.Log1p(0.05)
	for _, c := range []struct {
		name  string
		gains []float64
		wrong func([]NonInferiority) bool
	}{
		{"all within", []float64{limit, 0, 0, 0.2}, allWithin},
		{"one beyond", []float64{limit, limit, limit, limit, limit, limit}, func(all []NonInferiority) bool {
			for _, l := range all {
				if l.Beyond {
					return true
				}
			}
			return false
		}},
		{"one within", []float64{limit, limit, limit, limit, limit, limit}, func(all []NonInferiority) bool {
			for _, l := range all {
				if l.Within {
					return true
				}
			}
			return false
		}},
	} {
		wrong := 0
		for range questions {
			if c.wrong(NonInferior(comparisons(random, c.gains, 5, 0.03), 0.05)) {
				wrong++
			}
		}
		if share := float64(wrong) / questions; share > 0.06 { // 3 standard errors above 5 %
			t.Errorf("%s: got false claims in %.1f %% of questions, want at most 5 %%", c.name, 100*share)
		}
	}
	// A claim that can never be made would pass the above.
	if !allWithin(NonInferior(comparisons(random, []float64{0, 0, 0.1}, 6, 0.01), 0.05)) {
		t.Error("three operations that lose nothing are not shown to keep 5 %")
	}
	if got := NonInferior(comparisons(random, []float64{0.1, limit, 0.1}, 6, 0.02), 0.05); !got[0].Within || !got[2].Within {
		t.Errorf("got %+v, want the first and the third one within 5 %%", got)
	}
	if got := NonInferior(comparisons(random, []float64{0, -0.4, 0.1}, 6, 0.02), 0.05); !got[1].Beyond || got[0].Beyond || got[2].Beyond {
		t.Errorf("got %+v, want the second one beyond 5 %%", got)
	}
}

func allWithin(all []NonInferiority) bool {
	for _, l := range all {
		if !l.Within {
			return false
		}
	}
	return true
}
