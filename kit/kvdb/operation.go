package kvdb

import (
	"fmt"

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
	wire.Step
	args int // the first column of its arguments
}

func (d *database) Prepare(spec wire.Operation, trace *column.File) (kit.Operation, error) {
	o := &operation{db: d, trace: trace, changes: spec.Changes, transaction: spec.Transaction}
	if _, ok := d.store.(Viewer); !ok && o.views() {
		return nil, wire.Errorf(wire.Unsupported, "%s has no read transactions", d.driver.Name)
	}
	if err := spec.CheckStore(trace); err != nil {
		return nil, err
	}
	args := 0
	for i, s := range spec.Steps {
		if s.KV == wire.Scan && d.driver.NoScan != "" {
			return nil, wire.Errorf(wire.Unsupported, "step %d: no scan with %s: %s", i+1, d.driver.Name, d.driver.NoScan)
		}
		o.steps = append(o.steps, step{s, args})
		args += s.Args
	}
	return o, nil
}

// views reports whether the operation reads in transactions.
func (o *operation) views() bool { return !o.changes && o.transaction > 0 }

// newValue is the value that a put writes: that of the trace, or its fields
// one behind the other. Stores may keep what they are given.
func (o *operation) newValue(s *step, position int) []byte {
	if s.Fields <= 1 {
		return o.trace.Bytes(s.args+1, position)
	}
	var value []byte
	for i := range s.Fields {
		field := o.trace.Bytes(s.args+1+i, position)
		if i == 0 {
			value = make([]byte, 0, s.Fields*len(field))
		}
		value = append(value, field...)
	}
	return value
}

// update reads a value and writes it with another field, as a store without
// fields has to.
func (o *operation) update(w Writer, s *step, position int) (found bool, err error) {
	key, field := o.trace.Bytes(s.args, position), o.trace.Bytes(s.args+1, position)
	value, found, err := w.Get(key, nil) // a new one: stores may keep what they are given
	if err != nil || !found {
		return false, err
	}
	if len(value) != s.Fields*len(field) {
		return false, fmt.Errorf("the value of %d bytes has no %d fields of %d", len(value), s.Fields, len(field))
	}
	copy(value[s.Field*len(field):], field)
	return true, w.Put(key, value)
}

// cut appends the fields of a value to a row.
func cut(row []any, value []byte, fields int) ([]any, error) {
	if fields <= 1 {
		return append(row, value), nil
	}
	if len(value)%fields != 0 {
		return nil, fmt.Errorf("the value of %d bytes has no %d fields of equal length", len(value), fields)
	}
	size := len(value) / fields
	for i := range fields {
		row = append(row, value[i*size:(i+1)*size])
	}
	return row, nil
}

func (o *operation) QueryPlan() string { return "" }

func (o *operation) Close() error { return nil }

// Answer runs the reading steps of the operation.
func (o *operation) Answer(position int, visit func(step int, row []any) error) error {
	_, err := (&shower{client{operation: o, store: o.db.store}, visit}).Do(position)
	return err
}

// Client returns the leanest client that does the operation.
func (o *operation) Client() (kit.Client, error) {
	c := client{operation: o, store: o.db.store}
	switch {
	case o.views():
		return newViewer(c), nil
	case !o.changes && len(o.steps) == 1 && o.steps[0].KV == wire.Get:
		return &getter{c}, nil
	case !o.changes:
		return newReader(c), nil
	case o.transaction > 0:
		return newUpdater(c), nil
	case len(o.steps) == 1 && o.steps[0].KV == wire.Put && o.steps[0].Fields <= 1:
		return &putter{c}, nil
	case len(o.steps) == 1 && o.steps[0].KV == wire.Delete:
		return &deleter{c}, nil
	}
	return newStepper(c), nil
}

// client is what all clients have.
type client struct {
	*operation
	store Store
	value []byte // the last one that was copied out
}

func (c *client) Close() error { return nil }

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
	for i := range r.steps {
		s := &r.steps[i]
		key := r.trace.Bytes(s.args, position)
		if s.KV == wire.Scan {
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

// viewer gets keys in a read transaction.
type viewer struct {
	client
	store       Viewer
	rows, first int
	look        func(Getter) error
}

func newViewer(c client) *viewer {
	v := &viewer{client: c, store: c.store.(Viewer)}
	v.look = func(g Getter) error {
		v.rows = 0 // the store may run the transaction again
		for i := range v.transaction {
			if err := v.one(g, v.first+i); err != nil {
				return err
			}
		}
		return nil
	}
	return v
}

func (v *viewer) Do(position int) (int, error) {
	v.first = position * v.transaction
	err := v.store.View(v.look)
	return v.rows, v.db.busy(err)
}

func (v *viewer) one(g Getter, position int) (err error) {
	for i := range v.steps {
		var found bool
		if v.value, found, err = g.Get(v.trace.Bytes(v.steps[i].args, position), v.value[:0]); err != nil {
			return err
		}
		if found {
			v.rows++
		}
	}
	return nil
}

// stepper does the steps of an operation one after the other. Each that changes
// something commits by itself.
type stepper struct {
	client
	step     *step
	position int
	found    bool
	update   func(Writer) error
}

func newStepper(c client) *stepper {
	s := &stepper{client: c}
	s.update = func(w Writer) (err error) {
		s.found, err = s.operation.update(w, s.step, s.position)
		return err
	}
	return s
}

func (s *stepper) Do(position int) (rows int, err error) {
	s.position = position
	for i := range s.steps {
		s.step, s.found = &s.steps[i], true
		if err := s.one(); err != nil {
			return rows, s.db.busy(err)
		}
		if s.found {
			rows++
		}
	}
	return rows, nil
}

func (s *stepper) one() (err error) {
	key := s.trace.Bytes(s.step.args, s.position)
	switch s.step.KV {
	case wire.Get, wire.GetField:
		s.value, s.found, err = s.store.Get(key, s.value[:0])
	case wire.Put:
		err = s.store.Put(key, s.newValue(s.step, s.position))
	case wire.Delete:
		err = s.store.Delete(key)
	case wire.Update:
		err = s.store.Update(s.update)
	}
	return err
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
		for i := range u.transaction {
			if err := u.one(w, u.first+i); err != nil {
				return err
			}
		}
		return nil
	}
	return u
}

func (u *updater) Do(position int) (int, error) {
	u.first = position * u.transaction
	err := u.store.Update(u.apply)
	return u.rows, u.db.busy(err)
}

func (u *updater) one(w Writer, position int) (err error) {
	for i := range u.steps {
		s := &u.steps[i]
		key, found := u.trace.Bytes(s.args, position), true
		switch s.KV {
		case wire.Get, wire.GetField:
			u.value, found, err = w.Get(key, u.value[:0])
		case wire.Put:
			err = w.Put(key, u.newValue(s, position))
		case wire.Delete:
			err = w.Delete(key)
		case wire.Update:
			found, err = u.update(w, s, position)
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
