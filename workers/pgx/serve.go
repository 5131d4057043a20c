package main

import (
	"assay/kit"
	"assay/kit/wire"
)

// handler answers requests, with a connection of the pool for each, or with one
// of those for changes.
type handler struct {
	do     func(position int) (int, error)
	client *client
}

// Handler returns a client that shows its rows. Statements that are prepared
// once are so on each connection, for all handlers.
func (o *operation) Handler() (kit.Handler, error) {
	made, err := o.Client()
	if err != nil {
		return nil, err
	}
	if w, changes := made.(*writer); changes {
		return &handler{w.answer, w.client}, nil
	}
	c := made.(*client)
	return &handler{c.Do, c}, nil
}

func (h *handler) Answer(position int, visit func(types []string, row []any) error) (int, error) {
	h.client.visit = visit
	return h.do(position)
}

func (h *handler) Close() error { return h.client.Close() }

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
