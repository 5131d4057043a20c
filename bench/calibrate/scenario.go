package main

import (
	"math"
	"math/rand/v2"

	"assay/internal/stat"
)

// scenario is how launches come about. Its parameters are those of real cells:
// ratios spread by 2 to 7 % between launches, on a busy machine by 10 % and more,
// and the machine itself moves by as much again, which the pairing removes.
type scenario struct {
	name   string
	spread float64 // standard deviation of the log ratio between launches
	// side draws the deviations of one side of the comparison in n launches,
	// scaled to a standard deviation of 1; nil: normal.
	side func(random *rand.Rand, n int) []float64
	// extra adds to the figure's side what the reference does not have; nil:
	// nothing.
	extra    func(random *rand.Rand, n int) []float64
	layouts  int     // link layouts of each build, used by turns; 0: they have no effect
	byLayout bool    // compare means of layouts instead of launches
	drift    float64 // of the whole machine, in a launch
	disturb  float64 // share of launches that a stranger disturbs
	known    string  // the warning that this condition always has
	// limit names what there is against a condition under which the bars are
	// missed; empty: they must be met.
	limit string
}

// machine is by how much the whole machine differs between launches.
const machine = 0.05

var scenarios = []scenario{
	{name: "normal, 2 %", spread: 0.02},
	{name: "normal, 3 %", spread: 0.03},
	{name: "normal, 4 %", spread: 0.04},
	{name: "normal, 7 %", spread: 0.07},
	{name: "normal, 12 %", spread: 0.12},
	{name: "heavy tails (t3), 4 %", spread: 0.04, side: student3},
	{name: "heavy tails (t3), 7 %", spread: 0.07, side: student3},
	{name: "log-normal, 4 %", spread: 0.04, side: skewed},
	{name: "stalls of one side, 3 %", spread: 0.02, extra: stalls, limit: "skewed"},
	{name: "two modes, one side", spread: 0.02, extra: bimodal, limit: "two modes"},
	{name: "two modes, both sides", spread: 0.10, side: bimodalSides},
	{name: "autocorrelation 0.3", spread: 0.04, side: follows(0.3), limit: "autocorrelation"},
	{name: "autocorrelation 0.6", spread: 0.04, side: follows(0.6), limit: "autocorrelation"},
	{name: "drift of the machine", spread: 0.03, drift: 0.01},
	{name: "drift of the ratio", spread: 0.03, extra: drifts, limit: "drift"},
	{name: "disturbed launches", spread: 0.03, disturb: 0.15},
	{name: "windows by variance, 4 %", spread: 0.04, side: byVariance},
	{name: "one layout", spread: 0.03, layouts: 1, known: "layout"},
	{name: "6 layouts, by launch", spread: 0.03, layouts: 6, limit: "comparing by layout"},
	{name: "6 layouts, by layout", spread: 0.03, layouts: 6, byLayout: true},
}

// series is what was measured in the launches of one run, undisturbed or not.
type series struct {
	figures, reference, twin []float64
	layouts                  []int
	disqualified             []bool
}

// draw makes n launches with the true log ratio.
func (s scenario) draw(random *rand.Rand, n int, ratio float64) series {
	side := s.side
	if side == nil {
		side = normal
	}
	figure, reference, twin := side(random, n), side(random, n), side(random, n)
	extra := make([]float64, n)
	if s.extra != nil {
		extra = s.extra(random, n)
	}
	effects := make([]float64, max(1, s.layouts))
	for i := range effects {
		effects[i] = layoutEffect * random.NormFloat64() * float64(min(1, s.layouts))
	}
	var all series
	for k := range n {
		common := machine * random.NormFloat64()
		hit, disqualified := s.disturbance(random)
		layout := k % len(effects)
		at := func(x float64) float64 { return 1000 * math.Exp(common+s.drift*float64(k)+s.spread/math.Sqrt2*x) }
		all.figures = append(all.figures, at(figure[k])*math.Exp(ratio+extra[k]+effects[layout]+hit))
		all.reference = append(all.reference, at(reference[k]))
		all.twin = append(all.twin, at(twin[k]))
		all.layouts = append(all.layouts, layout)
		all.disqualified = append(all.disqualified, disqualified)
	}
	return all
}

// layoutEffect is the standard deviation of a ratio between layouts.
const layoutEffect = 0.03

// disturbance is what a stranger's share of the CPU does to the side that is
// being measured, and whether the share was enough to disqualify the launch: over
// 10 %, as in package runner.
func (s scenario) disturbance(random *rand.Rand) (effect float64, disqualified bool) {
	if random.Float64() >= s.disturb {
		return 0, false
	}
	share := 0.5 * random.Float64()
	sign := float64(1 - 2*random.IntN(2)) // either side may be at work
	return sign * share, share > 0.10
}

func normal(random *rand.Rand, n int) []float64 {
	return each(n, func(int) float64 { return random.NormFloat64() })
}

// student3 is Student's t with three degrees of freedom.
func student3(random *rand.Rand, n int) []float64 {
	return each(n, func(int) float64 {
		squares := 0.0
		for range 3 {
			x := random.NormFloat64()
			squares += x * x
		}
		return random.NormFloat64() / math.Sqrt(squares/3) / math.Sqrt(3)
	})
}

// shape is that of the skewed scenarios: the largest of 20 launches is 4 times
// as far out as the median.
const shape = 0.8

// skewed is log-normal: most launches a little faster, a few far slower.
func skewed(random *rand.Rand, n int) []float64 {
	mean, factor := math.Exp(shape*shape/2), math.Exp(shape*shape)
	sd := mean * math.Sqrt(factor-1)
	return each(n, func(int) float64 { return (math.Exp(shape*random.NormFloat64()) - mean) / sd })
}

// stalls are skewed and of one side only, by 2.5 %.
func stalls(random *rand.Rand, n int) []float64 {
	all := skewed(random, n)
	return each(n, func(i int) float64 { return 0.025 * all[i] })
}

// bimodal launches are slower by 15 % in three of ten.
func bimodal(random *rand.Rand, n int) []float64 {
	const slow, share = 0.15, 0.3
	return each(n, func(int) float64 {
		if random.Float64() < share {
			return slow - share*slow
		}
		return -share * slow
	})
}

// bimodalSides is bimodal with a spread of 1.5 % within, scaled to the ratio's
// spread of 10 %.
func bimodalSides(random *rand.Rand, n int) []float64 {
	modes := bimodal(random, n)
	return each(n, func(i int) float64 { return (modes[i] + 0.015*random.NormFloat64()) * math.Sqrt2 / 0.10 })
}

// follows makes launches that resemble the ones before them.
func follows(correlation float64) func(*rand.Rand, int) []float64 {
	return func(random *rand.Rand, n int) []float64 {
		last := random.NormFloat64()
		return each(n, func(int) float64 {
			last = correlation*last + math.Sqrt(1-correlation*correlation)*random.NormFloat64()
			return last
		})
	}
}

// drifts moves the ratio by 0.2 % a launch, up or down, from what it was at first.
func drifts(random *rand.Rand, n int) []float64 {
	slope := 0.002 * float64(1-2*random.IntN(2))
	return each(n, func(i int) float64 { return slope * float64(i) })
}

// byVariance are launches of windows, whose number package runner chooses after
// the launches that every cell gets: windows spread by 2.3 times as much as
// launches, and a launch costs ten windows.
func byVariance(random *rand.Rand, n int) []float64 {
	const launchSpread, ratio, most, cost = 0.03, 2.3, 20, 10.0
	windows, first := 5, [][]float64{}
	scale := launchSpread * math.Sqrt(1+ratio*ratio/8) // with the 8 windows that are best
	return each(n, func(k int) float64 {
		if k == least {
			v, _ := stat.EstimateVariances([][][]float64{first}) // figures are above zero by construction
			windows = stat.Repetitions(v.Windows, v.Launches, 1, cost, most)
		}
		launch, sum := launchSpread*random.NormFloat64(), 0.0
		var figures []float64
		for range windows {
			x := launch + ratio*launchSpread*random.NormFloat64()
			sum += x
			figures = append(figures, math.Exp(x))
		}
		if k < least {
			first = append(first, figures)
		}
		return sum / float64(windows) / scale
	})
}

func each(n int, draw func(i int) float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = draw(i)
	}
	return all
}
