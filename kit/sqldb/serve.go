package sqldb

import (
	"database/sql"
	"errors"
	"sync"

	"assay/kit"
	"assay/kit/wire"
)

// served is what the handlers of an operation share, as those of an application
// do: statements that are compiled once, of the pool or of each connection for
// changes.
type served struct {
	reads  []preparedStep
	writes *writer
	mu     sync.Mutex // of the statements of writes
}

func (s *served) close() error {
	err := closeSteps(s.reads)
	if s.writes != nil {
		err = errors.Join(err, s.writes.Close())
	}
	return err
}

// Handler returns a client with room of its own, and with shared statements.
func (o *operation) Handler() (kit.Handler, error) {
	c, err := o.newClient()
	if err != nil {
		return nil, err
	}
	if o.spec.Changes {
		if o.served.writes == nil {
			o.served.writes = &writer{client: c, statements: map[*sql.Conn][]preparedStep{}}
		}
		return writes{o}, nil
	}
	if o.served.reads == nil {
		if o.served.reads, err = c.prepare(o.db.readers); err != nil {
			return nil, err
		}
	}
	h := reads{db: o.db}
	for i, step := range o.served.reads {
		step.args, step.dest = make([]any, step.Args), c.destinations[i]
		h.steps = append(h.steps, step)
	}
	return h, nil
}

// reads answers requests that change nothing.
type reads struct {
	db    *database
	steps []preparedStep
}

func (h reads) Answer(position int, visit func([]string, []any) error) (int, error) {
	rows, err := runAll(h.steps, position, nil, visit)
	return rows, h.db.busy(err)
}

func (reads) Close() error { return nil }

// writes answers requests that change data. Whoever has a connection has its
// statements, too.
type writes struct{ o *operation }

func (h writes) Answer(position int, visit func([]string, []any) error) (int, error) {
	conn := kit.Take(&h.o.db.waits, h.o.db.writers)
	rows, err := h.answer(conn, position, visit)
	h.o.db.writers <- conn
	return rows, h.o.db.busy(err)
}

func (h writes) answer(conn *sql.Conn, position int, visit func([]string, []any) error) (int, error) {
	w := h.o.served.writes
	h.o.served.mu.Lock()
	steps, err := w.on(conn)
	h.o.served.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return w.run(conn, steps, position, nil, visit)
}

func (writes) Close() error { return nil }

// Pool says what the pools did: database/sql closes connections that are idle,
// and opens others for them, without a word.
func (d *database) Pool() wire.Pool {
	p := wire.Pool{Opened: d.opened.Load()}
	p.Closed = p.Opened
	d.waits.AddTo(&p)
	for _, pool := range []*sql.DB{d.readers, d.changes, d.keeper} {
		if pool == nil {
			continue
		}
		stats := pool.Stats()
		p.Closed -= int64(stats.OpenConnections)
		p.Waits += stats.WaitCount
		p.Waited += int64(stats.WaitDuration)
	}
	return p
}
