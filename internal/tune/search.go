package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"assay/internal/stat"
)

const (
	// maxRounds is how many rounds the search has at most, each of so many launches.
	maxRounds     = 6
	roundLaunches = 3
	// perLaunch is how many points share a launch with the current settings: with the A/A
	// test, as many as the runner has alive together.
	perLaunch = 11
	// maxFinalists is how many candidates are confirmed at most.
	maxFinalists = 4
	// shownBelow is the one-sided p-value below which settings are shown to matter,
	// adjusted for all that were tried: none without an effect must come in.
	shownBelow = 0.02
	// surely is how much smaller it has to be for the search to measure them no more: it looks
	// after each round.
	surely = 5
	// worth is the part of the margin that a setting has to be worth.
	worth = 0.6
	// likelyBelow is the one-sided p-value below which the confirmation tries a setting.
	likelyBelow = 0.10
	// droppedBelow is the one-sided p-value of being worth it below which a level leaves.
	droppedBelow = 0.05
	// mattersBelow is the two-sided p-value below which the confirmation by itself shows that
	// a setting matters.
	mattersBelow = 0.10
)

// levels holds the levels of each factor that are still tried.
type levels [][]int

// search measures random combinations of all levels, from which a model tells what each level
// does. Levels that are shown not to be worth it leave, and the next round combines the others.
// It returns the points to confirm, in the order in which they are to be proposed.
func (t *tuning) search(ctx context.Context) ([]Point, error) {
	tried, leader := t.everyLevel(), t.config.Space.start()
	for round := 1; round <= maxRounds && tried.choice(); round++ {
		complete, err := t.round(ctx, round, tried)
		if err != nil {
			return nil, err
		}
		if m := newModel(t.launches); m != nil {
			t.searched = m
			leader = t.leader(m, leader)
			tried = t.undecided(m, leader, tried)
		}
		if !complete {
			break
		}
	}
	if t.searched != nil {
		t.outcome.Effects = t.effects(leader)
	}
	return t.finalists(leader), nil
}

// round measures the launches of a round, as many as the budget pays for, and reports whether
// these were all.
func (t *tuning) round(ctx context.Context, number int, tried levels) (complete bool, err error) {
	var blocks [][]Point
	var all []Point
	for range roundLaunches {
		blocks = append(blocks, t.permitted(t.config.Space.unique(t.combined(tried))))
		all = append(all, blocks[len(blocks)-1]...)
	}
	all = distinct(all)
	for i, points := range blocks {
		points = t.permitted(points)
		if len(points) == 0 {
			continue
		}
		if t.affordable(searchShare, len(points)) == 0 {
			return false, nil
		}
		if _, err := t.block(ctx, Block{Stage: Stage(fmt.Sprint(Search, "-", number)), Number: i + 1, Of: len(blocks), Points: points, All: all}); err != nil {
			return false, err
		}
	}
	return true, nil
}

// everyLevel are all levels that may be proposed.
func (t *tuning) everyLevel() levels {
	all := make(levels, len(t.config.Space.Factors))
	for j, f := range t.config.Space.Factors {
		all[j] = []int{0}
		for l := 1; !f.First && l < f.candidates(); l++ {
			all[j] = append(all[j], l)
		}
	}
	return all
}

// choice reports whether a factor has a choice.
func (l levels) choice() bool {
	return slices.ContainsFunc(l, func(of []int) bool { return len(of) > 1 })
}

// combined are random combinations of levels for a launch, each level as often as the others
// of its factor; all combinations where they are few.
func (t *tuning) combined(tried levels) []Point {
	if all := tried.product(perLaunch + 1); all != nil {
		return all
	}
	all := make([]Point, perLaunch)
	for i := range all {
		all[i] = make(Point, len(tried))
	}
	for j, of := range tried {
		shift := t.random.IntN(len(of))
		for i, at := range t.random.Perm(perLaunch) {
			all[at][j] = of[(i+shift)%len(of)]
		}
	}
	return all
}

// product is every combination; nil where there are more than so many.
func (l levels) product(most int) []Point {
	all := []Point{{}}
	for _, of := range l {
		var more []Point
		for _, p := range all {
			for _, level := range of {
				more = append(more, append(slices.Clone(p), level))
			}
		}
		if all = more; len(all) > most {
			return nil
		}
	}
	return all
}

// leader is the best combination of the levels that were measured, found by changing one
// factor after the other.
func (t *tuning) leader(m *model, p Point) Point {
	for better := true; better; {
		better = false
		for j, of := range t.everyLevel() {
			for _, level := range of {
				other := p.with(j, level)
				if m.knows(setting{j, level}) && t.refused[other.Key()] == "" && m.compare(other, p).mean > 1e-9 {
					p, better = other, true
				}
			}
		}
	}
	return p
}

// undecided are the levels of which it is open whether they are better than those of the leader,
// or than the first level that the leader does not have.
func (t *tuning) undecided(m *model, leader Point, tried levels) levels {
	left := make(levels, len(tried))
	for j := range tried {
		left[j] = []int{leader[j]}
		for _, level := range tried[j] {
			if level == leader[j] || !m.knows(setting{j, level}) {
				continue
			}
			d := m.compare(leader.with(j, level), leader)
			open := t.mayBeWorthIt(d)
			if level == 0 { // the leader's level has to be shown to be better than this one
				d.mean, d.family = -d.mean, surely*t.config.Space.settings()
				open = open || !t.shown(d) && t.mayBeWorthIt(d)
			}
			if open {
				left[j] = append(left[j], level)
			}
		}
	}
	return left
}

// mayBeWorthIt reports whether it is open that a difference is worth enough of the margin.
func (t *tuning) mayBeWorthIt(d difference) bool {
	d.mean = math.Log1p(worth*t.config.Margin) - d.mean
	return d.p() >= droppedBelow
}

// finalists are the leader with just what is shown to matter, with all that is likely to, with
// what lies between both, and as it is; where the leader has the current settings, the best of what
// was measured beside them.
func (t *tuning) finalists(leader Point) []Point {
	var all []Point
	if m := t.searched; m != nil {
		likely := t.trimmed(m, leader, t.likely)
		path := t.trimmed(m, likely[len(likely)-1], t.shown)
		whole := path[0]
		slices.Reverse(path)
		all = append([]Point{path[0], whole}, path[1:]...)
		all = append(all, leader)
	}
	all = t.permitted(t.config.Space.unique(all))
	if len(all) == 0 {
		all = t.permitted(t.config.Space.unique(t.measured()))
	}
	return all[:min(maxFinalists, len(all))]
}

// measured are the points of the search, the best first.
func (t *tuning) measured() []Point {
	var all []Point
	for _, launch := range t.launches {
		for _, o := range launch {
			all = append(all, o.point)
		}
	}
	all = distinct(all)
	slices.SortStableFunc(all, func(a, b Point) int { return cmp.Compare(t.said(b), t.said(a)) })
	return all
}

// permitted returns the points that were not refused.
func (t *tuning) permitted(points []Point) []Point {
	return slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return t.refused[p.Key()] != "" })
}

func distinct(points []Point) []Point {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(points), func(p Point) bool {
		known := seen[p.Key()]
		seen[p.Key()] = true
		return known
	})
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

// Effect holds what the search says of a level: how many times as good as the first one of its
// factor it is, beside the other settings of the best combination. It is no confirmed figure.
type Effect struct {
	Factor, Level int
	Gain          stat.Interval
	Nothing       bool // the whole interval lies within the margin
}

// effects returns the effects of all levels that were measured.
func (t *tuning) effects(leader Point) []Effect {
	var all []Effect
	for j, of := range t.everyLevel() {
		for _, level := range of[1:] {
			if !t.searched.knows(setting{j, level}) {
				continue
			}
			gain := t.searched.compare(leader.with(j, level), leader.with(j, 0)).interval()
			all = append(all, Effect{j, level, gain, max(1/gain.Low, gain.High) < 1+t.config.Margin})
		}
	}
	return all
}
