package main

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"assay/internal/stat"
)

const (
	margin    = 0.02 // the plan's default
	precision = 0.02 // wished half-width
	least     = stat.MinLaunches
	// mostTries is as in package runner: so many times the launches wanted are
	// tried where launches are disqualified.
	mostTries = 2
)

// stopping is a way to decide on the number of launches, and to judge them.
type stopping struct {
	name string
	// launches is how many are wanted after n; ratios are those of the launches
	// so far. It is asked again after each launch.
	launches func(ratios []float64) int
	judge    func(c counted, noise float64) stat.Comparison
}

// counted are the launches that were not disqualified.
type counted struct{ figures, reference, twin, ratios []float64 }

var (
	watched = stopping{"watched, t at 96.5 % (chosen)", func(ratios []float64) int {
		if len(ratios) < least {
			return least
		}
		return stat.Enough(ratios, least, precision)
	}, compare(least, 0)}
	naive = stopping{"watched, t at 95 %", func(ratios []float64) int {
		if len(ratios) < least {
			return least
		}
		return stat.Enough(ratios, math.MaxInt, precision)
	}, compare(0, 0)}
	twoStages = stopping{"two stages, t of all launches", stages(0), compare(0, 0)}
	stein     = stopping{"two stages, t of the pilot (Stein)", stages(0), judgeStein}
	discarded = stopping{"pilot discarded", stages(least), compare(0, least)}
	fixed     = stopping{"all of the budget", func([]float64) int { return math.MaxInt }, compare(0, 0)}
)

// compare judges by package stat's rule, without the first launches.
func compare(least, without int) func(counted, float64) stat.Comparison {
	return func(c counted, noise float64) stat.Comparison {
		if len(c.figures) <= without {
			without = 0
		}
		// Figures are above zero by construction.
		comparison, _ := stat.Rule{Margin: margin, Noise: noise, Least: least}.Compare(c.figures[without:], c.reference[without:], false)
		return comparison
	}
}

// stages plans once, from the first launches, and adds extra for a pilot that is
// not used.
func stages(extra int) func([]float64) int {
	return func(ratios []float64) int {
		if len(ratios) < least {
			return least + extra
		}
		half := t95(least-1) * stat.Spread(ratios[:least])
		return extra + max(least, int(math.Ceil(math.Pow(half/precision, 2))))
	}
}

// judgeStein is the rule with the spread of the first launches only.
func judgeStein(c counted, noise float64) stat.Comparison {
	n := float64(len(c.ratios))
	mean := 0.0
	for _, r := range c.ratios {
		mean += math.Log(r) / n
	}
	half := t95(least-1) * stat.Spread(c.ratios[:least]) / math.Sqrt(n)
	verdict, quiet, band := stat.Undecided, noise <= margin, math.Log1p(noise)
	if quiet {
		band = 0
	}
	switch edge := math.Log1p(margin); {
	case quiet && mean-half >= -edge && mean+half <= edge:
		verdict = stat.Equivalent
	case mean+half < -band:
		verdict = stat.Faster
	case mean-half > band:
		verdict = stat.Slower
	}
	ratio := stat.Interval{N: len(c.ratios), Center: math.Exp(mean), Low: math.Exp(mean - half), High: math.Exp(mean + half)}
	return stat.Comparison{Ratio: ratio, Verdict: verdict}
}

func t95(freedom int) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: float64(freedom)}.Quantile(0.975)
}

// run launches until the rule has enough or the budget of undisturbed launches
// is spent, and judges.
func (r stopping) run(s scenario, all series, budget int) (stat.Comparison, counted) {
	var c counted
	var layouts []int
	for k := range all.figures {
		if len(c.figures) >= min(budget, r.launches(c.ratios)) || k >= mostTries*budget {
			break
		}
		if all.disqualified[k] {
			continue
		}
		c.figures = append(c.figures, all.figures[k])
		c.reference = append(c.reference, all.reference[k])
		c.twin = append(c.twin, all.twin[k])
		c.ratios = append(c.ratios, all.figures[k]/all.reference[k])
		layouts = append(layouts, all.layouts[k])
	}
	noise := stat.Noise(c.twin, c.reference)
	if !s.byLayout {
		return r.judge(c, noise), c
	}
	means := counted{figures: layoutMeans(c.figures, layouts), reference: layoutMeans(c.reference, layouts)}
	if len(c.ratios) > least { // the spread decided on the number of launches, though not on that of layouts
		return compare(len(means.figures)-1, 0)(means, noise), c
	}
	return compare(0, 0)(means, noise), c
}

// layoutMeans returns the geometric mean of the figures of each layout, as
// package report does where several builds are compared. Layouts come by turns.
func layoutMeans(figures []float64, layouts []int) []float64 {
	var sums, counts []float64
	for i, l := range layouts {
		if l == len(sums) {
			sums, counts = append(sums, 0), append(counts, 0)
		}
		sums[l] += math.Log(figures[i])
		counts[l]++
	}
	return each(len(sums), func(l int) float64 { return math.Exp(sums[l] / counts[l]) })
}
