package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func TestIntervalsOfFewOrOddValues(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, test := range []struct {
		name      string
		values    []float64
		log, mean Interval
		known     bool
	}{
		{"none", nil, Interval{0, nan, nan, nan}, Interval{0, nan, nan, nan}, false},
		{"one", []float64{20}, Interval{1, 20, nan, nan}, Interval{1, 20, nan, nan}, false},
		{"one zero", []float64{0}, Interval{1, 0, nan, nan}, Interval{1, 0, nan, nan}, false},
		{"equal", []float64{0.1, 0.1, 0.1}, Interval{3, 0.1, 0.1, 0.1}, Interval{3, 0.1, 0.1, 0.1}, true},
		{"zeros", []float64{0, 0}, Interval{2, 0, 0, 0}, Interval{2, 0, 0, 0}, true},
		{"not a number", []float64{1, nan}, Interval{2, nan, nan, nan}, Interval{2, nan, nan, nan}, false},
		{"infinite", []float64{inf, 1}, Interval{2, nan, nan, nan}, Interval{2, nan, nan, nan}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			log, mean := LogInterval(test.values), MeanInterval(test.values)
			if !sameInterval(log, test.log) || !sameInterval(mean, test.mean) {
				t.Errorf("log %v, mean %v; want %v, %v", log, mean, test.log, test.mean)
			}
			if log.Known() != test.known || mean.Known() != test.known {
				t.Errorf("known: log %v, mean %v; want %v", log.Known(), mean.Known(), test.known)
			}
		})
	}
	if (Interval{}).Known() {
		t.Error("the zero interval has no Low and High")
	}
}

func TestLogIntervalFallsBack(t *testing.T) {
	values := []float64{0, 1, 3, 8}
	if got, want := LogInterval(values), MeanInterval(values); got != want {
		t.Errorf("with a zero: %v, want the mean's %v", got, want)
	}
}

// figures draws what one cell may have measured.
func figures(n int) *rapid.Generator[[]float64] {
	return rapid.SliceOfN(rapid.Float64Range(1e-3, 1e9), n, n)
}

func TestIntervalScalesWithItsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := figures(rapid.IntRange(1, 12).Draw(t, "n")).Draw(t, "values")
		scale := rapid.Float64Range(1e-3, 1e3).Draw(t, "scale")
		scaled := make([]float64, len(values))
		for i, v := range values {
			scaled[i] = v * scale
		}
		got, base := LogInterval(scaled), LogInterval(values)
		want := Interval{base.N, base.Center * scale, base.Low * scale, base.High * scale}
		// At n = 2 a bound may be the 1e-152nd part of its centre: compare
		// on the scale of logarithms, where the arithmetic is done.
		if !nearLogs(got, want) {
			t.Fatalf("scaled by %g: %v, want %v", scale, got, want)
		}
	})
}

func nearLogs(a, b Interval) bool {
	differs := func(x, y float64) bool {
		return !(math.IsNaN(x) && math.IsNaN(y)) && !(math.Abs(math.Log(x)-math.Log(y)) < 1e-9)
	}
	return a.N == b.N && !differs(a.Center, b.Center) && !differs(a.Low, b.Low) && !differs(a.High, b.High)
}

func TestIntervalHoldsItsCenter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := figures(rapid.IntRange(2, 12).Draw(t, "n")).Draw(t, "values")
		for _, i := range []Interval{LogInterval(values), MeanInterval(values)} {
			if !i.Known() || i.Low > i.Center || i.Center > i.High {
				t.Fatalf("%v of %v", i, values)
			}
		}
	})
}

// The documented coverage: docs/statistics.md states it.
func TestCoverageAtSixLaunches(t *testing.T) {
	const draws, center = 4000, 1200.0
	random := rand.New(rand.NewPCG(6, 2026))
	held := 0
	for range draws {
		values := make([]float64, 6)
		for i := range values {
			values[i] = center * math.Exp(0.1*random.NormFloat64())
		}
		if i := LogInterval(values); i.Low <= center && center <= i.High {
			held++
		}
	}
	if share := float64(held) / draws; share < 0.93 || share > 0.97 {
		t.Errorf("the interval held the true centre in %.1f %% of %d draws, want 93 to 97", 100*share, draws)
	} else {
		t.Logf("%.2f %%", 100*share)
	}
}

// The k-th look is at 1 - 4 %/k².
func TestLooks(t *testing.T) {
	p := Pairs{N: 7, Mean: 0.1, SD: 0.05}
	half := func(i Interval) float64 { return math.Log(i.High/i.Low) / 2 }
	for looks, level := range map[int]float64{0: 0.95, 1: 0.95, 2: 0.99, 3: 1 - 0.04/9, 4: 0.9975} {
		p.Looks = looks
		c := Rule{Margin: 0.02}.JudgeOne(p, Prior{}, false)
		want := distuv.StudentsT{Sigma: 1, Nu: 6}.Quantile((1+level)/2) * 0.05 / math.Sqrt(7)
		if math.Abs(half(c.Ratio)/want-1) > 1e-9 {
			t.Errorf("%d looks: half-width %g, want %g", looks, half(c.Ratio), want)
		}
		if low := math.Log(c.Ratio.Low) > 0; low != (c.P < 0.05) {
			t.Errorf("%d looks: p %g, and the interval %v", looks, c.P, c.Ratio)
		}
	}
}
