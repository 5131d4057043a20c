package tune

import (
	"cmp"
	"context"
	"math"
	"slices"

	"assay/internal/stat"
)

const (
	// minBlocks is how many blocks a race should have: where the budget does not pay for
	// them, each drops the half that is behind. A race ends earlier where a model says that
	// few are left.
	minBlocks = 4
	// maxBlocks ends a race in which nobody is behind.
	maxBlocks = 6
	// minRounds is how many blocks of all candidates a budget should pay at least:
	// where it does not, there are fewer candidates.
	minRounds = 2
	// maxFinalists is how many candidates are confirmed at most.
	maxFinalists = 4
	// droppedBelow is the one-sided p-value below which a candidate leaves the race, and
	// finalistBelow that below which it is no finalist.
	droppedBelow  = 0.01
	finalistBelow = 0.10
)

// race measures the candidates block by block and returns those that remain, the
// best first. Whoever is shown to be behind the leader is dropped. Where the budget does
// not pay for four blocks of all, each block drops the half that is behind.
func (t *tuning) race(ctx context.Context, candidates []Point) ([]Point, error) {
	for len(candidates) > maxFinalists && t.affordable(raceShare, len(candidates)) < minRounds {
		candidates = candidates[:len(candidates)-1] // the likely ones are in front
	}
	left, all := candidates, candidates
	enough := min(2, len(candidates))
	for n := 1; n <= maxBlocks && len(left) > 0; n++ {
		if t.affordable(raceShare, len(left)) == 0 && n > 1 {
			break
		}
		halving := t.affordable(raceShare, len(left)) < minBlocks-n
		members, err := t.block(ctx, Block{Stage: Race, Number: n, Points: left, All: all})
		if err != nil {
			return nil, err
		}
		for i, m := range members {
			t.gains[left[i].Key()] = append(t.gains[left[i].Key()], m.gain())
		}
		t.recordBlock(left, members)
		left = slices.DeleteFunc(slices.Clone(left), func(p Point) bool { return t.refused[p.Key()] != "" })
		m := newModel(t.launches)
		t.rank(m, left)
		switch {
		case m == nil && !halving:
			continue
		case halving && len(left) > maxFinalists:
			left = left[:max(maxFinalists, (len(left)+1)/2)]
		}
		if m != nil {
			left = m.dropBehind(left, droppedBelow)
		}
		// What sets so few apart, the ablation tells better.
		if m != nil && len(left) <= maxFinalists || n >= minBlocks && len(left) <= enough {
			break
		}
	}
	return left, nil
}

// rank puts the best first: by all launches of the search, or where these are too few by
// those of each point.
func (t *tuning) rank(m *model, points []Point) {
	if m == nil {
		t.sortByGain(points)
		return
	}
	start := t.config.Space.start()
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(m.compare(b, start).mean, m.compare(a, start).mean) })
}

// sortByGain puts the best first, and last what was never measured, whose mean is no number.
func (t *tuning) sortByGain(points []Point) {
	slices.SortStableFunc(points, func(a, b Point) int {
		return cmp.Compare(mean(t.gains[b.Key()]), mean(t.gains[a.Key()]))
	})
}

// dropBehind keeps whoever is not shown to be behind the first, with a one-sided p-value.
func (m *model) dropBehind(points []Point, p float64) []Point {
	if len(points) == 0 {
		return nil
	}
	return append(points[:1:1], slices.DeleteFunc(slices.Clone(points[1:]), func(other Point) bool { return m.compare(points[0], other).p() < p })...)
}

// compare compares rows of log gains, block by block, as one table.
func compare(rows [][]float64, tests []stat.Test, rule stat.Rule) []stat.Comparison {
	table := stat.Table{Tests: tests}
	for i := range rows {
		var pairs []stat.Pairs
		for j := range i {
			pairs = append(pairs, pair(rows[i], rows[j]))
		}
		table.Pairs = append(table.Pairs, pairs)
	}
	return rule.Judge([]stat.Table{table})[0].Comparisons
}

// pair is the difference of two rows in the blocks that both have.
func pair(a, b []float64) stat.Pairs {
	var differences []float64
	for k := range min(len(a), len(b)) {
		if d := a[k] - b[k]; !math.IsNaN(d) {
			differences = append(differences, d)
		}
	}
	p := stat.Pairs{N: len(differences), Mean: math.NaN(), SD: math.NaN()}
	if p.N > 0 {
		p.Mean = mean(differences)
	}
	if p.N > 1 {
		squares := 0.0
		for _, d := range differences {
			squares += (d - p.Mean) * (d - p.Mean)
		}
		p.SD = math.Sqrt(squares / float64(p.N-1))
	}
	return p
}
