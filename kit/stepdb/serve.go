package stepdb

import (
	"context"
	"sync/atomic"

	"assay/kit"
	"assay/kit/wire"
)

// waiting counts what requests wait for.
type waiting struct {
	kit.Waits
	inUse atomic.Int64 // connections of the driver's own pool
}

// Handler returns a client that takes a connection for each request, as the
// handlers of an application do.
func (o *operation) Handler() (kit.Handler, error) {
	c, err := o.newClient(0)
	return &handler{client: c}, err
}

// handler answers requests. Statements that the driver does not keep itself are
// kept by each handler for each connection: a program with this API has no
// other place for them.
type handler struct {
	*client
	show func(types []string, row []any) error
}

func (h *handler) Answer(_ context.Context, position int, visit func(types []string, row []any) error) (int, error) {
	if h.client.visit == nil {
		h.client.visit = func(step int, row []any) error { return h.show(h.steps[step].Returns, row) }
	}
	h.show = visit
	conn, err := h.o.takeCounted()
	if err != nil {
		return 0, err
	}
	var n int
	if h.o.spec.Transaction > 0 {
		n, err = h.transaction(conn, position, nil)
	} else {
		n, err = h.all(conn, position, nil)
	}
	h.o.giveCounted(conn)
	return n, h.failed(n, err)
}

// takeCounted takes a connection that is free, and notes where it had to wait.
func (o *operation) takeCounted() (Conn, error) {
	w := &o.db.waiting
	if !o.spec.Changes && o.db.pool != nil {
		if w.inUse.Add(1) <= int64(o.db.request.Readers) {
			return o.db.pool.Take()
		}
		defer w.Begin()()
		return o.db.pool.Take()
	}
	return kit.Take(&w.Waits, o.connections()), nil
}

func (o *operation) giveCounted(conn Conn) {
	if !o.spec.Changes && o.db.pool != nil {
		o.db.pool.Put(conn)
		o.db.waiting.inUse.Add(-1)
		return
	}
	o.connections() <- conn
}

// connections is where those of the operation's kind are taken in turn.
func (o *operation) connections() chan Conn {
	if o.spec.Changes {
		return o.db.writers
	}
	return o.db.turns
}

// Pool says what the connections did: all are opened at first, and stay.
func (d *database) Pool() wire.Pool {
	p := wire.Pool{Opened: int64(d.request.Readers + d.request.Writers)}
	d.waiting.AddTo(&p)
	return p
}
