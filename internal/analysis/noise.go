package analysis

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"assay/internal/stat"
)

// Noise holds what comparisons of equal things say about a machine.
type Noise struct{ Kinds []NoiseKind }

// NoiseKind holds what they say for one kind of operation.
type NoiseKind struct {
	Operation string
	Pairs     int           // comparisons of a thing with itself that have enough launches for a verdict
	Alarms    int           // of these, how many claim a difference
	Spread    float64       // standard deviation of log ratios between launches, over all pairs
	Launch    time.Duration // that one launch of a pair takes
}

// NewNoise compares the rows of each table two by two, in the order of their
// profiles' names: NAMEa with NAMEb, which are alike.
func NewNoise(r *Result) Noise {
	kinds := map[string]*NoiseKind{}
	var order []string
	squares, freedom := map[string]float64{}, map[string]float64{}
	for _, t := range r.Tables {
		name := t.Cell().Operation
		if kinds[name] == nil {
			kinds[name] = &NoiseKind{Operation: name}
			order = append(order, name)
		}
		kind := kinds[name]
		rows := slices.Clone(t.Rows)
		slices.SortFunc(rows, func(a, b *Row) int {
			return cmp.Or(strings.Compare(a.Cell.Target(), b.Cell.Target()), strings.Compare(a.Cell.Profile, b.Cell.Profile))
		})
		kind.Launch = t.Launch / time.Duration(max(1, len(rows)+len(t.Twins))) * 2
		for i := 0; i+1 < len(rows); i += 2 {
			p := kind.compare(t, rows[i], rows[i+1])
			squares[name] += p.SD * p.SD * float64(p.N-1)
			freedom[name] += float64(p.N - 1)
		}
	}
	var all Noise
	for _, name := range order {
		k := kinds[name]
		k.Spread = math.Sqrt(squares[name] / freedom[name])
		all.Kinds = append(all.Kinds, *k)
	}
	return all
}

// compare adds one pair, and returns it; one that cannot be compared has one launch.
func (k *NoiseKind) compare(t *Table, a, b *Row) stat.Pairs {
	p := a.pairs(b, t.Primary.Name)
	if !a.Comparable() || !b.Comparable() || p.N < stat.MinPairs {
		return stat.Pairs{N: 1}
	}
	c := stat.Rule{Margin: t.Margin, Planned: t.Planned}.JudgeOne(p, t.contest.judged.Prior(p), t.Primary.HigherBetter)
	k.Pairs++
	if c.Ratio.Low > 1 || c.Ratio.High < 1 {
		k.Alarms++
	}
	return p
}

// Smallest is the smallest difference that a comparison of two shows within a
// time, in 80 % of runs; false where the time is too short for a verdict.
func (k NoiseKind) Smallest(within time.Duration) (difference float64, launches int, ok bool) {
	if k.Launch <= 0 {
		return 0, 0, false
	}
	launches = int(within / k.Launch)
	difference, ok = stat.SmallestDifference(k.Spread, launches)
	return difference, launches, ok
}
