package tune

import (
	"context"
	"math"
	"slices"

	"assay/internal/stat"
)

const (
	// ablationBlocks and minAblationBlocks are how many launches the ablation has, and
	// the fewest that say anything.
	ablationBlocks    = 6
	minAblationBlocks = 3
	// adding is the two-sided p-value below which a factor is added that the race did
	// not choose: several are tried, and one without an effect must not come in.
	adding = 0.02
)

// ablation changes one factor of the leader at a time: it leaves out each that the
// leader changed, and adds each that the leader did not and that may yet matter
// beside the others. It returns the finalists in the order in which they are to be
// proposed: the leader with what mattered, the leader with only its weakest left out,
// the leader itself, and who came in behind it.
func (t *tuning) ablation(ctx context.Context, ranked []Point) ([]Point, error) {
	if len(ranked) == 0 {
		return nil, nil
	}
	leader := ranked[0]
	points := []Point{leader}
	for j, level := range leader {
		if level != 0 {
			points = append(points, leader.with(j, 0))
		} else if t.mayMatter(j) {
			points = append(points, leader.with(j, 1))
		}
	}
	points = slices.DeleteFunc(points, func(p Point) bool { return t.refused[p.Key()] != "" })
	blocks := min(ablationBlocks, t.affordable(ablationShare, len(points)))
	finalists := []Point{leader}
	// Of one setting alone, the current settings tell what it does.
	if len(t.config.Space.unique(points)) > 1 && blocks >= minAblationBlocks {
		rows, err := t.rows(ctx, Ablation, blocks, points)
		if err != nil {
			return nil, err
		}
		finalists = t.refined(points, rows)
	}
	finalists = t.config.Space.unique(append(finalists, ranked[1:]...))
	finalists = slices.DeleteFunc(finalists, func(p Point) bool { return t.refused[p.Key()] != "" })
	return finalists[:min(maxFinalists, len(finalists))], nil
}

// mayMatter reports whether the screening leaves it open that a factor is worth half of
// the margin.
func (t *tuning) mayMatter(factor int) bool {
	return t.outcome.Effects != nil && t.outcome.Effects[factor].High > t.config.Margin/2
}

// rows measures points a fixed number of times. The current settings among them are
// not measured again: the gains of all others are against them.
func (t *tuning) rows(ctx context.Context, stage Stage, blocks int, points []Point) (map[string]*row, error) {
	measured := t.config.Space.unique(points)
	rows := map[string]*row{}
	for n := range blocks {
		members, err := t.block(ctx, Block{Stage: stage, Number: n + 1, Of: blocks, Points: measured, All: measured})
		if err != nil {
			return nil, err
		}
		collect(rows, measured, members)
	}
	if t.config.Space.StartIsCurrent {
		rows[t.config.Space.start().Key()] = &row{gains: make([]float64, blocks)}
	}
	return rows, nil
}

// collect adds to the rows of points what a block measured of them.
func collect(rows map[string]*row, points []Point, members []Member) {
	for i, m := range members {
		key := points[i].Key()
		if rows[key] == nil {
			rows[key] = &row{}
		}
		rows[key].add(m)
	}
}

// refined returns the leader, the first of the points, with the factors that
// mattered and without those that did not.
func (t *tuning) refined(points []Point, rows map[string]*row) []Point {
	leader := points[0]
	var gains [][]float64
	var tests []stat.Test
	for i, p := range points {
		gains = append(gains, rows[p.Key()].gains)
		if i > 0 {
			tests = append(tests, stat.Test{A: 0, B: i, Alone: true, HigherBetter: true})
		}
	}
	best := slices.Clone(leader)
	weakest, strongest := Point(nil), Point(nil)
	least, most := math.Inf(1), math.Inf(-1)
	for i, c := range compare(gains, tests, stat.Rule{}) {
		p := points[i+1]
		j := leader.differs(p)
		if leader[j] == 0 {
			if t.matters(c.Swapped()) && c.P < adding {
				best[j] = p[j]
			}
			continue
		}
		if !t.matters(c) {
			best[j] = 0
		}
		if center := c.Ratio.Center; center < least {
			least, weakest = center, p
		}
		if center := c.Ratio.Center; center > most {
			most, strongest = center, t.config.Space.start().with(j, leader[j])
		}
	}
	if best.isStart() && strongest != nil { // they may stand for one another: the one that does most is tried alone
		best = strongest
	}
	if weakest == nil {
		return []Point{best, leader}
	}
	return []Point{best, weakest, leader}
}

// matters reports whether what a comparison is of is shown to be better, by more than
// half of the margin.
func (t *tuning) matters(c stat.Comparison) bool {
	return c.Ratio.N >= 2 && c.P < behind && c.Ratio.Center > 1+t.config.Margin/2
}
