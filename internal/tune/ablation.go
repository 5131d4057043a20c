package tune

import (
	"context"
	"math"
	"slices"

	"assay/internal/stat"
)

const (
	// ablationBlocks is how many launches the ablation has at most.
	ablationBlocks = 6
	// shownBelow is the one-sided p-value below which a setting is shown to matter:
	// several are tried, and one without an effect must not come in.
	shownBelow = 0.02
	// worth is the part of the margin that a setting has to be worth.
	worth = 0.75
	// likelyBelow is the one-sided p-value below which the confirmation tries a setting.
	likelyBelow = 0.10
	// mattersBelow is the two-sided p-value below which the confirmation by itself shows that
	// a setting matters.
	mattersBelow = 0.10
)

// ablation changes one factor of the leader at a time: it leaves out each that the
// leader changed, and adds each that the leader did not and that may yet matter
// beside the others. It returns the finalists in the order in which they are to be proposed.
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
	// Of one setting alone, the current settings tell what it does.
	if len(t.config.Space.unique(points)) > 1 && blocks > 0 {
		if _, err := t.rows(ctx, Ablation, blocks, points); err != nil {
			return nil, err
		}
	}
	return t.finalists(points, ranked), nil
}

// finalists are the leader of the race with just what is shown to matter, with all that may,
// with what lies between both, and behind them who is not shown to be worse. points are the
// leader and those that differ from it by a factor.
func (t *tuning) finalists(points, ranked []Point) []Point {
	all := ranked
	if m := newModel(t.launches); m != nil {
		t.searched = m
		whole := t.refined(m, points)
		path := t.trimmed(m, whole, t.shown)
		slices.Reverse(path)
		all = append([]Point{path[0], whole}, path[1:]...)
		all = append(all, m.dropBehind(append([]Point{whole}, ranked...), finalistBelow)...)
	}
	all = t.config.Space.unique(all)
	all = slices.DeleteFunc(all, func(p Point) bool { return t.refused[p.Key()] != "" })
	return all[:min(maxFinalists, len(all))]
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

// refined is the leader, the first of the points, without the settings that hardly matter,
// and with those of the other points that do.
func (t *tuning) refined(m *model, points []Point) Point {
	path := t.trimmed(m, points[0], t.likely)
	best := path[len(path)-1]
	for _, p := range points[1:] {
		if j := points[0].differs(p); points[0][j] == 0 && t.likely(m.compare(best.with(j, p[j]), best)) {
			best = best.with(j, p[j])
		}
	}
	return best
}

// trimmed is a point, and after it the same without the weakest setting that does not
// matter, and so on, as long as there is one: two may stand for one another.
func (t *tuning) trimmed(m *model, p Point, matters func(difference) bool) []Point {
	path := []Point{p}
	for {
		weakest, least := -1, math.Inf(1)
		for _, j := range p.changed() {
			d := m.compare(p, p.with(j, 0))
			if sure := d.mean / d.error; !matters(d) && sure < least {
				weakest, least = j, sure
			}
		}
		if weakest < 0 {
			return path
		}
		p = p.with(weakest, 0)
		path = append(path, p)
	}
}

// likely reports whether a difference is probably one to the better that is worth half of
// the margin: the confirmation tells more of it.
func (t *tuning) likely(d difference) bool {
	return d.p() < likelyBelow && d.mean > math.Log1p(t.config.Margin/2)
}

// shown reports whether a difference is shown to be one to the better, and is worth most of
// the margin.
func (t *tuning) shown(d difference) bool {
	return d.p() < shownBelow && d.mean > math.Log1p(worth*t.config.Margin)
}

// matters reports whether what a comparison is of is shown to be better, by more than
// half of the margin.
func (t *tuning) matters(c stat.Comparison) bool {
	return c.Ratio.N >= 2 && c.P < mattersBelow && c.Ratio.Center > 1+t.config.Margin/2
}
