package stepdb

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"assay/kit"
	"assay/kit/proof"
	"assay/kit/wire"
)

type engine struct{ driver Driver }

func (e engine) Capabilities() []string {
	return []string{wire.CapSQL, wire.CapHTTP, wire.CapAnswers, wire.CapOrdered}
}

// Target asks the engine itself, through an in-memory database.
func (e engine) Target() (wire.Target, error) {
	target := wire.Target{Driver: e.driver.Name, DriverVersion: kit.ModuleVersion(e.driver.Module), Engine: "sqlite"}
	conn, err := e.driver.Open(Source{URI: ":memory:", Unasked: true})
	if err != nil {
		return target, err
	}
	defer conn.Close()
	version, err := rows(conn, "SELECT sqlite_version(), sqlite_source_id()")
	if err != nil {
		return target, err
	}
	options, err := rows(conn, "PRAGMA compile_options")
	for _, option := range options {
		target.CompileOptions = append(target.CompileOptions, option[0])
	}
	target.EngineVersion = version[0][0]
	target.Facts = e.facts()
	target.Facts["source_id"] = version[0][1]
	return target, err
}

func (e engine) facts() map[string]string {
	pool := "none: a connection per client; taken in turn where clients are more"
	if e.driver.Pool != nil {
		pool = "the driver's own, for each operation"
	}
	return map[string]string{
		"api": "direct", "cgo": fmt.Sprint(e.driver.Cgo), "go": runtime.Version(), "module": e.driver.Module,
		"pool": pool, "statement_cache": e.driver.StatementCache,
		"uncounted": "B/op and allocs/op leave out what SQLite itself allocates",
	}
}

// Open opens all connections, so that none is opened while measuring.
func (e engine) Open(request wire.Open) (kit.Database, wire.Opened, error) {
	if request.Readers < 1 && request.Writers < 1 {
		return nil, wire.Opened{}, wire.Errorf(wire.Invalid, "no connections asked for")
	}
	s, err := newSetup(e.driver, request)
	if err != nil {
		return nil, wire.Opened{}, err
	}
	db := &database{driver: e.driver, request: request, proof: proof.New(e.driver.prover(), request)}
	if err := db.open(s); err != nil {
		return nil, wire.Opened{}, errors.Join(err, db.Close())
	}
	return db, wire.Opened{DSN: s.source.URI, Each: s.each, Issued: s.issued}, nil
}

type database struct {
	driver  Driver
	request wire.Open
	proof   *proof.Proof
	pool    Pool   // the driver's own, of the readers
	readers []Conn // where there is no pool
	turns   chan Conn
	writers kit.Turns[Conn]
	waiting waiting
}

func (d *database) open(s *setup) error {
	d.writers = make(kit.Turns[Conn], d.request.Writers)
	for range d.request.Writers {
		conn, err := d.driver.Open(s.source)
		if err != nil {
			return fmt.Errorf("open a connection: %w", err)
		}
		d.writers <- conn
	}
	if err := d.openReaders(s.source); err != nil {
		return fmt.Errorf("open connections: %w", err)
	}
	if s.memory {
		if err := d.any(d.fill); err != nil {
			return err
		}
	}
	if err := d.every(func(_ string, _ bool, conn Conn) error { return run(conn, s.each...) }); err != nil {
		return err
	}
	return d.any(func(conn Conn) error { return run(conn, d.request.Once...) })
}

func (d *database) openReaders(source Source) error {
	n := d.request.Readers
	if n > 0 && d.driver.Pool != nil {
		pool, err := d.driver.Pool(source, n)
		if err == nil {
			d.pool = pool
		}
		return err
	}
	d.turns = make(chan Conn, n)
	for range n {
		conn, err := d.driver.Open(source)
		if err != nil {
			return err
		}
		d.readers = append(d.readers, conn)
		d.turns <- conn
	}
	return nil
}

// every visits all connections, none of them twice.
func (d *database) every(visit func(name string, writes bool, conn Conn) error) error {
	readers := d.readers
	if d.pool != nil {
		held, err := d.hold()
		defer d.release(held)
		if err != nil {
			return err
		}
		readers = held
	}
	for i, conn := range readers {
		if err := visit(wire.ReaderName(i), false, conn); err != nil {
			return err
		}
	}
	return d.writers.Each(func(name string, conn Conn) error { return visit(name, true, conn) })
}

// hold takes all connections out of the pool.
func (d *database) hold() ([]Conn, error) {
	var held []Conn
	for range d.request.Readers {
		conn, err := d.pool.Take()
		if err != nil {
			return held, err
		}
		held = append(held, conn)
	}
	return held, nil
}

func (d *database) release(held []Conn) {
	for _, conn := range held {
		d.pool.Put(conn)
	}
}

// any lends one connection, a reader's where there is one.
func (d *database) any(use func(Conn) error) error {
	switch {
	case d.pool != nil:
		conn, err := d.pool.Take()
		if err != nil {
			return err
		}
		defer d.pool.Put(conn)
		return use(conn)
	case len(d.readers) > 0:
		return use(d.readers[0])
	}
	return d.writers.Lend(use)
}

// Query runs SQL and visits its rows.
func (d *database) Query(text string, returns []string, visit func([]any) error) error {
	dest, err := newDestinations(returns)
	if err != nil {
		return err
	}
	dest.stored = true
	return d.any(func(conn Conn) error {
		stmt, err := prepare(conn, text, len(returns))
		if err != nil {
			return err
		}
		_, err = dest.all(stmt, visit, nil)
		return errors.Join(err, stmt.Close())
	})
}

// Close closes all connections.
func (d *database) Close() error {
	var errs []error
	for _, conn := range d.readers {
		errs = append(errs, conn.Close())
	}
	errs = append(errs, d.writers.Close(Conn.Close))
	if d.pool != nil {
		errs = append(errs, d.pool.Close())
	}
	return errors.Join(errs...)
}

// mark wraps errors that mean a locked database.
func (d *database) mark(err error) error {
	if err != nil && !errors.Is(err, kit.ErrBusy) && d.driver.busy(err) {
		return fmt.Errorf("%w: %w", kit.ErrBusy, err)
	}
	return err
}

// stale marks the busy answer to a step that is not the first of its deferred transaction:
// the steps before it have read, or it would have the lock already.
func (d *database) stale(operation int, err error) error {
	if d.request.Settings[wire.Begin] == "deferred" && (operation > 0 || errors.As(err, new(laterStep))) && d.driver.busy(err) {
		return fmt.Errorf("%w: %w", kit.ErrStale, err)
	}
	return err
}

// prepare compiles a statement that answers so many columns.
func prepare(conn Conn, text string, columns int) (Stmt, error) {
	stmt, err := conn.Prepare(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	if n := stmt.Columns(); n != columns {
		return nil, errors.Join(fmt.Errorf("%s: answers %d columns, declared are %d", text, n, columns), stmt.Close())
	}
	return stmt, nil
}

func run(conn Conn, statements ...string) error {
	for _, text := range statements {
		if err := conn.Exec(text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// rows returns an answer as text, with NULL as the empty text.
func rows(conn Conn, text string) ([][]string, error) {
	stmt, err := conn.Prepare(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	var all [][]string
	row := make([]string, stmt.Columns())
	for {
		more, err := stmt.Step()
		for i := 0; more && err == nil && i < len(row); i++ {
			row[i], err = stmt.Text(i)
		}
		if err != nil || !more {
			return all, errors.Join(err, stmt.Close())
		}
		all = append(all, slices.Clone(row))
	}
}
