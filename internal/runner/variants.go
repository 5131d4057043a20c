//go:build unix

package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"assay/internal/runner/host"
	"assay/kit/process"
	"assay/kit/wire"
)

// variant is one of an operation in a launch: as many windows on every instance that
// has it.
type variant struct {
	peer    string
	turns   []*turn
	slowest time.Duration // operation
	count   int           // of windows
	least   int           // of them, where the budget ends
	rounds  int           // of windows that were measured
	spare   int           // how many more rounds may be measured again
	first   int64         // where in the sequence of arguments it begins
	took    time.Duration // by its windows
}

// operation measures an operation on all instances that have it. The windows of its
// variants alternate: what changes within a launch is alike for all of them, and
// they may be compared. What went wrong until the budget ends is emitted too.
func (l *jointLaunch) operation(ctx context.Context, variants []*variant) error {
	began, meter, before := time.Now(), host.Start(), l.cpu()
	err := l.measureVariants(ctx, variants)
	noise, took := meter.Stop(l.cpu()-before), time.Since(began)
	if err == nil {
		return l.emit(noise, took)
	}
	var all []*turn
	for _, v := range variants {
		all = append(all, v.turns...)
	}
	return l.emitWrong(all, noise, took, err)
}

func (l *jointLaunch) measureVariants(ctx context.Context, variants []*variant) error {
	for _, v := range variants {
		if err := l.begin(ctx, v); err != nil {
			return err
		}
	}
	variants = slices.DeleteFunc(slices.Clone(variants), func(v *variant) bool { return len(v.turns) == 0 })
	if err := l.alternate(ctx, variants); err != nil {
		return err
	}
	for _, v := range variants {
		if err := l.end(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// begin warms up, as many instances at the same time as there are processors, and chooses
// how many windows there are of which arguments.
func (l *jointLaunch) begin(ctx context.Context, v *variant) error {
	err := l.meanwhile(ctx, v.turns, func(t *turn) error { return t.warmUp(ctx) })
	v.turns = slices.DeleteFunc(v.turns, l.ended)
	if err != nil || len(v.turns) == 0 {
		return err
	}
	w := v.window()
	v.count, v.least = l.r.windowCount(l.g, v.peer, w), w.count(true)
	if v.spare = v.count / maxAgain; l.r.busy { // those that would be measured instead are disturbed too
		v.spare = 0
	}
	for _, t := range v.turns {
		t.delays.begin(t.threadTimes())
	}
	l.enterSequence(v.turns[0].j)
	v.first = l.g.windows.sequences[v.peer]
	return nil
}

// window returns the window of the slowest instance. Each slow one counts as many
// operations as that in its windows; a fast one fills them by the clock.
func (v *variant) window() window {
	for _, t := range v.turns {
		v.slowest = max(v.slowest, t.each)
	}
	w := windowOf(v.slowest, v.turns[0].j.Case)
	for _, t := range v.turns {
		if windowOf(t.each, t.j.Case).units > 0 {
			t.units = w.units
		}
	}
	return w
}

// alternate measures all windows: of each variant one round at a time, those of one
// with fewer windows spread over the others. Where the budget has ended, those of a launch
// whose time is scarce are enough.
func (l *jointLaunch) alternate(ctx context.Context, variants []*variant) error {
	most := 0
	for _, v := range variants {
		most = max(most, v.count)
	}
	for round := range most {
		for _, i := range l.r.shuffled(len(variants)) {
			v := variants[i]
			if (round+1)*v.count/most == round*v.count/most {
				continue
			}
			began := time.Now()
			if err := l.countedRound(ctx, v); err != nil {
				return err
			}
			v.took += time.Since(began)
			v.rounds++
		}
		if l.r.over() && !slices.ContainsFunc(variants, func(v *variant) bool { return v.rounds < v.least }) {
			return nil
		}
	}
	return nil
}

// end checks its answers and completes its trials.
func (l *jointLaunch) end(ctx context.Context, v *variant) error {
	l.g.windows.add(v.peer, v.rounds, v.took)
	began := time.Now()
	sample, err := l.r.sampleOf(ctx, v.turns[0].j, v.first, l.g.windows.sequences[v.peer], v.slowest)
	if err != nil {
		return err
	}
	v.turns[0].took += time.Since(began)
	if err := l.phases(ctx, v.turns); err != nil {
		return err
	}
	return l.finish(ctx, v.turns, sample)
}

// enterSequence chooses a random place to begin at in an operation's sequence
// of arguments. From there on windows and launches use it up: all instances of
// a round have the same part of it, and the next round has another one.
func (l *jointLaunch) enterSequence(j *job) {
	if _, entered := l.g.windows.sequences[j.Cell.Peer()]; entered {
		return
	}
	unit := max(1, j.Operation.Transaction)
	l.g.windows.sequences[j.Cell.Peer()] = int64(l.r.random.IntN(max(1, j.trace.Length/unit)) * unit)
}

// round measures one window of every instance, in random order, with the same
// part of the sequence of arguments. The next round has the part behind it.
func (l *jointLaunch) round(ctx context.Context, turns []*turn, window func(context.Context, *turn, int64) (int64, error)) error {
	peer, most := turns[0].j.Cell.Peer(), int64(0)
	start := l.g.windows.sequences[peer]
	for _, i := range l.r.shuffled(len(turns)) {
		used, err := window(ctx, turns[i], start)
		if err != nil {
			return err
		}
		most = max(most, used)
	}
	l.g.windows.sequences[peer] = start + most
	return nil
}

const (
	// maxDelay is the share of a window for which its thread may wait for a processor
	// that other processes have.
	maxDelay = 0.02
	// maxAgain is the part of a launch's rounds that may be measured again: 1/maxAgain.
	// Where more are disturbed, the rest counts as it is.
	maxAgain = 4
)

// countedRound measures a round of windows that count. Where others disturbed one of them,
// all of them are measured again, with the next part of the arguments: so that what is left
// out is left out for all instances alike.
func (l *jointLaunch) countedRound(ctx context.Context, v *variant) error {
	for {
		err := l.round(ctx, v.turns, l.window)
		again := err == nil && v.toRepeat()
		for _, t := range v.turns {
			if t.last == nil { // it has ended
				continue
			}
			l.r.time.addWindow(*t.last, again)
			t.delays.claim(t.last.Measured)
			if !again {
				t.keep(*t.last)
			}
			t.last = nil
		}
		if !again {
			return err
		}
	}
}

// toRepeat reports whether the round that was measured is to be measured again, and counts it.
// Nothing is where a worker does not tell its delays, which keeps its disturbed windows: others
// would have an advantage over it; nor is what went wrong.
func (v *variant) toRepeat() bool {
	disturbed := false
	for _, t := range v.turns {
		if t.last == nil {
			continue
		}
		m := t.last.Measured
		if m.Delayed == nil || m.Errors+m.Misses > 0 {
			return false
		}
		disturbed = disturbed || float64(*m.Delayed) > maxDelay*float64(m.Nanos)
	}
	if !disturbed || v.spare == 0 {
		return false
	}
	v.spare--
	return true
}

func (t *turn) keep(w measured) {
	t.tally.add(w.Measured)
	if w.pool == nil {
		return
	}
	if t.reopened == nil {
		t.reopened = &wire.Pool{}
	}
	t.reopened.Closed += w.pool.Closed
	t.reopened.Waited += w.pool.Waited
}

// delays compare what a worker says of its delays with what the kernel counted of its
// threads: it must not choose its windows by them.
type delays struct {
	before  time.Duration
	known   bool
	claimed time.Duration
}

func (d *delays) begin(counted process.ThreadTimes, known bool) {
	d.before, d.known = counted.Waited, known
}

func (d *delays) claim(m wire.Measured) {
	if m.Delayed != nil {
		d.claimed += time.Duration(*m.Delayed)
	}
}

// confirmed reports whether the kernel counted what the worker claims, as far as that is
// known.
func (d *delays) confirmed(after process.ThreadTimes, known bool) bool {
	return !d.known || !known || wire.Delayed(d.claimed, after.Waited-d.before)
}

// errDelays ends a launch whose worker claims delays that the kernel did not count: it lies,
// or its threads have ended, with what was counted of them.
var errDelays = errors.New("a worker claims delays that the system did not count")

// confirmDelays has the launch measured again, without the delays of a worker that claims
// what the kernel did not count.
func (l *jointLaunch) confirmDelays(turns []*turn) (err error) {
	for _, t := range turns {
		if !l.ended(t) && !t.delays.confirmed(t.threadTimes()) {
			l.r.observed.noDelays[t.cell().Target()] = true
			err = errDelays
		}
	}
	return err
}
