//go:build unix

package runner

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"assay"
	"assay/internal/stat"
)

const (
	// A launch is disqualified when others took more than this share of the
	// machine's CPU time, and enough of it that the count of ticks is no
	// accident.
	disturbedShare = 0.10
	disturbedTime  = 50 * time.Millisecond
	// mostTries bounds how often launches are tried again that were disturbed:
	// where all of them are, a run without a budget would never end.
	mostTries = 2
)

// Run measures until every cell is as precise as wished or the budget is
// spent. It returns the context's error when interrupted; what was finished
// before has been emitted.
func (r *Runner) Run(ctx context.Context) error {
	r.began = time.Now()
	for _, t := range r.unmeasured {
		if err := r.config.Emit(t); err != nil {
			return err
		}
	}
	for _, phase := range []func(context.Context) error{r.firstRound, r.tellLeast, r.toLeast, r.toPrecision} {
		if err := phase(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Least estimates the wall time that the least number of launches of every
// cell takes, from the launches so far; zero where a group had none yet.
func (r *Runner) Least() time.Duration {
	least, all := r.leastOfLaunched()
	if !all {
		return 0
	}
	return least
}

// leastOfLaunched is Least of the groups that were launched, and tells whether
// all were.
func (r *Runner) leastOfLaunched() (least time.Duration, all bool) {
	all = true
	for _, g := range r.groups {
		launches := r.config.Launches
		if len(g.members) == 0 { // it is given up
			launches = g.finished
		}
		least += time.Duration(launches) * g.cost
		all = all && g.cost > 0
	}
	return least, all
}

// tellLeast says early that the budget will not do.
func (r *Runner) tellLeast(context.Context) error {
	least, all := r.leastOfLaunched()
	switch {
	case !all:
		r.progress("budget", fmt.Sprintf("%d launches of every cell take more than", r.config.Launches), least)
	case least > r.budget():
		r.progress("budget", fmt.Sprintf("%d launches of every cell take about", r.config.Launches), least)
	}
	return nil
}

// firstRound measures every cell once. When the budget ends, what is left is
// not run.
func (r *Runner) firstRound(ctx context.Context) error {
	r.round = 1
	for _, i := range r.shuffled(len(r.groups)) {
		g := r.groups[i]
		if g.finished > 0 {
			continue // a resumed run has it
		}
		if r.elapsed() >= r.budget() {
			if err := r.notRun(g); err != nil {
				return err
			}
			continue
		}
		if err := r.launch(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) notRun(g *group) error {
	for _, m := range g.members {
		if m.twin {
			continue
		}
		for _, j := range m.jobs {
			t := newTrial(m, j, 0, g.mode)
			t.Outcome, t.Reason = assay.NotRun, "the budget of "+r.config.Budget.String()+" ended before its turn"
			if err := r.config.Emit(t); err != nil {
				return err
			}
		}
	}
	g.members = nil
	return nil
}

// toLeast launches groups until they have the least number of launches: all
// of them where the budget allows that, otherwise as many whole groups as fit,
// those first whose cells cost least.
func (r *Runner) toLeast(ctx context.Context) error {
	candidates := slices.Clone(r.groups)
	slices.SortStableFunc(candidates, func(a, b *group) int { return cmp.Compare(a.costPerCell(), b.costPerCell()) })
	left := r.budget() - r.elapsed()
	var chosen []*group
	for _, g := range candidates {
		missing := max(0, r.config.Launches-g.launches())
		cost := time.Duration(missing) * g.cost
		if len(g.members) == 0 || missing == 0 || cost > left {
			continue
		}
		left -= cost
		g.wanted = r.config.Launches
		chosen = append(chosen, g)
	}
	return r.rounds(ctx, chosen)
}

func (g *group) costPerCell() float64 { return float64(g.cost) / float64(max(1, g.cells())) }

// toPrecision gives more launches to groups whose intervals are wider than
// wished. It chooses and stops by their width alone, asked again after each
// launch, and never by verdicts; the intervals allow for that (stat.Rule.Least).
func (r *Runner) toPrecision(ctx context.Context) error {
	for {
		for _, g := range r.groups {
			g.wanted = max(g.wanted, g.launches(), r.config.Launches) // what was too dear may have become cheaper
			if g.launches() >= r.config.Launches {
				g.wanted = r.enough(g)
			}
		}
		launched, err := r.eachOnce(ctx, r.worth())
		if err != nil || !launched {
			return err
		}
	}
}

// worth are the groups that the rest of the budget decides most with: those
// whose intervals become narrow enough within it, the cheapest per comparison
// first, and where there is none, the one whose next launch narrows most for
// its cost.
func (r *Runner) worth() []*group {
	var all []*group
	for _, g := range r.groups {
		if g.wants() {
			all = append(all, g)
		}
	}
	slices.SortStableFunc(all, func(a, b *group) int { return cmp.Compare(r.costToDecide(a), r.costToDecide(b)) })
	left := r.budget() - r.elapsed()
	var chosen, startable []*group
	for _, g := range all {
		if cost := g.missingCost(); cost <= left {
			left -= cost
			chosen = append(chosen, g)
		} else if g.cost <= left && g.launches() >= r.config.Launches {
			startable = append(startable, g)
		}
	}
	if len(chosen) == 0 && len(startable) > 0 {
		return []*group{slices.MinFunc(startable, func(a, b *group) int { return cmp.Compare(r.costToNarrow(a), r.costToNarrow(b)) })}
	}
	return chosen
}

// wants tells whether a group is to be launched again.
func (g *group) wants() bool {
	return len(g.members) > 0 && g.launches() < g.wanted && g.finished < mostTries*g.wanted
}

// missingCost is the wall time of the launches that a group still wants.
func (g *group) missingCost() time.Duration {
	return time.Duration(max(0, g.wanted-g.launches())) * g.cost
}

// costToDecide is the missing cost for each interval that is too wide, in
// nanoseconds.
func (r *Runner) costToDecide(g *group) float64 {
	return float64(g.missingCost()) / r.wide(g)
}

// costToNarrow is what it costs to make an interval that is too wide narrower
// by a part that is the same for all groups: one launch beside n makes it
// narrower by 1/2n.
func (r *Runner) costToNarrow(g *group) float64 {
	return float64(g.cost) * float64(g.launches()) / r.wide(g)
}

// wide counts the group's intervals that are too wide; it is 1 at least.
func (r *Runner) wide(g *group) float64 {
	wide := 0
	for _, figures := range g.deciding(r.config.Reference) {
		if stat.Enough(figures, r.config.Launches, r.config.Precision) > len(figures) {
			wide++
		}
	}
	return float64(max(1, wide))
}

// rounds launches the groups once each a round until each has what it wants or
// none that is left fits into the budget.
func (r *Runner) rounds(ctx context.Context, groups []*group) error {
	for {
		launched, err := r.eachOnce(ctx, groups)
		if err != nil || !launched {
			return err
		}
	}
}

// eachOnce launches, in random order, each group that wants it and fits into
// the budget, and tells whether there was one.
func (r *Runner) eachOnce(ctx context.Context, groups []*group) (launched bool, err error) {
	r.round++
	for _, i := range r.shuffled(len(groups)) {
		g := groups[i]
		if !g.wants() || r.elapsed()+g.cost > r.budget() {
			continue
		}
		if err := r.launch(ctx, g); err != nil {
			return launched, err
		}
		launched = true
	}
	return launched, nil
}

// enough is the number of launches at which the group's widest interval would
// be as narrow as wished: as many as it has where that is so. A cell may have
// more figures than its group has launches: it was undisturbed in one in which
// another was not.
func (r *Runner) enough(g *group) int {
	missing := 0
	for _, figures := range g.deciding(r.config.Reference) {
		missing = max(missing, stat.Enough(figures, r.config.Launches, r.config.Precision)-len(figures))
	}
	return g.launches() + missing
}

// launch measures a group once.
func (r *Runner) launch(ctx context.Context, g *group) error {
	if len(g.members) == 0 {
		return nil
	}
	r.progress("measure", g.describe(), r.total())
	if g.mode == assay.Blocks {
		if err := r.traceGroup(ctx, g); err != nil {
			return err
		}
		if err := r.calibrate(ctx, g.members[0].cell(), g.members[0].first.Operation); err != nil {
			return err
		}
	}
	g.last++
	r.disturbed = false
	began := time.Now()
	measure := r.blocks
	if g.mode == assay.Windows {
		measure = r.windows
	}
	if err := measure(ctx, g, g.last); err != nil {
		return err
	}
	g.noteLaunch(time.Since(began), r.disturbed)
	g.prune()
	return nil
}

func (g *group) describe() string {
	first := g.members[0].first
	if g.mode == assay.Blocks {
		cell := first.Cell
		if first.Operation.Call() {
			cell.Operation = "calls"
		}
		return describe(cell)
	}
	text := first.Cell.Workload + ", reads"
	if params := first.Cell.ParamString(); params != "" {
		text += " (" + params + ")"
	}
	return text
}

// total estimates how long the run will take: the budget, or less where all
// that is wanted is known and costs less.
func (r *Runner) total() time.Duration {
	total := r.elapsed()
	for _, g := range r.groups {
		if g.cost == 0 && len(g.members) > 0 {
			return r.budget()
		}
		total += time.Duration(max(g.wanted, r.config.Launches)-min(g.launches(), max(g.wanted, r.config.Launches))) * g.cost
	}
	return min(total, r.budget())
}

// finish completes a trial with the launch's noise, drops its cell where
// another launch would end alike, and emits it.
func (r *Runner) finish(g *group, t *assay.Trial, noise assay.Noise) error {
	return r.finishOf(g, t, noise, t.Took)
}

// finishOf is finish, of a trial that took place in a longer time, in which
// the noise was.
func (r *Runner) finishOf(g *group, t *assay.Trial, noise assay.Noise, took time.Duration) error {
	if err := impossible(t); err != nil {
		t.Figures = map[string]float64{}
		if err := end(t, err); err != nil {
			return err
		}
	}
	t.Noise = noise
	t.Disqualified = disturbed(noise, took)
	r.disturbed = r.disturbed || t.Disqualified
	if hopeless(t) {
		for _, m := range g.members {
			if m.twin == t.Twin {
				m.drop(t.Cell.Key())
			}
		}
	}
	g.noteFigure(t)
	return r.config.Emit(*t)
}

func disturbed(noise assay.Noise, took time.Duration) bool {
	share := noise.Steal + noise.Foreign
	taken := time.Duration(share * float64(took) * float64(runtime.NumCPU()))
	return share > disturbedShare && taken > disturbedTime
}
