package kvdb

import (
	"assay/kit"
	"assay/kit/column"
	"assay/kit/wire"
)

// operation is a prepared operation: its steps, with the trace's columns that
// each takes.
type operation struct {
	db          *database
	trace       *column.File
	steps       []step
	changes     bool
	transaction int // operations to a transaction; 0: each change commits by itself
}

type step struct {
	kind string
	args int // the first column of its arguments
}

// takes is how many arguments each operation takes.
var takes = map[string]int{wire.Get: 1, wire.Put: 2, wire.Delete: 1, wire.Scan: 2}

func (d *database) Prepare(spec wire.Operation, trace *column.File) (kit.Operation, error) {
	o := &operation{db: d, trace: trace, changes: spec.Changes, transaction: spec.Transaction}
	if spec.Transaction > 0 && !spec.Changes {
		return nil, wire.Errorf(wire.Unsupported, "a transaction of an operation that changes nothing")
	}
	args := 0
	for i, s := range spec.Steps {
		want, known := takes[s.KV]
		switch {
		case !known:
			return nil, wire.Errorf(wire.Unsupported, "step %d: a key-value store has get, put, delete and scan, and not %q", i+1, s.KV+s.SQL)
		case s.KV == wire.Scan && d.driver.NoScan != "":
			return nil, wire.Errorf(wire.Unsupported, "step %d: no scan with %s: %s", i+1, d.driver.Name, d.driver.NoScan)
		case s.Args != want:
			return nil, wire.Errorf(wire.Invalid, "step %d: %s takes %d arguments, not %d", i+1, s.KV, want, s.Args)
		case !spec.Changes && (s.KV == wire.Put || s.KV == wire.Delete):
			return nil, wire.Errorf(wire.Invalid, "step %d: %s changes data", i+1, s.KV)
		case spec.Changes && s.KV == wire.Scan:
			return nil, wire.Errorf(wire.Unsupported, "step %d: a scan in an operation that changes data", i+1)
		}
		if err := checkTypes(s.KV, trace, args); err != nil {
			return nil, err
		}
		o.steps = append(o.steps, step{s.KV, args})
		args += want
	}
	return o, nil
}

// checkTypes looks at the trace's columns once, so that Do need not.
func checkTypes(kind string, trace *column.File, from int) error {
	for i := range takes[kind] {
		want := column.Blob
		if kind == wire.Scan && i == 1 {
			want = column.Int
		}
		if trace == nil || trace.Type(from+i) != want {
			return wire.Errorf(wire.Invalid, "column %d of the trace is not of the type that %s takes", from+i, kind)
		}
	}
	return nil
}

func (o *operation) QueryPlan() string { return "" }

func (o *operation) Close() error { return nil }

// Answer runs the reading steps of the operation.
func (o *operation) Answer(position int, visit func(step int, row []any) error) error {
	for i, s := range o.steps {
		key := o.trace.Bytes(s.args, position)
		var err error
		switch s.kind {
		case wire.Get:
			var value []byte
			var found bool
			if value, found, err = o.db.store.Get(key, nil); err == nil && found {
				err = visit(i, []any{value})
			}
		case wire.Scan:
			row := make([]any, 2)
			err = o.db.store.Scan(key, int(o.trace.Int(s.args+1, position)), func(key, value []byte) error {
				row[0], row[1] = key, value
				return visit(i, row)
			})
		default:
			err = wire.Errorf(wire.Unsupported, "step %d changes data: it has no answer", i+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Client returns the leanest client that does the operation.
func (o *operation) Client() (kit.Client, error) {
	c := client{operation: o, store: o.db.store}
	switch {
	case !o.changes && len(o.steps) == 1 && o.steps[0].kind == wire.Get:
		return &getter{c}, nil
	case !o.changes:
		return newReader(c), nil
	case o.transaction == 0 && len(o.steps) == 1 && o.steps[0].kind == wire.Put:
		return &putter{c}, nil
	case o.transaction == 0 && len(o.steps) == 1 && o.steps[0].kind == wire.Delete:
		return &deleter{c}, nil
	}
	return newUpdater(c), nil
}

// client is what all clients have.
type client struct {
	*operation
	store Store
	value []byte // the last one that was copied out
}

func (c *client) Close() error { return nil }

// getter gets one key.
type getter struct{ client }

func (g *getter) Do(position int) (rows int, err error) {
	var found bool
	g.value, found, err = g.store.Get(g.trace.Bytes(0, position), g.value[:0])
	if found {
		rows = 1
	}
	return rows, g.db.busy(err)
}

// putter puts one key, which commits by itself.
type putter struct{ client }

func (p *putter) Do(position int) (int, error) {
	return 1, p.db.busy(p.store.Put(p.trace.Bytes(0, position), p.trace.Bytes(1, position)))
}

// deleter deletes one key.
type deleter struct{ client }

func (d *deleter) Do(position int) (int, error) {
	return 1, d.db.busy(d.store.Delete(d.trace.Bytes(0, position)))
}

// reader does several steps that change nothing, or scans.
type reader struct {
	client
	rows int
	copy func(key, value []byte) error
}

func newReader(c client) *reader {
	r := &reader{client: c}
	r.copy = func(key, value []byte) error {
		r.value = append(append(r.value[:0], key...), value...)
		r.rows++
		return nil
	}
	return r
}

func (r *reader) Do(position int) (int, error) {
	r.rows = 0
	for _, s := range r.steps {
		key := r.trace.Bytes(s.args, position)
		if s.kind == wire.Scan {
			if err := r.store.Scan(key, int(r.trace.Int(s.args+1, position)), r.copy); err != nil {
				return r.rows, r.db.busy(err)
			}
			continue
		}
		var found bool
		var err error
		if r.value, found, err = r.store.Get(key, r.value[:0]); err != nil {
			return r.rows, r.db.busy(err)
		}
		if found {
			r.rows++
		}
	}
	return r.rows, nil
}

// updater does operations in a transaction.
type updater struct {
	client
	rows, first int
	apply       func(Writer) error
}

func newUpdater(c client) *updater {
	u := &updater{client: c}
	u.apply = func(w Writer) error {
		u.rows = 0 // the store may run the transaction again
		for i := range max(1, u.transaction) {
			if err := u.one(w, u.first+i); err != nil {
				return err
			}
		}
		return nil
	}
	return u
}

func (u *updater) Do(position int) (int, error) {
	u.first = position * max(1, u.transaction)
	err := u.store.Update(u.apply)
	return u.rows, u.db.busy(err)
}

func (u *updater) one(w Writer, position int) (err error) {
	for _, s := range u.steps {
		key, found := u.trace.Bytes(s.args, position), true
		switch s.kind {
		case wire.Get:
			u.value, found, err = w.Get(key, u.value[:0])
		case wire.Put:
			err = w.Put(key, u.trace.Bytes(s.args+1, position))
		case wire.Delete:
			err = w.Delete(key)
		}
		if err != nil {
			return err
		}
		if found {
			u.rows++
		}
	}
	return nil
}
