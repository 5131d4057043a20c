package main

import (
	"math"
	"math/rand/v2"

	"assay/internal/stat"
)

// scenario says how the tables of a run come about. Its parameters are those of
// real cells: ratios spread by 2 to 12 % between launches, and the machine itself
// moves by 5 %, which the pairing removes.
type scenario struct {
	name            string
	tables, members int // 0: 7 tables of 5 members
	// spread draws a table's standard deviation of the log ratio between launches,
	// of members of factor 1; factor draws a member's. Nil: 7 %, and 1.
	spread, factor func(random *rand.Rand) float64
	// side draws the deviations of one member in n launches, scaled to a standard
	// deviation of 1; nil: normal.
	side func(random *rand.Rand, n int) []float64
	// extra adds to one member what the baseline does not have; nil: nothing.
	extra func(random *rand.Rand, n int) []float64
	// unlike is by how much more the figures of every other member spread, which are
	// of another kind; 0: all are of one.
	unlike float64
	// noisy is by how much more the figures of the last member before the twin spread than
	// those of the others; 0: no more.
	noisy    float64
	layouts  int     // link layouts of each build, used by turns; 0: they have no effect
	byLayout bool    // compare means of layouts instead of launches
	drift    float64 // of the whole machine, in a launch
	disturb  float64 // share of launches that a stranger disturbs
	// limit names what there is against a condition under which a bar is missed;
	// empty: all must be met.
	limit string
}

// machine is by how much the whole machine differs between launches.
const machine = 0.05

func always(x float64) func(*rand.Rand) float64 { return func(*rand.Rand) float64 { return x } }

// between draws from a range, evenly on a log scale.
func between(low, high float64) func(*rand.Rand) float64 {
	return func(random *rand.Rand) float64 { return low * math.Pow(high/low, random.Float64()) }
}

// wide is the limit where intervals hold more often than they need.
const wide = "nothing: intervals are wider than they need be"

var scenarios = []scenario{
	{name: "spread 2 %", spread: always(0.02)},
	{name: "spread 4 %", spread: always(0.04)},
	{name: "spread 7 %"},
	{name: "spread 12 %", spread: always(0.12)},
	{name: "spreads 2-12 %", spread: between(0.02, 0.12)},
	{name: "7 %, drivers differ 3x", factor: between(1, 3)},
	{name: "2-12 %, drivers differ 3x", spread: between(0.02, 0.12), factor: between(1, 3)},
	{name: "10 members, 2-12 %, 3x", tables: 4, members: 10, spread: between(0.02, 0.12), factor: between(1, 3)},
	{name: "20 members, 2-12 %, 3x", tables: 2, members: 20, spread: between(0.02, 0.12), factor: between(1, 3)},
	{name: "20 members, 7 %", tables: 2, members: 20},
	{name: "2 members, 2-12 %, 3x", tables: 14, members: 2, spread: between(0.02, 0.12), factor: between(1, 3)},
	{name: "one table of 3, 3x", tables: 1, members: 3, factor: between(1, 3)},
	{name: "one table of 2", tables: 1, members: 2},
	{name: "heavy tails (t3), 7 %", side: student3, limit: wide},
	{name: "heavy tails (t3), 2-12 %, 3x", spread: between(0.02, 0.12), factor: between(1, 3), side: student3, limit: wide},
	{name: "log-normal, 7 %", side: skewed, limit: wide},
	{name: "disturbed launches", spread: always(0.03), disturb: 0.15},
	{name: "drift of the machine", spread: always(0.03), drift: 0.01},
	{name: "windows by variance, 4 %", spread: always(0.04), side: byVariance},
	{name: "two modes, both sides", spread: always(0.10), side: bimodalSides, limit: wide},
	{name: "stalls of one member, 3 %", spread: always(0.02), extra: stalls, limit: "the warning skewed"},
	{name: "two modes, one member", spread: always(0.02), extra: bimodal, limit: "the warning two modes"},
	{name: "autocorrelation 0.3", spread: always(0.04), side: follows(0.3), limit: "the warning autocorrelation"},
	{name: "autocorrelation 0.6", spread: always(0.04), side: follows(0.6), limit: "the warning autocorrelation"},
	{name: "drift of one member", spread: always(0.03), extra: drifts, limit: "the warning drift"},
	{name: "one layout", spread: always(0.03), layouts: 1, limit: "the warning layout"},
	{name: "6 layouts, by launch", spread: always(0.03), layouts: 6, limit: "comparing by layout"},
	{name: "6 layouts, by layout", spread: always(0.03), layouts: 6, byLayout: true},
	{name: "one table of 2 kinds of 2", members: 4, tables: 1, unlike: 1},
	{name: "two kinds, one 5x, 2-12 %", members: 6, tables: 7, spread: between(0.02, 0.12), unlike: 5},
	{name: "two kinds, one 5x, drivers differ 3x", members: 6, tables: 7, spread: between(0.02, 0.06), factor: between(1, 3), unlike: 5},
}

// measured holds what one table of a run measured: the log figures by member and
// launch. The last member is the twin of the first, which is the baseline.
type measured struct {
	logs         [][]float64
	disqualified []bool
}

// size is the number of tables of a run, and of members of a table without the
// twin.
func (s scenario) size() (tables, members int) {
	if s.tables == 0 {
		return 7, 5
	}
	return s.tables, s.members
}

// draw makes n launches of a table whose members have these true log ratios to
// the baseline.
func (s scenario) draw(random *rand.Rand, n int, truth []float64) measured {
	side, spread, factor := s.side, 0.07, always(1)
	if side == nil {
		side = normal
	}
	if s.spread != nil {
		spread = s.spread(random)
	}
	if s.factor != nil {
		factor = s.factor
	}
	m := measured{disqualified: make([]bool, n)}
	common := make([]float64, n)
	for k := range common {
		common[k] = machine*random.NormFloat64() + s.drift*float64(k)
	}
	var baseline []float64
	for i := range len(truth) + 1 {
		deviations, mine := side(random, n), spread/math.Sqrt2*factor(random)
		if s.kind(i, len(truth)) == 1 {
			mine *= s.unlike
		}
		if s.noisy > 0 && i == len(truth)-1 {
			mine *= s.noisy
		}
		effects := s.effects(random)
		switch i {
		case 0:
			baseline = effects
		case len(truth): // the twin is the same program
			effects = baseline
		}
		m.logs = append(m.logs, each(n, func(k int) float64 {
			return common[k] + truth[i%len(truth)] + mine*deviations[k] + effects[k%len(effects)]
		}))
	}
	if s.extra != nil {
		for k, x := range s.extra(random, n) {
			m.logs[1][k] += x
		}
	}
	s.disturbance(random, m)
	return m
}

// kind returns the kind of a member, 0 or 1; the twin is of the first one's.
func (s scenario) kind(i, members int) int {
	if s.unlike == 0 || i == members {
		return 0
	}
	return i % 2
}

// layoutEffect is the standard deviation of a ratio between layouts: of two operations of
// modernc in six layouts it was 1.8 and 1.9 %.
const layoutEffect = 0.019

func (s scenario) effects(random *rand.Rand) []float64 {
	return each(max(1, s.layouts), func(int) float64 {
		return layoutEffect / math.Sqrt2 * random.NormFloat64() * float64(min(1, s.layouts))
	})
}

// disturbance returns what a stranger's share of the CPU does to the member that is
// being measured, and whether the share was enough to disqualify the launch: over
// 10 %, as in package runner.
func (s scenario) disturbance(random *rand.Rand, m measured) {
	for k := range m.disqualified {
		if random.Float64() < s.disturb {
			share := 0.5 * random.Float64()
			m.logs[random.IntN(len(m.logs))][k] += share
			m.disqualified[k] = share > 0.10
		}
	}
}

// first are the first n launches that were not disqualified, or as many as there
// are; of layouts, the means.
func (s scenario) first(m measured, n int) [][]float64 {
	logs := make([][]float64, len(m.logs))
	for k, bad := range m.disqualified {
		if bad || len(logs[0]) == n {
			continue
		}
		for i := range logs {
			logs[i] = append(logs[i], m.logs[i][k])
		}
	}
	if s.byLayout {
		for i := range logs {
			logs[i] = layoutMeans(logs[i], s.layouts)
		}
	}
	return logs
}

// layoutMeans returns the mean of each layout, as package analysis does where
// several builds are compared. Layouts come by turns.
func layoutMeans(logs []float64, layouts int) []float64 {
	return each(min(layouts, len(logs)), func(l int) float64 {
		sum, count := 0.0, 0.0
		for k := l; k < len(logs); k += layouts {
			sum += logs[k]
			count++
		}
		return sum / count
	})
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

// shape is the shape of the skewed scenarios: the largest of 20 launches is 4 times
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
		if k == stat.MinLaunches {
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
		if k < stat.MinLaunches {
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
