package serve

import (
	"context"
	"slices"
	"sync"
	"time"

	"assay"
	"assay/internal/sys/guard"
)

// slowPatience is how long a page waits for what takes long to work out of many runs.
// Then it shows what was known before.
const slowPatience = 150 * time.Millisecond

// reload is after how many seconds a browser asks again for what nothing is known of yet.
const reload = "3"

// age tells which runs something was worked out of.
type age int

const (
	current age = iota
	earlier     // without the newest runs or proofs
	none        // nothing is known yet
)

// tell says what a page has to say about that, and has the browser ask again where there is
// nothing to show.
func (a *answer) tell(of age) string {
	switch of {
	case earlier:
		return "Runs or proofs were added and are being processed: reload the page to see them."
	case none:
		a.header.Set("Refresh", reload)
		return "This is being computed from all runs of the store: the page reloads by itself in a moment."
	}
	return ""
}

type shelf struct {
	mutex    sync.Mutex
	life     context.Context // in which works go on, whoever asked for them
	patience time.Duration
}

// work is something that takes long to work out of runs.
type work[T any] struct {
	of    []assay.Run
	value T
	known bool
	err   error         // of the last attempt
	going chan struct{} // closed when the attempt ends; nil: there is none
}

// is reports whether the value is of these runs, with their proofs.
func (w *work[T]) is(of []assay.Run) bool {
	same := func(a, b assay.Run) bool { return a.ID == b.ID && slices.Equal(a.Proofs, b.Proofs) }
	return w.known && slices.EqualFunc(w.of, of, same)
}

// ask returns what was made of some runs. Where making it takes too long, it returns what
// was made of earlier ones, and goes on making it.
func ask[T any](ctx context.Context, s *shelf, w *work[T], of []assay.Run, produce func(context.Context) (T, error)) (value T, a age, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	late := time.After(s.patience)
	for ended := true; ended && !w.is(of); {
		own := w.going == nil // or it is an attempt with other runs
		if own {
			w.going = make(chan struct{})
			go w.attempt(s, of, produce)
		}
		if ended = s.wait(ctx, w.going, late); ended && own && w.err != nil {
			return value, none, w.err
		}
	}
	switch {
	case ctx.Err() != nil:
		return value, none, ctx.Err()
	case !w.known:
		return value, none, nil
	case !w.is(of):
		return w.value, earlier, nil
	}
	return w.value, current, nil
}

// wait waits for the end of an attempt, until it is late.
func (s *shelf) wait(ctx context.Context, end chan struct{}, late <-chan time.Time) (ended bool) {
	s.mutex.Unlock()
	defer s.mutex.Lock()
	select {
	case <-end:
		return true
	case <-late:
	case <-ctx.Done():
	}
	return false
}

func (w *work[T]) attempt(s *shelf, of []assay.Run, produce func(context.Context) (T, error)) {
	var value T
	err := guard.Error(func() (err error) { value, err = produce(s.life); return err })
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if w.err = err; err == nil {
		w.of, w.value, w.known = of, value, true
	}
	close(w.going)
	w.going = nil
}
