package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSimulationRepeats(t *testing.T) {
	for _, s := range scenarios {
		first, again := simulate(s, watched, 1, 5, 12, 1), simulate(s, watched, 1, 5, 12, 1)
		if first != again || first.draws != 5 || first.launches < 5*least || first.launches > 5*12 {
			t.Errorf("%s: %+v, again %+v", s.name, first, again)
		}
	}
}

func TestDisqualifiedLaunchesDoNotCount(t *testing.T) {
	s := scenario{spread: 0.5, disturb: 1}
	all := s.draw(rand.New(rand.NewPCG(1, 1)), 40, 0)
	_, c := fixed.run(s, all, 12)
	want := 0
	for _, d := range all.disqualified[:2*12] { // no more are tried
		if !d {
			want++
		}
	}
	if len(c.figures) != min(12, want) || len(c.ratios) != len(c.figures) || want == 24 {
		t.Errorf("%d launches, want %d", len(c.figures), want)
	}
}

// Every way to stop takes what it plans: a spread of nothing needs no more than
// the least, and one without end takes the budget.
func TestRulesStop(t *testing.T) {
	for _, rule := range []stopping{twoStages, stein, discarded, naive, watched} {
		wants := least
		if rule.name == discarded.name {
			wants = 2 * least
		}
		for spread, want := range map[float64]int{1e-6: wants, 1: 24} {
			s := scenario{spread: spread}
			if _, c := rule.run(s, s.draw(rand.New(rand.NewPCG(1, 1)), 48, 0), 24); len(c.figures) != want {
				t.Errorf("%s: %d launches at a spread of %g, want %d", rule.name, len(c.figures), spread, want)
			}
		}
	}
}

// Sides are scaled to a standard deviation of 1 about 0.
func TestSidesAreScaled(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for _, s := range scenarios {
		if s.side == nil {
			continue
		}
		const n = 200000
		var sum, squares float64
		for _, x := range s.side(random, n) {
			sum += x
			squares += x * x
		}
		if mean, sd := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 0.02 || math.Abs(sd-1) > 0.1 {
			t.Errorf("%s: mean %.3f, standard deviation %.3f", s.name, mean, sd)
		}
	}
}

func TestLayoutMeans(t *testing.T) {
	got := layoutMeans([]float64{1, 5, 4, 20}, []int{0, 1, 0, 1})
	if !slices.EqualFunc(got, []float64{2, 10}, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
		t.Errorf("%v, want 2 and 10", got)
	}
}
