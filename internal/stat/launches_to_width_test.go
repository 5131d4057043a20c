package stat

import (
	"math"
	"slices"
	"testing"
)

func TestFurtherAgreesWithSciPy(t *testing.T) {
	for i, v := range readDetected(t).Enough {
		p, err := NewPairs(v.Ratios, slices.Repeat([]float64{1}, len(v.Ratios)))
		must(t, err)
		rule, precision := Rule{Planned: v.Least}, math.Expm1(v.Half)
		if got := rule.LaunchesToWidthUncompared(v.Ratios, precision); got != v.Enough-len(v.Ratios) || !near(p.SD, v.Spread) {
			t.Errorf("case %d: %d more, spread %g; SciPy has %d, %g", i, got, p.SD, v.Enough-len(v.Ratios), v.Spread)
		}
		// Of a comparison, where its difference has no say.
		p.Mean = 0
		if got := rule.launchesToWidth(p, Prior{}, Width{Half: precision}); got != v.Enough-len(v.Ratios) {
			t.Errorf("case %d: a comparison needs %d more, SciPy has %d", i, got, v.Enough-len(v.Ratios))
		}
	}
}

func TestFurtherWithTooFew(t *testing.T) {
	for name, c := range map[string]struct {
		figures []float64
		want    int
	}{"none": {nil, 2}, "one": {[]float64{1}, 1}, "a figure of zero": {[]float64{1, 2, 0}, 0}} {
		if got := (Rule{}).LaunchesToWidthUncompared(c.figures, 0.02); got != c.want {
			t.Errorf("%s: %d more, want %d", name, got, c.want)
		}
	}
}

// A difference that is three times its half-width needs no more launches, however
// wide the interval; a smaller one does.
func TestFurtherStopsEarlyWhereDifferencesAreLarge(t *testing.T) {
	for _, c := range []struct {
		mean float64
		stop bool
	}{{0.75, true}, {-0.75, true}, {0.72, false}, {0, false}} {
		p := Pairs{N: 6, Mean: c.mean, SD: 0.23}
		half := (Rule{}).sample(p, Prior{}).half()
		if got := (Rule{Planned: 6}).launchesToWidth(p, Prior{}, Width{Half: 0.02}); (got == 0) != c.stop {
			t.Errorf("a difference of %g with a half-width of %.3g needs %d more; stop %v is wanted", c.mean, half, got, c.stop)
		}
		if got := (Rule{Planned: 6}).launchesToWidth(p, Prior{}, Width{Half: 0.02, Exact: true}); got == 0 {
			t.Errorf("a difference of %g with a half-width of %.3g needs no more, want some where it is to be 2 %%", c.mean, half)
		}
	}
}
