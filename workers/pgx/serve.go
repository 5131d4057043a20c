package main

import (
	"assay/kit"
	"assay/kit/wire"
	"context"
)

// handler answers requests, with a connection of the pool for each, or with one
// of those for changes.
type handler struct {
	do   func(position int) (int, error)
	show func(types []string, row []any) error // of the request that is answered
	*client
}

// Handler returns a client that shows its rows. Statements that are prepared
// once are so on each connection, for all handlers.
func (o *operation) Handler() (kit.Handler, error) {
	made, err := o.Client()
	if err != nil {
		return nil, err
	}
	h := &handler{}
	switch c := made.(type) {
	case *writer:
		h.do, h.client = c.answer, c.client
	case *client:
		h.do, h.client = c.Do, c
	}
	h.visit = func(step int, row []any) error { return h.show(h.steps[step].Returns, row) }
	return h, nil
}

func (h *handler) Answer(ctx context.Context, position int, visit func(types []string, row []any) error) (int, error) {
	h.show = visit
	for i := range h.steps {
		h.steps[i].ctx = ctx
	}
	return h.do(position)
}

// answer is Do that notes where it had to wait for a connection.
func (w *writer) answer(position int) (int, error) {
	conn := kit.Take(&w.o.db.waits, w.o.db.writers)
	rows, err := w.do(conn, position, nil)
	w.o.db.writers <- conn
	return rows, busy(err)
}

// Pool says what the connections did. pgxpool keeps all of them.
func (d *database) Pool() wire.Pool {
	p := wire.Pool{Opened: int64(cap(d.writers))}
	d.waits.AddTo(&p)
	if d.readers != nil {
		stat := d.readers.Stat()
		p.Opened += stat.NewConnsCount()
		p.Closed = stat.NewConnsCount() - int64(stat.TotalConns())
		p.Waits += stat.EmptyAcquireCount()
		p.Waited += int64(stat.EmptyAcquireWaitTime())
	}
	return p
}
