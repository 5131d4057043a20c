package sql

import (
	"errors"
	"fmt"
	"sync/atomic"

	"assay/kit"
	"assay/kit/wire"
)

// Database is an open database, a kit.Database.
type Database[C comparable] struct {
	api     API[C]
	request wire.Open
	pool    Pool[C]  // of the readers; nil where there are none
	whole   Whole[C] // the same, where it is used as one connection
	readers []C      // where the API has no pool
	writers kit.Turns[C]
	waits   kit.Waits    // of requests that are served
	inUse   atomic.Int64 // connections of the pool, by requests
}

// Setup is what is done with connections after they are opened.
type Setup[C comparable] struct {
	// Fill fills a database in memory through one connection; nil where there is
	// none to be filled.
	Fill func(C) error
	// Each is SQL for every connection, where the API does not run it by itself.
	Each []string
}

// Open opens all connections, so that none is opened while measuring. What was
// opened is closed where it fails.
func Open[C comparable](api API[C], request wire.Open, setup Setup[C]) (*Database[C], error) {
	d := &Database[C]{api: api, request: request}
	err := d.open(setup)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Database[C]) open(setup Setup[C]) error {
	err := d.openWriters()
	if err == nil && d.request.Readers > 0 {
		err = d.openReaders()
	}
	if err == nil && setup.Fill != nil {
		err = d.any(setup.Fill)
	}
	if err == nil && len(setup.Each) > 0 {
		err = d.every(func(_ string, _ bool, conn C) error { return d.exec(conn, setup.Each) })
	}
	if err == nil && len(d.request.Once) > 0 {
		err = d.any(func(conn C) error { return d.exec(conn, d.request.Once) })
	}
	return err
}

func (d *Database[C]) exec(conn C, statements []string) error {
	for _, text := range statements {
		if err := d.api.Exec(conn, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

func (d *Database[C]) openWriters() error {
	d.writers = make(kit.Turns[C], d.request.Writers)
	for range d.request.Writers {
		conn, err := d.api.Connect()
		if err != nil {
			return fmt.Errorf("open a connection: %w", err)
		}
		d.writers <- conn
	}
	return nil
}

func (d *Database[C]) openReaders() (err error) {
	if d.pool, err = d.api.Pool(d.request.Readers); err != nil {
		return fmt.Errorf("open connections: %w", err)
	}
	if d.pool != nil {
		d.whole, _ = d.pool.(Whole[C])
		if d.lazy() {
			return nil
		}
		return d.holdReaders(func([]C) error { return nil })
	}
	turns := inTurn[C]{make(kit.Turns[C], d.request.Readers), d.api.Close}
	d.pool = turns
	for range d.request.Readers {
		conn, err := d.api.Connect()
		if err != nil {
			return fmt.Errorf("open connections: %w", err)
		}
		d.readers = append(d.readers, conn)
		turns.Put(conn)
	}
	return nil
}

// lazy reports whether the readers' connections are opened when they are needed.
func (d *Database[C]) lazy() bool { return d.request.Lazy && d.whole != nil }

// inTurn is the pool of connections whose API has none.
type inTurn[C comparable] struct {
	kit.Turns[C]
	end func(C) error
}

func (t inTurn[C]) Take() (C, error) { return <-t.Turns, nil }
func (t inTurn[C]) Put(conn C)       { t.Turns <- conn }
func (t inTurn[C]) Close() error     { return t.Turns.Close(t.end) }

// holdReaders holds all connections of the readers at the same time.
func (d *Database[C]) holdReaders(use func([]C) error) error {
	if d.pool == nil || d.readers != nil {
		return use(d.readers)
	}
	var held []C
	defer func() {
		for _, conn := range held {
			d.pool.Put(conn)
		}
	}()
	for i := range d.request.Readers {
		conn, err := d.pool.Take()
		if err != nil {
			return fmt.Errorf("connection %d of %d: %w", i+1, d.request.Readers, err)
		}
		held = append(held, conn)
	}
	return use(held)
}

// every visits all connections, none of them twice.
func (d *Database[C]) every(visit func(name string, writes bool, conn C) error) error {
	err := d.holdReaders(func(held []C) error {
		for i, conn := range held {
			if err := visit(wire.ReaderName(i), false, conn); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return d.writers.Each(func(name string, conn C) error { return visit(name, true, conn) })
}

// any lends one connection, a reader's where there is one.
func (d *Database[C]) any(use func(C) error) error {
	switch {
	case d.pool == nil:
		return d.writers.Lend(use)
	case d.readers != nil:
		return use(d.readers[0])
	}
	conn, err := d.pool.Take()
	if err != nil {
		return err
	}
	defer d.pool.Put(conn)
	return use(conn)
}

// Settings reads every setting on every connection.
func (d *Database[C]) Settings(names []string) ([]wire.Connection, error) {
	var connections []wire.Connection
	err := d.every(func(name string, _ bool, conn C) error {
		c, err := wire.ReadSettings(name, names, func(setting string) (string, bool, error) { return d.api.Setting(conn, setting) })
		connections = append(connections, c)
		return err
	})
	return connections, err
}

// Query runs SQL and visits its rows, with values as they are stored.
func (d *Database[C]) Query(text string, returns []string, visit func([]any) error) error {
	return d.any(func(conn C) error {
		step := Step{Step: wire.Step{SQL: text, Query: true, Returns: returns}, Policy: wire.Each}
		stmt, err := d.api.Stmt(conn, step, nil)
		if err != nil {
			return err
		}
		if _, err := stmt.Show(0, visit); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		return nil
	})
}

// Pool says what the connections did. What nobody counts is opened at first, and
// stays.
func (d *Database[C]) Pool() wire.Pool {
	p := wire.Pool{Opened: int64(d.request.Readers + d.request.Writers)}
	if counter, counts := d.api.(Counter); counts {
		p = wire.Pool{}
		counter.Count(&p)
	}
	d.waits.AddTo(&p)
	return p
}

// Close closes all connections.
func (d *Database[C]) Close() error {
	errs := []error{d.writers.Close(d.api.Close)}
	if d.pool != nil {
		errs = append(errs, d.pool.Close())
	}
	return errors.Join(append(errs, d.api.CloseAll())...)
}

// mark marks the errors after which an operation may be tried again.
func (d *Database[C]) mark(err error) error {
	if err != nil && !errors.Is(err, kit.ErrBusy) && d.api.Busy(err) {
		return fmt.Errorf("%w: %w", kit.ErrBusy, err)
	}
	return err
}

// stale marks the busy answer to a step that is not the first of its deferred transaction:
// the steps before it have read, or it would have the lock already.
func (d *Database[C]) stale(operation int, err error) error {
	if d.request.Settings[wire.Begin] == "deferred" && (operation > 0 || errors.As(err, new(laterStep))) && d.api.Busy(err) {
		return fmt.Errorf("%w: %w", kit.ErrStale, err)
	}
	return err
}

// laterStep is the error of a step that is not an operation's first.
type laterStep struct{ error }

func (e laterStep) Unwrap() error { return e.error }
