//go:build unix

package runner

import (
	"context"
	"errors"
	"time"

	"assay/kit/wire"
)

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
		if err := l.round(ctx, v.turns, l.window); err != nil {
			return err
		}
		again := v.again()
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
			return nil
		}
	}
}

// again reports whether the round that was measured is to be measured again, and counts it.
// Nothing is where a worker does not tell its delays, which keeps its disturbed windows: others
// would have an advantage over it; nor is what went wrong.
func (v *variant) again() bool {
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

func (d *delays) begin(counted time.Duration, known bool) { d.before, d.known = counted, known }

func (d *delays) claim(m wire.Measured) {
	if m.Delayed != nil {
		d.claimed += time.Duration(*m.Delayed)
	}
}

// confirmed reports whether the kernel counted what the worker claims, as far as that is
// known.
func (d *delays) confirmed(after time.Duration, known bool) bool {
	return !d.known || !known || wire.Delayed(d.claimed, after-d.before)
}

// errDelays ends a launch whose worker claims delays that the kernel did not count: it lies,
// or its threads have ended, with what was counted of them.
var errDelays = errors.New("a worker claims delays that the system did not count")

// confirmDelays has the launch measured again, without the delays of a worker that claims
// what the kernel did not count.
func (l *jointLaunch) confirmDelays(turns []*turn) (err error) {
	for _, t := range turns {
		if !l.ended(t) && !t.delays.confirmed(t.waited()) {
			l.r.observed.noDelays[t.cell().Target()] = true
			err = errDelays
		}
	}
	return err
}
