package sqldb

import (
	"context"
	"database/sql"

	"assay/kit"
	"assay/kit/wire"
)

// Handler returns a client with room of its own, and with the operation's
// statements.
func (o *operation) Handler() (kit.Handler, error) {
	if o.spec.Changes {
		return writes{o}, o.compileWrites()
	}
	if err := o.compileReads(); err != nil {
		return nil, err
	}
	c, err := o.newClient()
	if err != nil {
		return nil, err
	}
	return reads{o.db, c.bind(o.db.readers, o.reads)}, nil
}

// reads answers requests that change nothing.
type reads struct {
	db    *database
	steps []preparedStep
}

func (h reads) Answer(ctx context.Context, position int, visit func([]string, []any) error) (int, error) {
	under(ctx, h.steps)
	rows, err := runAll(h.steps, position, nil, visit)
	return rows, h.db.busy(err)
}

func (reads) Close() error { return nil }

// writes answers requests that change data. Whoever has a connection has its
// statements, too.
type writes struct{ o *operation }

func (h writes) Answer(ctx context.Context, position int, visit func([]string, []any) error) (int, error) {
	conn := kit.Take(&h.o.db.waits, h.o.db.writers)
	u := h.o.writes[conn]
	under(ctx, u.steps)
	u.begin.ctx, u.commit.ctx = ctx, ctx
	rows, err := u.run(position, nil, visit)
	h.o.db.writers <- conn
	return rows, h.o.db.busy(err)
}

// under has the steps run with the context of a request.
func under(ctx context.Context, steps []preparedStep) {
	for i := range steps {
		steps[i].ctx = ctx
	}
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
