//go:build unix

package runner

import (
	"context"
	"time"

	"assay"
	"assay/internal/host"
	"assay/kit/wire"
)

const (
	// windowLength is the least length of a window.
	windowLength = 20 * time.Millisecond
	// windowsPerLaunch is how many windows an operation has in a launch while
	// nothing is known of their spread; slow operations, whose windows are long
	// anyhow, have fewer.
	windowsPerLaunch = 5
	// leastPerWindow is how many operations every window has at least.
	leastPerWindow = 10
	// warmUp is how long a fast operation runs before its windows.
	warmUp = 30 * time.Millisecond
	// shortOperation is below which operations are timed in batches of
	// batchLength, because reading the clock would be a part of the figure.
	shortOperation = time.Microsecond
	batchLength    = 10 * time.Microsecond
)

// windows measures a launch of a group whose instances are alive together.
// Whoever is not measuring is stopped. The order in which instances are
// started, warmed up and measured is random each time.
func (r *Runner) windows(ctx context.Context, g *group, launch int) error {
	l := &windowLaunch{r: r, g: g, number: launch, tried: map[trialKey]bool{}}
	defer l.killAll()
	if err := l.startAll(ctx); err != nil {
		return err
	}
	peers := g.operations()
	for _, i := range r.shuffled(len(peers)) {
		if r.over() {
			return errBudgetEnded
		}
		meter, before := host.Start(), l.cpu()
		if err := l.operation(ctx, peers[i]); err != nil {
			return err
		}
		if err := l.emit(meter.Stop(l.cpu() - before)); err != nil {
			return err
		}
	}
	g.timed++
	return l.stopAll(ctx)
}

// windowLaunch is one launch of a window group.
type windowLaunch struct {
	r         *Runner
	g         *group
	number    int
	instances []*instance
	trials    []*assay.Trial // finished and not yet emitted
	tried     map[trialKey]bool
}

// trialKey tells the trials of a launch apart.
type trialKey struct {
	cell string
	twin bool
}

// cpu is the CPU time that this process and its workers used so far.
func (l *windowLaunch) cpu() time.Duration {
	total := host.SelfCPU()
	for _, in := range l.instances {
		used, err := host.GroupCPU(in.worker.PID())
		if err != nil { // it has ended: what it used must not pass for a stranger's
			used = in.worker.Usage()
		}
		total += used
		if in.server != nil {
			total += in.server.CPU()
		}
	}
	return total
}

// startAll starts an instance of every member, warms its operations up by
// verifying their answers, and stops it.
func (l *windowLaunch) startAll(ctx context.Context) error {
	for _, i := range l.r.shuffled(len(l.g.members)) {
		m := l.g.members[i]
		cell := m.cell()
		in, err := l.r.start(ctx, m, l.number, connections{readers: cell.Pool, idle: cell.Idle})
		if err == nil {
			err = in.worker.Pause()
		}
		if err != nil {
			if err := l.giveUp(m, nil, err); err != nil {
				return err
			}
			continue
		}
		l.instances = append(l.instances, in)
	}
	return nil
}

// giveUp records a failure for the member's jobs that have no trial yet.
func (l *windowLaunch) giveUp(m *member, in *instance, err error) error {
	for _, j := range m.jobs {
		if l.tried[trialKey{j.Cell.Key(), m.twin}] {
			continue
		}
		t := newTrial(m, j, l.number, assay.Windows)
		if in != nil {
			t = in.trial(j, l.number, assay.Windows)
		}
		if err := end(&t, err); err != nil {
			return err
		}
		l.note(&t)
	}
	return nil
}

func (l *windowLaunch) note(t *assay.Trial) {
	l.tried[trialKey{t.Cell.Key(), t.Twin}] = true
	l.trials = append(l.trials, t)
}

// turn is one instance's part in the windows of an operation.
type turn struct {
	*instance
	j     *job
	trial assay.Trial
	tally tally
	each  time.Duration // an operation's duration, from the warm-up
	took  time.Duration // wall time of all that was done for it
	// phased are the windows in which phases are timed; noPhases says why the
	// worker does not time them.
	phased   phased
	noPhases string
}

// operation measures one operation on all instances that have it.
func (l *windowLaunch) operation(ctx context.Context, peer string) error {
	turns, err := l.warmUp(ctx, peer)
	if err != nil || len(turns) == 0 {
		return err
	}
	slowest := time.Duration(0)
	for _, t := range turns {
		slowest = max(slowest, t.each)
	}
	length := max(windowLength, leastPerWindow*slowest)
	count := l.r.windowCount(l.g, peer, length)
	began := time.Now()
	for range count {
		start := int64(l.r.random.IntN(windowTrace))
		for _, i := range l.r.shuffled(len(turns)) {
			if err := l.window(ctx, turns[i], start); err != nil {
				return err
			}
		}
	}
	l.g.noteWindows(peer, count, time.Since(began))
	if err := l.phases(ctx, turns); err != nil {
		return err
	}
	for _, i := range l.r.shuffled(len(turns)) {
		if err := l.finish(ctx, turns[i]); err != nil {
			return err
		}
	}
	return nil
}

// warmUp verifies and warms up an operation on every instance.
func (l *windowLaunch) warmUp(ctx context.Context, peer string) ([]*turn, error) {
	var turns []*turn
	for _, i := range l.r.shuffled(len(l.instances)) {
		in := l.instances[i]
		j := in.job(peer)
		if j == nil || l.tried[trialKey{j.Cell.Key(), in.twin}] {
			continue // it has no such operation, or has ended and its trials are given up
		}
		t := &turn{instance: in, j: j, trial: in.trial(j, l.number, assay.Windows)}
		began := time.Now()
		err := awake(ctx, in, func() error { return t.warmUp(ctx) })
		t.took = time.Since(began)
		if ok, err := l.settle(t, err); err != nil {
			return nil, err
		} else if ok {
			turns = append(turns, t)
		}
	}
	return turns, nil
}

func (t *turn) warmUp(ctx context.Context) error {
	var err error
	if t.trial.QueryPlan, err = t.prepareOperation(ctx, t.j); err != nil {
		return err
	}
	if t.trial.Digest, t.each, err = t.verify(ctx, t.j); err != nil {
		return err
	}
	if leastPerWindow*t.each > windowLength {
		return nil // verifying it was enough
	}
	m, err := t.warm(ctx, wire.Measure{Operation: t.j.Cell.Peer(), Nanos: int64(warmUp)})
	if err != nil {
		return err
	}
	t.each = time.Duration(m.Nanos / max(1, m.Operations))
	return nil
}

// awake wakes an instance for something and stops it again.
func awake(ctx context.Context, in *instance, do func() error) error {
	limited, cancel := context.WithTimeout(ctx, in.r.config.Timeout)
	defer cancel()
	if err := in.worker.Resume(limited); err != nil {
		return fail("wake", err)
	}
	if err := do(); err != nil {
		if in.worker.Alive() {
			_ = in.worker.Pause() // the first error is the one to tell
		}
		return err
	}
	return fail("stop", in.worker.Pause())
}

// settle ends a turn that failed. It reports whether the turn goes on.
func (l *windowLaunch) settle(t *turn, err error) (bool, error) {
	if err == nil {
		return true, nil
	}
	if err := end(&t.trial, err); err != nil {
		return false, err
	}
	l.noteTurn(t)
	if t.worker.Alive() {
		return false, nil
	}
	return false, l.giveUp(t.member, t.instance, err)
}

func (l *windowLaunch) noteTurn(t *turn) {
	t.trial.Took = t.took
	l.note(&t.trial)
}

// window measures one window of one instance.
func (l *windowLaunch) window(ctx context.Context, t *turn, start int64) error {
	if t.trial.Outcome != assay.OK {
		return nil
	}
	request := wire.Measure{Operation: t.j.Cell.Peer(), Start: start, Nanos: int64(windowLength)}
	if t.each < shortOperation {
		request.Batch = int64(batchLength / max(1, t.each))
	}
	began := time.Now()
	err := awake(ctx, t.instance, func() error {
		var m wire.Measured
		if err := t.measure(ctx, request, &m); err != nil {
			return err
		}
		t.tally.add(m)
		l.r.measured += time.Duration(m.Nanos)
		return nil
	})
	t.took += time.Since(began)
	_, err = l.settle(t, err)
	return err
}

// finish reads the settings back once more and completes the trial.
func (l *windowLaunch) finish(ctx context.Context, t *turn) error {
	if t.trial.Outcome != assay.OK {
		return nil // it is noted already
	}
	began := time.Now()
	err := awake(ctx, t.instance, func() error { return t.afterMeasuring(ctx, t.j) })
	t.took += time.Since(began)
	if ok, err := l.settle(t, err); !ok {
		return err
	}
	t.recordSettings(&t.trial, t.j.Operation)
	for _, err := range []error{t.applied, t.tally.failure()} {
		if err := end(&t.trial, err); err != nil {
			return err
		}
	}
	t.tally.record(&t.trial, t.j.Operation)
	if t.trial.Outcome == assay.OK || t.trial.Outcome == assay.NotApplied {
		t.phased.record(&t.trial, t.j.Operation)
	}
	t.warnPhases()
	l.noteTurn(t)
	return nil
}

// stopAll ends the instances. For one that cannot be closed, that is the
// outcome of its cells.
func (l *windowLaunch) stopAll(ctx context.Context) error {
	for len(l.instances) > 0 {
		in := l.instances[0]
		if in.worker.Alive() {
			if err := in.stop(ctx); err != nil {
				l.tried = map[trialKey]bool{}
				if err := l.giveUp(in.member, in, err); err != nil {
					return err
				}
			}
		}
		in.kill()
		l.instances = l.instances[1:]
	}
	return l.emit(assay.Noise{})
}

func (l *windowLaunch) killAll() {
	for _, in := range l.instances {
		in.kill()
	}
}

func (l *windowLaunch) emit(noise assay.Noise) error {
	for _, t := range l.trials {
		if err := l.r.finish(l.g, t, noise); err != nil {
			return err
		}
	}
	l.trials = nil
	return nil
}
