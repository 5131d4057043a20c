package main

import (
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay/internal/stat"
)

func TestSimulationRepeats(t *testing.T) {
	for _, s := range scenarios {
		e := experiment{scenario: s, judge: chosen, launches: 3, budget: 6, truth: equals}
		first, again := e.simulate(1, 2), e.simulate(1, 2)
		if first != again || first.tables < 2 || math.IsNaN(first.launches) || first.launches < 3*float64(first.comparisons) {
			t.Errorf("%s: %+v, again %+v", s.name, first, again)
		}
	}
}

// A family of decided comparisons only, as the rule once was, misses the bar: the
// bars can fail.
func TestPlantedRuleMissesTheBar(t *testing.T) {
	planted := func(rule stat.Rule, tables []stat.Table) []stat.Judged {
		all := rule.Judge(tables)
		for i, table := range tables {
			family := 0.0
			alone := make([]stat.Comparison, len(table.Tests))
			for j, test := range table.Tests {
				p := table.Pair(test.A, test.B)
				alone[j] = rule.JudgeOne(p, all[i].Prior(p), false)
				if alone[j].Verdict.Decided() {
					family++
				}
			}
			for j, c := range alone {
				if c.P*family > 0.05 { // Bonferroni is stricter than Holm
					c.Verdict = stat.Undecided
				}
				all[i].Comparisons[j] = c
			}
		}
		return all
	}
	s := []scenario{{name: "10 equals", tables: 4, members: 10}}
	for name, c := range map[string]struct {
		judge  judge
		missed bool
	}{"planted": {planted, true}, "chosen": {chosen, false}} {
		p := newPrinter(io.Discard, 1, 160)
		p.equals(c.judge, s)
		wrong := slices.ContainsFunc(p.missed, func(line string) bool { return strings.Contains(line, "false verdicts") })
		ordered := slices.ContainsFunc(p.missed, func(line string) bool { return strings.Contains(line, "ordered") })
		if wrong != c.missed || ordered != c.missed {
			t.Errorf("%s: missed bars %q; false verdicts and order are to be missed: %v", name, p.missed, c.missed)
		}
	}
}

func TestDisqualifiedLaunchesDoNotCount(t *testing.T) {
	s := scenario{spread: always(0.5), disturb: 1}
	m := s.draw(rand.New(rand.NewPCG(1, 1)), 40, make([]float64, 2))
	left := 0
	for _, bad := range m.disqualified {
		if !bad {
			left++
		}
	}
	if got := len(s.first(m, 12)[0]); got != min(12, left) || left == 40 {
		t.Errorf("%d launches of the %d that are left, want 12 at most", got, left)
	}
}

// A rule that does not tell members apart misses the bar of the noisiest one.
func TestPlantedMembersMissTheBar(t *testing.T) {
	planted := func(rule stat.Rule, tables []stat.Table) []stat.Judged {
		for _, table := range tables {
			for _, row := range table.Pairs {
				for j := range row {
					row[j].Members = [2]string{}
				}
			}
		}
		return rule.Judge(tables)
	}
	for name, c := range map[string]struct {
		judge  judge
		missed bool
	}{"planted": {planted, true}, "chosen": {chosen, false}} {
		p := newPrinter(io.Discard, 1, 280)
		p.worst(c.judge)
		if got := len(p.missed) > 0; got != c.missed {
			t.Errorf("%s: missed bars %q; want some: %v", name, p.missed, c.missed)
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
		const n = 100000
		var sum, squares float64
		for _, x := range s.side(random, n) {
			sum += x
			squares += x * x
		}
		if mean, sd := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 0.03 || math.Abs(sd-1) > 0.15 {
			t.Errorf("%s: mean %.3f, standard deviation %.3f; want 0 and 1", s.name, mean, sd)
		}
	}
}

// What differs by the margin is not equivalent, which is the hardest case.
func TestDifferentFromTheMarginOn(t *testing.T) {
	e := experiment{scenario: scenario{tables: 1, members: 4}, judge: chosen, launches: 3, truth: apart(1 + margin)}
	if got := e.simulate(1, 1); got.different != 2 {
		t.Errorf("%d of the comparisons differ, want 2", got.different)
	}
}

func TestLayoutMeans(t *testing.T) {
	if got, want := layoutMeans([]float64{1, 5, 3, 7, 2}, 2), []float64{2, 6}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A rule that does not count looks misses the bar.
func TestPlantedLooksMissTheBar(t *testing.T) {
	s := []scenario{{name: "7 %"}}
	forgetful := func(int) stat.Rule { return stat.Rule{Margin: margin, Planned: 1} }
	for name, c := range map[string]struct {
		rule   lookRule
		missed bool
	}{"planted": {forgetful, true}, "chosen": {chosenLooks, false}} {
		p := newPrinter(io.Discard, 1, 280)
		p.looks(c.rule, s)
		if got := len(p.missed) > 0; got != c.missed {
			t.Errorf("%s: missed bars %q; want some: %v", name, p.missed, c.missed)
		}
	}
}

// A bound that is the worst of the ratios themselves misses the bar.
func TestPlantedLossMissesTheBar(t *testing.T) {
	planted := func(comparisons []stat.Comparison) float64 {
		worst := 1.0
		for _, c := range comparisons {
			worst = max(worst, c.Ratio.Center) // times, of which less is better
		}
		return worst
	}
	for name, c := range map[string]struct {
		loss   func([]stat.Comparison) float64
		missed bool
	}{"planted": {planted, true}, "chosen": {stat.Loss, false}} {
		p := newPrinter(io.Discard, 1, 560)
		p.losses(c.loss, []scenario{{name: "7 %"}})
		if got := len(p.missed) > 0; got != c.missed {
			t.Errorf("%s: missed bars %q; want some: %v", name, p.missed, c.missed)
		}
	}
}

// Odds by a quarter of the spread, which take noise for a difference, overstate.
func TestPlantedOddsMissTheBar(t *testing.T) {
	planted := func(comparisons []stat.Comparison) float64 {
		mean, variance := 0.0, 0.0
		for _, c := range comparisons {
			mean -= math.Log(c.Ratio.Center)
			variance += math.Pow(math.Log(c.Ratio.High/c.Ratio.Low)/16, 2)
		}
		return 0.5 * math.Erfc(-mean/math.Sqrt(2*variance))
	}
	for name, c := range map[string]struct {
		chance func([]stat.Comparison) float64
		missed bool
	}{"planted": {planted, true}, "chosen": {stat.Chance, false}} {
		p := newPrinter(io.Discard, 1, 800)
		p.odds(c.chance, []scenario{{name: "30 %", tables: 6, members: 3, spread: always(0.3)}})
		if got := len(p.missed) > 0; got != c.missed {
			t.Errorf("%s: missed bars %q; want some: %v", name, p.missed, c.missed)
		}
	}
}
