package tune

import (
	"context"
	"math"
	"slices"

	"assay/internal/stat"
)

const (
	// ablationBlocks is how many launches the ablation has at most.
	ablationBlocks = 8
	// shownBelow is the one-sided p-value below which settings are shown to matter, adjusted
	// for all that were tried: none without an effect must come in.
	shownBelow = 0.025
	// worth is the part of the margin that a setting has to be worth.
	worth = 0.6
	// likelyBelow is the one-sided p-value below which the confirmation tries a setting.
	likelyBelow = 0.10
	// mattersBelow is the two-sided p-value below which the confirmation by itself shows that
	// a setting matters.
	mattersBelow = 0.10
)

// ablation changes the leader in those factors of which it is not known yet what they do beside
// the others: it leaves out what the leader changed, and adds what it did not, in balanced
// combinations, so that each launch tells of each factor. It returns the finalists in the order
// in which they are to be proposed.
func (t *tuning) ablation(ctx context.Context, ranked []Point) ([]Point, error) {
	if len(ranked) == 0 {
		return nil, nil
	}
	leader := ranked[0]
	others := t.doubtful(leader)
	rounds := t.balanced(leader, others)
	var all []Point
	largest := 0
	for i, points := range rounds {
		rounds[i] = t.config.Space.unique(points)
		largest = max(largest, len(rounds[i]))
		all = append(all, points...)
	}
	all = t.config.Space.unique(all)
	// Of one setting alone, the current settings tell what it does.
	if len(all) > 1 {
		blocks := min(ablationBlocks, t.affordable(ablationShare, largest))
		for n := range blocks {
			points := t.permitted(rounds[n%len(rounds)])
			if len(points) == 0 {
				continue
			}
			if _, err := t.block(ctx, Block{Stage: Ablation, Number: n + 1, Of: blocks, Points: points, All: all}); err != nil {
				return nil, err
			}
		}
	}
	var changed []Point
	for _, o := range others {
		changed = append(changed, leader.with(o.factor, o.level))
	}
	return t.finalists(leader, changed, ranked), nil
}

// permitted are those of the points that were not refused.
func (t *tuning) permitted(points []Point) []Point {
	return slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return t.refused[p.Key()] != "" })
}

// doubtful are the changes of a point by one factor that may make it better.
func (t *tuning) doubtful(p Point) []setting {
	m := newModel(t.launches)
	var all []setting
	for j, level := range p {
		switch {
		case level == 0 && t.mayMatter(j):
			all = append(all, setting{j, 1})
		case level != 0 && (m == nil || !t.certain(m.compare(p, p.with(j, 0)))):
			all = append(all, setting{j, 0})
		}
	}
	return all
}

// certain reports whether a difference needs no more launches: it is far more than the margin.
func (t *tuning) certain(d difference) bool {
	return d.mean-sure*d.error > t.config.Margin
}

// balanced are combinations of a point and of changes of it, in a two-level design, and those
// of its mirror image, without those that were refused.
func (t *tuning) balanced(p Point, changes []setting) [][]Point {
	if len(changes) == 0 {
		return nil
	}
	rounds := make([][]Point, 2)
	for _, row := range design(len(changes), 1) {
		for i, sign := range []float64{1, -1} {
			changed := p
			for j, c := range changes {
				if row[j]*sign < 0 {
					changed = changed.with(c.factor, c.level)
				}
			}
			rounds[i] = append(rounds[i], changed)
		}
	}
	for i := range rounds {
		rounds[i] = t.permitted(rounds[i])
	}
	return rounds
}

// finalists are the leader of the race with just what is shown to matter, with all that may,
// with what lies between both, and behind them who is not shown to be worse. others differ from
// the leader by a factor. Where the ablation refused the leader, the best of the rest takes its
// place.
func (t *tuning) finalists(leader Point, others, ranked []Point) []Point {
	m := newModel(t.launches)
	others, ranked = t.permitted(others), t.permitted(ranked)
	if t.refused[leader.Key()] != "" {
		ranked, others = append(ranked, others...), nil
		t.rank(m, ranked)
		if len(ranked) == 0 {
			return nil
		}
		leader = ranked[0]
	}
	all := ranked
	if m != nil {
		t.searched = m
		whole := t.refined(m, leader, others)
		path := t.trimmed(m, whole, t.shown)
		slices.Reverse(path)
		all = append([]Point{path[0], whole}, path[1:]...)
		all = append(all, m.dropBehind(append([]Point{whole}, ranked...), finalistBelow)...)
	}
	all = t.config.Space.unique(all)
	all = t.permitted(all)
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

// refined is the leader without the settings that hardly matter, and with those that do of the
// others, each of which differs from it by a factor.
func (t *tuning) refined(m *model, leader Point, others []Point) Point {
	path := t.trimmed(m, leader, t.likely)
	best := path[len(path)-1]
	for _, p := range others {
		if j := leader.differs(p); leader[j] == 0 && t.likely(m.compare(best.with(j, p[j]), best)) {
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
		changed := p.changed()
		for _, j := range changed {
			d := m.compare(p, p.with(j, 0))
			// Hochberg's method: the settings that stay are surer than those that have left.
			d.family = max(1, t.config.Space.settings()-len(changed)+1)
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

// likely reports whether a difference is probably one to the better that is worth
// enough of the margin (worth): the confirmation tells more of it.
func (t *tuning) likely(d difference) bool {
	return d.p() < likelyBelow && d.mean > math.Log1p(worth*t.config.Margin)
}

// shown reports whether a difference is shown to be one to the better, among all settings that
// were tried, and is worth enough of the margin (worth).
func (t *tuning) shown(d difference) bool {
	return d.p()*float64(d.family) < shownBelow && d.mean > math.Log1p(worth*t.config.Margin)
}

// matters reports whether what a comparison is of is shown to be better, by more than
// half of the margin.
func (t *tuning) matters(c stat.Comparison) bool {
	return c.Ratio.N >= 2 && c.P < mattersBelow && c.Ratio.Center > 1+t.config.Margin/2
}
