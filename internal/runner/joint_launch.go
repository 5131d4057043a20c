//go:build unix

package runner

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"assay"
	"assay/internal/runner/host"
	"assay/kit/wire"
)

const (
	// windowLength is the minimum length of a window that ends by the clock. Short windows alternate
	// fast, so that what drifts or comes from outside is alike for all instances.
	windowLength = 5 * time.Millisecond
	// windowsPerLaunch is how many windows an operation has in a launch while
	// nothing is known of their spread.
	windowsPerLaunch = 20
	// longWindows is how long those of a slow operation take in a launch: they are
	// longer, and fewer.
	longWindows = 200 * time.Millisecond
	// minPerWindow is how many operations a window has at least that ends by the clock.
	minPerWindow = 10
	// warmUp is how long a fast operation runs before its windows.
	warmUp = 30 * time.Millisecond
	// shortOperation is below which operations are timed in batches of
	// batchLength, because drawing a position and reading the clock would be a
	// part of the figure: windows keep no latency of single operations.
	shortOperation = 10 * time.Microsecond
	batchLength    = 40 * time.Microsecond
)

// windows measures a launch of a group whose instances are alive together.
// Instances that are not being measured are stopped. The order in which instances are
// started, verified, warmed up and measured is random each time.
func (r *Runner) windows(ctx context.Context, g *group, members []*member, launch int) error {
	l := &jointLaunch{r: r, g: g, members: members, number: launch, tried: map[string]bool{}}
	defer l.killAll()
	if err := l.startAll(ctx); err != nil {
		return err
	}
	if err := l.fillCaches(ctx); err != nil {
		return err
	}
	operations, err := l.verifyAll(ctx)
	if err != nil {
		return err
	}
	for _, variants := range operations {
		if r.over() {
			return errBudgetEnded
		}
		if err := l.operation(ctx, variants); err != nil {
			return err
		}
	}
	return l.stopAll(ctx)
}

// jointLaunch is a launch of members whose instances are alive together.
type jointLaunch struct {
	r         *Runner
	g         *group
	members   []*member
	number    int
	instances []*instance
	trials    []*assay.Trial // finished and not yet emitted
	tried     map[string]bool
}

// cpu is the CPU time that this process and its workers used so far.
func (l *jointLaunch) cpu() time.Duration {
	total := host.SelfCPU()
	for _, in := range l.instances {
		used, err := host.GroupCPU(in.worker.PID())
		if err != nil { // it has ended: or its CPU time would count as that of other programs
			used = in.worker.Usage()
		}
		total += used
		if in.server != nil {
			total += in.server.CPU()
		}
	}
	return total
}

// startAll starts an instance of every member, as many at the same time as
// there are processors, and pauses it. The trials of those that do not start are
// emitted, whatever comes next: the budget may end before the first operation.
func (l *jointLaunch) startAll(ctx context.Context) error {
	started := make([]*instance, len(l.members))
	errs := l.r.time.inParallel(l.r.random, len(l.members), func(i int) (err error) {
		c := l.g.method.connections(l.members[i].first)
		c.paused = true
		if started[i], err = l.r.start(ctx, l.members[i], l.number, c); err == nil {
			err = started[i].worker.Pause()
		}
		return err
	})
	var first error
	for i, m := range l.members {
		if started[i] != nil {
			l.instances = append(l.instances, started[i])
		}
		if errs[i] != nil {
			first = cmp.Or(first, l.giveUp(m, nil, errs[i]))
		}
	}
	return cmp.Or(first, l.emit(assay.Noise{}, 0))
}

// giveUp records a failure for the member's jobs that have no trial yet.
func (l *jointLaunch) giveUp(m *member, in *instance, err error) error {
	for _, j := range m.jobs {
		if l.has(j, m.twin) {
			continue
		}
		if err := l.fail(m, in, j, l.number, err); err != nil {
			return err
		}
	}
	return nil
}

// fail records a failure as the trial of a member's job; in is nil where there is no instance.
func (l *jointLaunch) fail(m *member, in *instance, j *job, launch int, err error) error {
	t := newTrial(m, j, launch)
	if in != nil {
		t = in.trial(j, launch)
	}
	if err := end(&t, err); err != nil {
		return err
	}
	l.note(&t)
	return nil
}

func (l *jointLaunch) has(j *job, twin bool) bool { return l.tried[figuresKey(j.Cell, twin)] }

// ended reports whether a turn's trial is noted already: it failed, or its instance
// did in another turn.
func (l *jointLaunch) ended(t *turn) bool { return l.has(t.j, t.twin) }

func (l *jointLaunch) note(t *assay.Trial) {
	l.tried[figuresKey(t.Cell, t.Twin)] = true
	l.trials = append(l.trials, t)
}

// turn is one instance's part in the windows of an operation, or its block that has parts.
type turn struct {
	*instance
	j     *job
	trial assay.Trial
	tally tally
	each  time.Duration // an operation's duration, from the warm-up
	took  time.Duration // wall time of all that was done for it
	short int           // calls that measured next to nothing
	units int64         // of each window; 0: as many as fit into it
	last  *measured     // the window of the round that goes on; nil where there is none
	// reopened is what the pool did while it was measured; nil where there is none.
	reopened *wire.Pool
	block    partedBlock
	delays   delays
	// phased are the windows in which phases are timed; noPhases says why the
	// worker does not time them.
	phased   phased
	noPhases string
}

// verifyAll verifies all operations on every instance before the first is measured, in a
// random order: what the databases have in their caches by then does not depend on which is
// measured first. What is found until the budget ends is emitted.
func (l *jointLaunch) verifyAll(ctx context.Context) (operations [][]*variant, err error) {
	defer func() { err = cmp.Or(l.emit(assay.Noise{}, 0), err) }()
	all := variantsOf(l.members)
	for _, i := range l.r.shuffled(len(all)) {
		if l.r.over() {
			return nil, errBudgetEnded
		}
		var variants []*variant
		for _, peer := range all[i] {
			v := &variant{peer: peer, turns: l.turnsOf(peer)}
			if err := l.meanwhile(ctx, v.turns, func(t *turn) error { return t.verifyAnswers(ctx) }); err != nil {
				return nil, err
			}
			variants = append(variants, v)
		}
		operations = append(operations, variants)
	}
	return operations, nil
}

// turnsOf returns the turns of an operation, of the instances that have it.
func (l *jointLaunch) turnsOf(peer string) (all []*turn) {
	for _, in := range l.instances {
		j := in.job(peer)
		if j == nil || l.has(j, in.twin) {
			continue // it has no such operation, or has ended and its trials are given up
		}
		all = append(all, &turn{instance: in, j: j, trial: in.trial(j, l.number)})
	}
	return all
}

// meanwhile does something that is not measured for several instances at the same time, where
// they have not ended.
func (l *jointLaunch) meanwhile(ctx context.Context, turns []*turn, do func(*turn) error) error {
	left := slices.DeleteFunc(slices.Clone(turns), l.ended)
	errs := l.each(left, func(t *turn) error {
		return whileResumed(ctx, t.instance, func() error { return do(t) })
	})
	for i, t := range left {
		if _, err := l.settle(t, errs[i]); err != nil {
			return err
		}
	}
	return nil
}

// each does something that is not measured for several instances at the same
// time, and returns the errors in their order.
func (l *jointLaunch) each(turns []*turn, do func(*turn) error) []error {
	return l.r.time.inParallel(l.r.random, len(turns), func(i int) error {
		began := time.Now()
		defer func() { turns[i].took += time.Since(began) }()
		return do(turns[i])
	})
}

func (t *turn) verifyAnswers(ctx context.Context) error {
	var err error
	if t.trial.QueryPlan, err = t.prepareOperation(ctx, t.j); err != nil {
		return err
	}
	t.trial.Digest, t.each, err = t.verify(ctx, t.j)
	return err
}

func (t *turn) warmUp(ctx context.Context) error {
	if minPerWindow*t.each > warmUp {
		return nil // verifying it was enough
	}
	m, err := t.warm(ctx, wire.Measure{Operation: t.j.Cell.Peer(), Nanos: int64(warmUp)})
	if err != nil {
		return err
	}
	t.each = time.Duration(m.Nanos / max(1, m.Operations))
	return nil
}

// whileResumed resumes a paused instance for something, and pauses it again.
func whileResumed(ctx context.Context, in *instance, do func() error) error {
	limited, cancel := context.WithTimeout(ctx, in.r.config.Timeout)
	defer cancel()
	if err := in.worker.Resume(limited); err != nil {
		return fail("resume", err)
	}
	if err := do(); err != nil {
		if in.worker.Alive() {
			_ = in.worker.Pause() // the first error is the one to tell
		}
		return err
	}
	return fail("pause", in.worker.Pause())
}

// settle ends a turn that failed. It reports whether the turn goes on.
func (l *jointLaunch) settle(t *turn, err error) (bool, error) {
	if err == nil {
		return true, nil
	}
	if err := end(&t.trial, err); err != nil {
		return false, err
	}
	l.recordTurn(t)
	if t.worker.Alive() {
		return false, nil
	}
	return false, l.giveUp(t.member, t.instance, err)
}

func (l *jointLaunch) recordTurn(t *turn) {
	t.trial.Took = t.took
	l.note(&t.trial)
}

// measured is a window that was measured, until it is known whether its round counts.
type measured struct {
	wire.Measured
	pool *wire.Pool // what the pool did in it; nil where it closes nothing
	took time.Duration
}

// window measures one window of one instance, and returns how many operations were run.
func (l *jointLaunch) window(ctx context.Context, t *turn, start int64) (used int64, err error) {
	if l.ended(t) {
		return 0, nil
	}
	began := time.Now()
	w, err := l.measureWindow(ctx, t, start)
	w.took = time.Since(began)
	t.took += w.took
	if err == nil {
		t.last = &w
	}
	_, err = l.settle(t, err)
	return w.Executed, err
}

func (l *jointLaunch) measureWindow(ctx context.Context, t *turn, start int64) (w measured, err error) {
	request := wire.Measure{Operation: t.j.Cell.Peer(), Start: start, Nanos: int64(windowLength)}
	if t.units > 0 {
		request.Nanos, request.Operations = 0, t.units*int64(max(1, t.j.Operation.Transaction))
	} else if unit := t.each * time.Duration(max(1, t.j.Operation.Transaction)); unit < shortOperation {
		request.Batch = int64(batchLength / max(1, unit))
	}
	err = whileResumed(ctx, t.instance, func() error {
		if t.short++; t.short <= shortCalls {
			if err := t.shortCall(ctx); err != nil {
				return err
			}
		}
		var err error
		w.pool, err = t.pooled(ctx, t.j, func() error { return t.measure(ctx, request, &w.Measured) })
		return err
	})
	if t.r.observed.noDelays[t.cell().Target()] {
		w.Delayed = nil
	}
	return w, err
}

// finish reads the settings back once more, of all instances, verifies a sample of
// what was measured, and completes their trials.
func (l *jointLaunch) finish(ctx context.Context, turns []*turn, s *sample) error {
	err := l.meanwhile(ctx, turns, func(t *turn) error {
		if err := t.readSettings(ctx); err != nil || t.tally.failure() != nil { // then it is known that not all is right
			return err
		}
		return t.verifySample(ctx, t.j, s, &t.trial)
	})
	if err != nil {
		return err
	}
	if err := l.confirmDelays(turns); err != nil {
		return err
	}
	for _, t := range slices.DeleteFunc(slices.Clone(turns), l.ended) {
		if err := l.complete(t); err != nil {
			return err
		}
	}
	return nil
}

// complete writes what was measured and read back into a trial.
func (l *jointLaunch) complete(t *turn) error {
	t.recordSettings(&t.trial, t.j.Operation)
	t.trial.Warnings = append(t.trial.Warnings, t.clockWarning(t.j)...)
	if err := end(&t.trial, t.applied, t.tally.failure()); err != nil {
		return err
	}
	t.tally.record(&t.trial, t.j.Operation, t.worker.Hello().Target.Facts)
	if t.trial.Measured() {
		recordPool(&t.trial, t.j, t.tally.total.Executed, t.reopened)
	}
	if t.trial.Outcome == assay.OK || t.trial.Outcome == assay.NotApplied {
		t.phased.record(&t.trial, t.j.Operation)
	}
	t.warnPhases()
	l.recordTurn(t)
	return nil
}

// stopAll ends the instances. For one that cannot be closed, that is the
// outcome of its cells: of a launch that is not tried any more, since what this
// one measured is kept already.
func (l *jointLaunch) stopAll(ctx context.Context) error {
	errs := l.r.time.inParallel(l.r.random, len(l.instances), func(i int) (err error) {
		if in := l.instances[i]; in.worker.Alive() {
			err = in.stop(ctx)
		}
		l.instances[i].kill()
		return err
	})
	for i, err := range errs {
		if err == nil {
			continue
		}
		in := l.instances[i]
		m := l.g.wholeMember(in.member)
		for _, j := range m.jobs {
			if err := l.fail(m, in, j, l.number+1, err); err != nil {
				return err
			}
		}
	}
	l.instances = nil
	return l.emit(assay.Noise{}, 0)
}

func (l *jointLaunch) killAll() {
	for _, in := range l.instances {
		in.kill()
	}
}

// emitWrong emits, of some turns, those that went wrong before the budget ended.
func (l *jointLaunch) emitWrong(turns []*turn, noise assay.Noise, took time.Duration, err error) error {
	if !errors.Is(err, errBudgetEnded) {
		return err
	}
	for _, t := range turns {
		switch {
		case l.ended(t):
		case t.trial.PermanentFailure():
			l.recordTurn(t)
		case wrong(t.tally.total) != nil:
			if err := l.complete(t); err != nil {
				return err
			}
		}
	}
	return cmp.Or(l.emit(noise, took), err)
}

// emit emits the trials that are finished, with what disturbed them while they were measured,
// which took so long.
func (l *jointLaunch) emit(noise assay.Noise, took time.Duration) error {
	for _, t := range l.trials {
		if err := l.r.finish(l.g, t, noise, took); err != nil {
			return err
		}
	}
	l.trials = nil
	return nil
}
