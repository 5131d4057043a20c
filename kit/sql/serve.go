package sql

import (
	"context"

	"assay/kit"
)

// Handler returns a client that takes a connection for each request, as the
// handlers of an application do.
func (o *operation[C]) Handler() (kit.Handler, error) {
	c, err := o.newClient(0)
	if o.db.whole == nil {
		c.own = nil
	}
	h := &handler[C]{client: c}
	c.visit = func(step int, row []any) error { return h.show(o.steps[step].Returns, row) }
	return h, err
}

// handler answers requests.
type handler[C comparable] struct {
	*client[C]
	show func(types []string, row []any) error // of the request that is answered
}

func (h *handler[C]) Answer(ctx context.Context, position int, visit func(types []string, row []any) error) (n int, err error) {
	h.show = visit
	u, err := h.takeCounted()
	if err != nil {
		return 0, err
	}
	defer h.giveCounted(u)
	if h.o.spec.Transaction > 0 {
		n, err = u.transaction(ctx, position, nil)
	} else {
		n, err = u.all(ctx, position, nil)
	}
	if err != nil {
		err = h.o.db.mark(err)
	}
	return n, err
}

// takeCounted takes a connection and notes where it had to wait for one that is
// free, unless the API counts that.
func (h *handler[C]) takeCounted() (*unit[C], error) {
	db := h.o.db
	if h.o.spec.Changes {
		conn := kit.Take(&db.waits, db.writers)
		u, err := h.unit(conn)
		if err != nil {
			h.put(conn)
		}
		return u, err
	}
	_, counts := db.api.(Counter)
	if db.inUse.Add(1) > int64(db.request.Readers) && !counts {
		defer db.waits.Begin()()
	}
	u, err := h.take()
	if err != nil {
		db.inUse.Add(-1)
	}
	return u, err
}

func (h *handler[C]) giveCounted(u *unit[C]) {
	h.give(u)
	if !h.o.spec.Changes {
		h.o.db.inUse.Add(-1)
	}
}
