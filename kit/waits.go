package kit

import (
	"sync/atomic"
	"time"

	"assay/kit/wire"
)

// Waits counts requests that had to wait for a connection, and how long. It is
// for requests that are served: while operations are measured nobody counts.
type Waits struct{ count, nanos atomic.Int64 }

// Take takes what is free, or waits for it and counts that.
func Take[C any](w *Waits, free <-chan C) C {
	select {
	case c := <-free:
		return c
	default:
	}
	defer w.Begin()()
	return <-free
}

// Begin begins a wait, and returns what ends it.
func (w *Waits) Begin() (end func()) {
	w.count.Add(1)
	began := time.Now()
	return func() { w.nanos.Add(int64(time.Since(began))) }
}

// AddTo adds the waits so far to what a pool did; one that has not ended has no
// time yet.
func (w *Waits) AddTo(p *wire.Pool) {
	p.Waits += w.count.Load()
	p.Waited += w.nanos.Load()
}
