package stat

import (
	"math"
	"slices"
	"testing"
)

func TestWatchedIntervalsAgreeWithSciPy(t *testing.T) {
	for _, v := range readDetected(t).Watched {
		ones := slices.Repeat([]float64{1}, len(v.Figures))
		c, err := Rule{Margin: 0.02, Planned: 6}.Compare(v.Figures, ones, false)
		if err != nil || !near(c.Ratio.Low, v.Low) || !near(c.Ratio.High, v.High) || !within(c.P, v.P, 1e-9) {
			t.Errorf("%d launches: %+v, %v; SciPy has %g to %g, p %g", len(v.Figures), c, err, v.Low, v.High, v.P)
		}
	}
}

func TestVariancesAgreeWithNumPy(t *testing.T) {
	for i, v := range readDetected(t).Variances {
		got, err := EstimateVariances(v.Figures)
		want := Variances{Windows: v.Windows, Launches: v.Launches, Layouts: math.NaN()}
		if v.Layouts != nil {
			want.Layouts = *v.Layouts
		}
		if err != nil || !within(got.Windows, want.Windows, 1e-9) || !within(got.Launches, want.Launches, 1e-9) || !near(got.Layouts, want.Layouts) {
			t.Errorf("case %d: %+v, %v; NumPy has %+v", i, got, err, want)
		}
		if r := Repetitions(got.Windows, got.Launches, 2, 30, 100); r != v.Repetitions {
			t.Errorf("case %d: %d windows a launch, NumPy has %d", i, r, v.Repetitions)
		}
	}
}

func TestVariancesOfUnequalNumbers(t *testing.T) {
	e := math.Exp
	// Windows: (2 + 0) / 3 about the means 0 and 3; launches: 4.5 less windows/2·(1/3 + 1/2).
	got, err := EstimateVariances([][][]float64{{{e(-1), e(0), e(1)}, {e(3), e(3)}}})
	if err != nil || !near(got.Windows, 2.0/3) || !near(got.Launches, 4.5-2.0/3*(5.0/6)/2) || !math.IsNaN(got.Layouts) {
		t.Errorf("%+v, %v", got, err)
	}
	single, err := EstimateVariances([][][]float64{{{e(1)}, {e(3)}}})
	if err != nil || !math.IsNaN(single.Windows) || !near(single.Launches, 2) {
		t.Errorf("one window a launch: %+v, %v", single, err)
	}
	for _, bad := range [][][][]float64{{{{}}}, {{{1, 0}}}, {{{1}, {math.NaN()}}}} {
		if v, err := EstimateVariances(bad); err == nil || v != (Variances{}) {
			t.Errorf("%v: %+v, %v", bad, v, err)
		}
	}
}

func TestRepetitionsAtTheEdges(t *testing.T) {
	for _, test := range []struct {
		lower, upper, lowerCost, upperCost float64
		want                               int
	}{
		{4, 1, 1, 1, 2}, {4, 1, 1, 4, 4}, {1, 4, 1, 1, 1}, {0, 1, 1, 1, 1}, {1, 0, 1, 1, 20}, {0, 0, 1, 1, 1},
		{math.NaN(), 1, 1, 1, 1}, {1, math.NaN(), 1, 1, 1}, {1e9, 1, 1, 1, 20},
	} {
		if got := Repetitions(test.lower, test.upper, test.lowerCost, test.upperCost, 20); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}

func TestSmallestDifferenceAgreesWithSciPy(t *testing.T) {
	for _, v := range readDetected(t).Smallest {
		if got, ok := SmallestDifference(v.Spread, v.Launches); !ok || !within(got, v.Difference, 1e-6) {
			t.Errorf("spread %g, %d launches: %g, %v; SciPy has %g", v.Spread, v.Launches, got, ok, v.Difference)
		}
	}
	for _, spread := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if got, ok := SmallestDifference(spread, 12); ok || got != 0 {
			t.Errorf("spread %g: %g, %v", spread, got, ok)
		}
	}
	if got, ok := SmallestDifference(0.02, MinPairs-1); ok || got != 0 {
		t.Errorf("too few launches: %g, %v", got, ok)
	}
}

func TestSharesAgreeWithSciPy(t *testing.T) {
	for _, v := range readDetected(t).Shares {
		got := Share(v.Hits, v.Total)
		if got.N != v.Total || !near(got.Center, float64(v.Hits)/float64(v.Total)) || !within(got.Low, v.Low, 1e-9) || !within(got.High, v.High, 1e-9) {
			t.Errorf("%d of %d: %v; SciPy has %g to %g", v.Hits, v.Total, got, v.Low, v.High)
		}
	}
	for _, bad := range [][2]int{{0, 0}, {-1, 5}, {6, 5}} {
		if got := Share(bad[0], bad[1]); got.N != 0 || !math.IsNaN(got.Center) || !math.IsNaN(got.Low) || !math.IsNaN(got.High) {
			t.Errorf("%v: %v", bad, got)
		}
	}
}
