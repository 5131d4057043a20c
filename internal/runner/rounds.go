//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/runner/host"
	"assay/internal/runner/schedule"
	"assay/internal/stat"
	"assay/kit/process"
)

const (
	// A launch is disqualified when others took more than this share of the
	// machine's CPU time, and enough of it that the count of ticks is no
	// accident. In blocks, ratios of launches of which others took 10 to 20 % spread
	// as those do of which they took nothing; in windows, twice as much.
	disturbedWindows = 0.10
	disturbedBlocks  = 0.20
	disturbedTime    = 50 * time.Millisecond
)

// Run measures until every confidence interval reaches the target half-width, or the
// budget ends. It returns the context's error when interrupted; what was finished
// before has been emitted.
func (r *Runner) Run(ctx context.Context) error {
	return r.measure(ctx, func() error {
		r.checkLoad(ctx)
		r.sayWhatIsLast()
		if err := r.rounds(ctx); err != nil {
			return err
		}
		return r.notRun()
	})
}

// Launch launches the groups of some of the prepared cases once, in random order,
// under a number above 0.
func (r *Runner) Launch(ctx context.Context, number int, cases []assay.Case) error {
	r.begin(cases, number)
	return r.measure(ctx, func() error {
		r.clock.round = number
		for _, k := range r.shuffled(len(r.groups)) {
			g := r.groups[k]
			g.launches.last = number - 1
			if err := r.launch(ctx, g, g.members); err != nil {
				return err
			}
		}
		return nil
	})
}

// measure measures while no other assay does. It emits the trials of cells that cannot
// be measured before, and those of sums afterwards.
func (r *Runner) measure(ctx context.Context, launch func() error) error {
	turn, err := r.takeTurn(ctx)
	if err != nil {
		return err
	}
	defer turn.Close()
	r.clock.begin()
	for _, t := range r.unmeasured {
		if err := r.emit(t); err != nil {
			return err
		}
	}
	if err := launch(); err != nil {
		return err
	}
	return r.sumUp(true)
}

// rounds launches what the schedule says next, each group once and in random
// order, until it says nothing more. Within a budget, first launches are made in the order of
// the schedule, the cheapest first, and each shows what the others may cost.
func (r *Runner) rounds(ctx context.Context) error {
	if err := r.firstLaunches(ctx); err != nil {
		return err
	}
	for {
		next := schedule.Next(r.scheduled(), r.limitsNow())
		if len(next) == 0 {
			return nil
		}
		r.clock.round++
		for _, k := range r.shuffled(len(next)) {
			if r.over() {
				break
			}
			g := r.groups[next[k]]
			if err := r.launch(ctx, g, g.next.members); err != nil {
				return err
			}
		}
		if err := r.sumUp(false); err != nil {
			return err
		}
		if r.clock.round == 1 {
			r.warnOfBudget()
		}
	}
}

// firstLaunches launches each group once that has had no launch, while there is time.
func (r *Runner) firstLaunches(ctx context.Context) error {
	if r.config.Budget == 0 || len(r.unlaunched()) == 0 {
		return nil
	}
	r.clock.round++
	for {
		r.fitFirstLaunches()
		next := slices.DeleteFunc(schedule.Next(r.scheduled(), r.limitsNow()), func(i int) bool { return r.groups[i].launches.last > 0 })
		if len(next) == 0 {
			break
		}
		g := r.groups[next[0]]
		guess := g.guess(r.first.scarce)
		if err := r.launch(ctx, g, r.first.members(g)); err != nil {
			return err
		}
		r.first.note(g, guess)
	}
	if err := r.sumUp(false); err != nil {
		return err
	}
	r.warnOfBudget()
	return nil
}

// scheduled returns what the schedule has to know of each group.
func (r *Runner) scheduled() []schedule.Group {
	r.assess()
	r.planNext()
	all := make([]schedule.Group, len(r.groups))
	for i, g := range r.groups {
		counted := g.launches.counted()
		all[i] = schedule.Group{Cost: g.next.cost, Launches: counted, Tries: g.launches.finished, Size: g.size, Tables: len(g.operations()), Reads: g.mode() == assay.Windows,
			Divisible: g.mode() == assay.Windows && len(variantsOf(g.next.members)) > 1}
		if g.launches.cost == 0 {
			all[i].Cost, all[i].Guessed = r.first.guess(g), true
		}
		lacking := max(0, r.config.Launches-g.next.fewest) // of what waited
		g.need.launches = counted + max(g.need.most(), lacking)
		switch {
		case len(g.next.members) == 0: // nothing is left to be measured: it needs no more
			all[i].Launches = math.MaxInt
		case counted >= r.config.Launches:
			all[i].Needed, all[i].Wide = g.need.launches, g.need.wide()
		}
	}
	return all
}

// limitsNow are the limits for what is still to be launched.
func (r *Runner) limitsNow() schedule.Limits {
	least := r.config.Launches
	if r.config.InTurn {
		least = math.MaxInt
	}
	longer := 1.0
	if len(r.first.guessed) == 0 { // later, launches have corrected the guesses
		longer = r.longer
	}
	return schedule.Limits{MinLaunches: least, Left: r.budget() - r.clock.elapsed(), Bounded: r.config.Budget > 0, Longer: longer}
}

// over reports whether the budget has ended. Launches look at it between
// operations and between instances.
func (r *Runner) over() bool { return r.clock.elapsed() >= r.budget() }

// brief leaves out what no reader needs of a time that was computed.
func brief(d time.Duration) time.Duration {
	if d < time.Second {
		return d
	}
	return d.Round(100 * time.Millisecond)
}

// notRun gives an outcome to the cells for which the budget left no time.
func (r *Runner) notRun() error {
	reason := fmt.Sprintf("the budget of %s ended before its turn", brief(r.config.Budget))
	if r.config.Kept > 0 {
		reason += fmt.Sprintf(" (%s are kept for factors)", brief(r.config.Kept))
	}
	for _, g := range r.groups {
		for _, m := range g.members {
			for _, j := range m.jobs {
				if g.record.tried[j.Cell.Key()] > 0 {
					continue
				}
				if err := r.emitNotRun(m, j, reason); err != nil {
					return err
				}
			}
		}
	}
	for _, m := range r.first.dropped {
		for _, j := range m.jobs {
			if err := r.emitNotRun(m, j, fmt.Sprintf("the budget of %s is too small for it: it was left out, so that every operation is measured", brief(r.config.Budget))); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Runner) emitNotRun(m *member, j *job, reason string) error {
	if m.twin {
		return nil
	}
	t := newTrial(m, j, 0)
	t.Outcome, t.Reason = assay.NotRun, reason
	return r.emit(t)
}

// MinTime estimates the wall time that the minimum number of launches of every
// cell takes, from the launches so far; zero where a group had none yet.
func (r *Runner) MinTime() time.Duration {
	minimum, all := r.minTimeOfLaunched()
	if !all {
		return 0
	}
	return minimum
}

// minTimeOfLaunched is MinTime of the groups that were launched, and reports whether
// all were.
func (r *Runner) minTimeOfLaunched() (minimum time.Duration, all bool) {
	all = true
	for _, g := range r.groups {
		launches := r.config.Launches
		if len(g.members) == 0 { // it is given up
			launches = g.launches.finished
		}
		minimum += time.Duration(launches) * g.launches.cost
		all = all && g.launches.cost > 0
	}
	return minimum, all
}

const (
	lookFor   = 2 * time.Second // at most
	lookShare = 0.02            // of the budget, or of what all launches take by a guess
	minLook   = 100 * time.Millisecond
)

// checkLoad looks what others do on the machine before the first window. A run that goes on stays
// as it began.
func (r *Runner) checkLoad(ctx context.Context) {
	guess := time.Duration(0)
	for _, g := range r.groups {
		guess += time.Duration(r.config.Launches) * g.guess(false)
	}
	during := min(lookFor, time.Duration(lookShare*float64(min(r.budget(), guess))))
	if len(r.config.Done) > 0 || during < minLook {
		return
	}
	began := time.Now()
	load := host.Watch(ctx, during)
	if !disturbs(assay.Windows, load.Noise, time.Since(began)) {
		return
	}
	r.setBusy()
	r.longer = load.Longer
	if r.config.Progress != nil {
		r.config.Progress(Event{Phase: MachineBusy, Load: load, Budget: r.config.Budget})
	}
}

// setBusy has disturbed launches count: there will be no others.
func (r *Runner) setBusy() {
	r.busy = true
	for _, g := range r.groups {
		g.record.keepsDisturbed = true
	}
}

// sayWhatIsLast says which sizes are measured only where the budget has time left.
func (r *Runner) sayWhatIsLast() {
	last := schedule.Last(r.scheduled(), r.limitsNow())
	sizes, tables := map[string]bool{}, map[string]bool{}
	for _, i := range last {
		for _, peer := range r.groups[i].operations() {
			tables[peer] = true
		}
		sizes[strings.Join(r.groups[i].members[0].cell().ParamWords(), ", ")] = true
	}
	if r.warned = len(last) > 0; r.warned {
		r.progress(LeftForLast, fmt.Sprintf("%d tables of %s", len(tables), strings.Join(slices.Sorted(maps.Keys(sizes)), " and ")), 0)
	}
}

// warnOfBudget says early that the budget is too small.
func (r *Runner) warnOfBudget() {
	if minimum, all := r.minTimeOfLaunched(); !r.warned && (!all || minimum > r.budget()) {
		r.progress(BudgetTooSmall, fmt.Sprintf("%d launches of every cell", r.config.Launches), 0)
	}
}

// errBudgetEnded ends a launch in the middle: what was measured until then is
// kept, and no instance is started any more.
var errBudgetEnded = errors.New("the budget ended")

// errPaused ends a launch over which this process did not run: what was measured meanwhile
// shows that, and nothing of a worker.
var errPaused = errors.New("assay itself did not run for over a second")

// maxAgainInLaunch is how often a launch goes on whose measuring did not count.
const maxAgainInLaunch = 10

// launch measures members of a group once. A launch that the budget ends does not
// count, but what it measured does. Where measuring did not count, the launch goes on with
// what it has not measured yet.
func (r *Runner) launch(ctx context.Context, g *group, members []*member) error {
	defer g.prune()
	number := g.launches.begin()
	for range maxAgainInLaunch {
		if len(members) == 0 { // there were none, or only the end of the launch did not count
			return nil
		}
		err := r.launchWhole(ctx, g, members, number)
		switch {
		case errors.Is(err, errBudgetEnded):
			return nil
		case !errors.Is(err, errPaused) && !errors.Is(err, errDelays):
			return err
		}
		members = g.launches.left(members)
	}
	return fmt.Errorf("launch %d of %s was measured %d times, and in none assay or a worker could run without a pause: free the machine, and resume the run",
		number, g.name, maxAgainInLaunch)
}

func (r *Runner) launchWhole(ctx context.Context, g *group, members []*member, number int) error {
	r.progress(Measuring, g.method.describe(members[0].cell()), r.total())
	if err := g.method.ready(ctx, r, g); err != nil {
		return err
	}
	g.launches.pauses, _ = process.Pauses()
	began := time.Now()
	err := g.method.launch(ctx, r, g, members, number)
	took := time.Since(began)
	r.time.wall += took // also where the budget or the user ended it
	if err != nil {
		return err
	}
	g.launches.end(g.wholeCost(took, members))
	return nil
}

// total estimates how long the run will take: the budget, or less where all that is wanted
// costs less; 0 while it is not known of some group what it needs.
func (r *Runner) total() time.Duration {
	if r.config.InTurn {
		return r.budget()
	}
	total := r.clock.elapsed()
	for _, g := range r.groups {
		counted := g.launches.counted()
		if counted < stat.MinPairs && len(g.members) > 0 {
			return 0
		}
		least := max(0, r.config.Launches-counted)
		total += time.Duration(least)*g.next.cost + time.Duration(max(0, g.need.launches-counted-least))*g.next.later
	}
	return min(total, r.budget())
}

// finish completes a trial with the noise of a time in which it took place, drops
// its cell where another launch would end alike, and emits it. Trials of one launch
// that are measured together have the same noise and time: all of them are
// disturbed, or none.
func (r *Runner) finish(g *group, t *assay.Trial, noise assay.Noise, took time.Duration) error {
	if pauses, _ := process.Pauses(); pauses != g.launches.pauses {
		return errPaused
	}
	if err := impossible(t); err != nil {
		t.Figures = map[string]float64{}
		if err := end(t, err); err != nil {
			return err
		}
	}
	if err := r.checkEnvironment(t); err != nil {
		return err
	}
	t.Noise = noise
	t.Disqualified = disturbs(t.Mode, noise, took)
	g.launches.noisy = g.launches.noisy || t.Disqualified && !r.busy
	if r.busy && g.computesOnly(t) {
		t.Figures[assay.ComputePerOp] = t.Figures[assay.CPUPerOp]
	}
	g.dropPermanentFailure(t)
	g.record.note(t)
	g.launches.has[figuresKey(t.Cell, t.Twin)] = true
	return r.emit(*t)
}

// computesOnly reports whether the operation of a trial waits for nothing, not even for storage,
// as all of its data were read before: then its CPU time is its time on a machine that nobody
// else uses.
func (g *group) computesOnly(t *assay.Trial) bool {
	computes := func(m *member) bool {
		j := m.job(t.Cell.Peer())
		return j != nil && j.Cell.Key() == t.Cell.Key() && j.canAlternate()
	}
	return t.Outcome == assay.OK && t.Mode == assay.Windows && t.Cell.Clients == 1 && t.Figures[assay.CPUPerOp] > 0 &&
		slices.ContainsFunc(g.members, computes)
}

// disturbs is disturbedLaunch, but in tests whose launches must not depend on what else the
// machine does.
var disturbs = disturbedLaunch

func disturbedLaunch(mode assay.Mode, noise assay.Noise, took time.Duration) bool {
	limit := disturbedBlocks
	if mode == assay.Windows {
		limit = disturbedWindows
	}
	share := noise.Steal + noise.Foreign
	taken := time.Duration(share * float64(took) * float64(runtime.NumCPU()))
	return share > limit && taken > disturbedTime
}
