package kit

import (
	"errors"
	"sync"

	"assay/kit/column"
	"assay/kit/wire"
)

// Looper is an Operation that runs the loop of a window itself, in a language that Go would
// have to call for each operation.
type Looper interface {
	Operation
	// Loop makes a window ready. All clients of the operation exist.
	Loop(Window) (Loop, error)
}

// Window is what is to be run, in units: operations, or transactions where there are any.
type Window struct {
	Clients   int
	First     int64 // position at which the trace is entered
	Length    int64 // of the trace
	Units     int64 // to run; MaxInt64 in a window
	Least     int64 // to run in a window whatever the clock says
	Nanos     int64 // of a window; 0: all units are run
	Batch     int64 // units that are drawn at once
	RetryBusy bool
	Latency   bool    // record histograms
	Phases    *Phases // nil: not timed
	// Mix is the trace of a mix, which says for each position the part and the position in
	// it; nil where the operation is none.
	Mix   *column.File
	Parts []Looper // of the mix
}

// Loop is a window that is ready.
type Loop interface {
	// Run runs a client until nothing is left to do, beside the others.
	Run(client int)
	// Looped is what was done, after all clients have ended.
	Looped() Looped
	Close() error
}

// Looped is what the clients of a window did.
type Looped struct {
	Began  int64 // clock when all clients were running; the clock is the loop's own
	Unix   int64 // the same as Unix time in ns
	Shares []Share
	Clock  float64 // ns that one reading of the clock costs, where phases were timed
}

// Share is what one client did. Moments are of the loop's clock.
type Share struct {
	Done      int64 // units done and right
	Before    int64 // moment when the last draw began
	Last      int64 // moment when it ended
	LastRight int64 // units of it done and right
	Exit      int64 // moment when nothing more was to be done; where the client is alone, that when its last draw ended
	Executed  int64
	Busy      int64
	Stale     int64 // busy answers that no waiting can mend
	Misses    int64 // units with another number of rows than expected
	Failed    int64
	Miss, Err string // the first ones
	Histogram *wire.Histogram
}

// looper returns the operation as one that runs its windows itself, where it does.
func (p *prepared) looper() (Looper, bool) {
	traced, ok := p.operation.(*traced)
	if !ok {
		mix, isMix := p.operation.(*mix)
		return mixLooper{mix}, isMix && mix.loops()
	}
	looper, ok := traced.Operation.(Looper)
	return looper, ok
}

// loops reports whether all parts run windows themselves.
func (m *mix) loops() bool {
	for _, part := range m.parts {
		if _, ok := part.(*traced).Operation.(Looper); !ok {
			return false
		}
	}
	return true
}

// mixLooper is a mix whose parts all run windows themselves.
type mixLooper struct{ *mix }

// Loop has the first part run the windows of all.
func (m mixLooper) Loop(w Window) (Loop, error) {
	if w.Phases != nil {
		return nil, wire.Errorf(wire.Unsupported, "phases are timed of reading operations, not of mixes")
	}
	w.Mix = m.trace
	for _, part := range m.parts {
		w.Parts = append(w.Parts, part.(*traced).Operation.(Looper))
	}
	return w.Parts[0].Loop(w)
}

// newLoop makes the loop of a lap ready.
func (l *lap) newLoop(looper Looper, phases bool) error {
	if phases && len(l.clients) != 1 {
		return wire.Errorf(wire.Invalid, "phases of %d clients: want one client", len(l.clients))
	}
	w := Window{Clients: len(l.clients), First: l.first, Length: l.p.length, Units: l.units, Least: l.minUnits, Nanos: l.window, Batch: l.batch,
		RetryBusy: l.p.spec.RetryBusy, Latency: l.latency}
	if phases {
		l.phases = new(Phases)
		w.Phases = l.phases
	}
	var err error
	l.loop, err = looper.Loop(w)
	return err
}

// runLoop runs all clients of a loop, one alone on this thread.
func (l *lap) runLoop() {
	if len(l.clients) == 1 {
		l.loop.Run(0)
		return
	}
	var done sync.WaitGroup
	for i := range l.clients {
		done.Go(func() { l.loop.Run(i) })
	}
	done.Wait()
}

// looped takes over what the clients of a loop did.
func (l *lap) looped(shares []share) {
	did := l.loop.Looped()
	l.began, l.unix, l.clock = did.Began, did.Unix, did.Clock
	for i, s := range did.Shares {
		shares[i] = share{done: s.Done, before: s.Before, last: s.Last, lastRight: s.LastRight, exit: s.Exit, executed: s.Executed,
			busies: busies{s.Busy, s.Stale}, misses: s.Misses, failed: s.Failed, histogram: s.Histogram}
		if s.Miss != "" {
			shares[i].miss = errors.New(s.Miss)
		}
		if s.Err != "" {
			shares[i].err = errors.New(s.Err)
		}
	}
}
