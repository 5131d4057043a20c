// Package sqldb makes a worker of any database/sql driver of SQLite. It
// imports no driver: a worker registers one and describes it with [Driver].
//
// Reading operations go through a pool of as many connections as were asked
// for, as an application's would; changing operations through connections of
// their own that they take in turn. Transactions begin with BEGIN IMMEDIATE, or where a
// way to begin is asked for as the driver's own do, by _txlock in the DSN. Every connection, whenever it is opened, gets the same
// settings.
package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"assay/kit"
	"assay/kit/proof"
	"assay/kit/sqlrows"
	"assay/kit/wire"
)

// Driver describes a database/sql driver.
type Driver struct {
	Name    string // the worker's name: mattn
	Module  string // the driver's module, whose version is reported
	SQLName string // the name it registers
	// Key returns the driver's own DSN parameter for a setting, such as
	// _busy_timeout=5000; empty where the driver has none. Settings without
	// one are set by a PRAGMA on every new connection.
	// Nil where it has none at all.
	Key func(name, value string) string
	// Busy reports whether an error means that the database was locked.
	Busy func(error) bool
	// Mutex reports whether a connection of the driver has a mutex (full) or
	// none (no); nil where the worker cannot find out.
	Mutex func(conn any) (mode string, known bool)
	Cgo   bool
	VFS   string // through which it opens files; unix where it is empty
	// Cache says what the driver keeps of compiled statements by itself; empty:
	// nothing.
	Cache string
}

// Main serves the driver as a worker and returns the exit status.
func Main(d Driver) int { return kit.Main(engine{d}) }

// New returns the driver as an engine, for tests.
func New(d Driver) kit.Engine { return engine{d} }

type engine struct{ driver Driver }

func (e engine) Capabilities() []string {
	return []string{wire.CapSQL, wire.CapHTTP, wire.CapAnswers, wire.CapOrdered}
}

// Target asks the engine itself, through an in-memory database.
func (e engine) Target() (wire.Target, error) {
	target := wire.Target{Driver: e.driver.Name, DriverVersion: kit.ModuleVersion(e.driver.Module), Engine: "sqlite"}
	db, err := sql.Open(e.driver.SQLName, ":memory:")
	if err != nil {
		return target, err
	}
	defer db.Close()
	var source string
	if err := db.QueryRow("SELECT sqlite_version(), sqlite_source_id()").Scan(&target.EngineVersion, &source); err != nil {
		return target, fmt.Errorf("sqlite_version: %w", err)
	}
	options, err := query(db, "PRAGMA compile_options")
	for _, option := range options {
		target.CompileOptions = append(target.CompileOptions, option[0])
	}
	target.Facts = map[string]string{
		"api": "database/sql", "cgo": fmt.Sprint(e.driver.Cgo), "go": runtime.Version(), "module": e.driver.Module,
		"pool": "database/sql", "statement_cache": cmp.Or(e.driver.Cache, "none"), "source_id": source, "uncounted": "B/op and allocs/op leave out what SQLite itself allocates",
	}
	return target, err
}

// query returns an answer that is not measured.
func query(on handle, text string, args ...any) ([][]string, error) {
	rows, err := on.QueryContext(context.Background(), text, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	return sqlrows.Texts(rows)
}

// Open opens all connections, so that none is opened while measuring.
func (e engine) Open(request wire.Open) (kit.Database, wire.Opened, error) {
	c, err := connect(e.driver, request)
	if err != nil {
		return nil, wire.Opened{}, err
	}
	db := &database{driver: e.driver, proof: proof.New(e.driver.prover(), request), opened: &c.connections, begin: request.Settings[wire.Begin]}
	if err := db.open(c, request); err != nil {
		return nil, wire.Opened{}, errors.Join(err, db.Close())
	}
	return db, c.opened(), nil
}

// database is the open pools. The one for changes has its connections taken
// out for good, so that statements can stay with them.
type database struct {
	driver  Driver
	proof   *proof.Proof
	readers *sql.DB
	count   int    // of readers
	lazy    bool   // nothing has opened one yet
	begin   string // how transactions begin that the driver begins; empty: by SQL
	changes *sql.DB
	keeper  *sql.DB // holds a shared database in memory; nil where there is none
	writers kit.Turns[*sql.Conn]
	opened  *atomic.Int64 // connections
	waits   kit.Waits     // for a connection for changes
}

func (d *database) open(c *connector, request wire.Open) error {
	if request.Readers < 1 && request.Writers < 1 {
		return wire.Errorf(wire.Invalid, "no connections asked for")
	}
	if err := c.resolve(); err != nil {
		return err
	}
	err := d.keep(c)
	if err == nil {
		err = d.openWriters(c, request)
	}
	if err == nil {
		err = d.openReaders(c, request)
	}
	if err == nil && c.memory && d.keeper == nil {
		err = d.any(func(conn *sql.Conn) error { return c.fill(conn) })
	}
	if err == nil {
		err = d.once(request.Once)
	}
	return err
}

func (d *database) openWriters(c *connector, request wire.Open) error {
	d.writers = make(kit.Turns[*sql.Conn], request.Writers)
	if request.Writers < 1 {
		return nil
	}
	d.changes = sql.OpenDB(c)
	d.changes.SetMaxOpenConns(request.Writers)
	for range request.Writers {
		conn, err := d.changes.Conn(context.Background())
		if err != nil {
			return fmt.Errorf("open a connection: %w", err)
		}
		d.writers <- conn
	}
	return nil
}

func (d *database) openReaders(c *connector, request wire.Open) error {
	d.count = request.Readers
	if d.count < 1 {
		return nil
	}
	d.readers = sql.OpenDB(c)
	d.readers.SetMaxOpenConns(d.count)
	d.readers.SetMaxIdleConns(request.Idle)
	if d.lazy = request.Lazy; d.lazy {
		return nil
	}
	return d.eachReader(func(string, *sql.Conn) error { return nil })
}

// holdReaders holds all connections of the pool at the same time.
func (d *database) holdReaders(use func(held []*sql.Conn) error) error {
	var held []*sql.Conn
	defer func() {
		for _, conn := range held {
			_ = conn.Close() // gives it back
		}
	}()
	for i := range d.count {
		conn, err := d.readers.Conn(context.Background())
		if err != nil {
			return fmt.Errorf("connection %d of %d: %w", i+1, d.count, err)
		}
		held = append(held, conn)
	}
	return use(held)
}

func (d *database) eachReader(visit func(name string, conn *sql.Conn) error) error {
	return d.holdReaders(func(held []*sql.Conn) error {
		for i, conn := range held {
			if err := visit(wire.ReaderName(i), conn); err != nil {
				return err
			}
		}
		return nil
	})
}

// onEachReader calls use once for every connection of the pool, while that
// connection is the only one that is free.
func (d *database) onEachReader(use func() error) error {
	return d.holdReaders(func(held []*sql.Conn) error {
		for i, conn := range held {
			if err := conn.Close(); err != nil {
				return err
			}
			if err := use(); err != nil {
				return err
			}
			again, err := d.readers.Conn(context.Background())
			if err != nil {
				return err
			}
			held[i] = again
		}
		return nil
	})
}

func (d *database) once(statements []string) error {
	for _, text := range statements {
		if err := d.any(func(conn *sql.Conn) error {
			_, err := conn.ExecContext(context.Background(), text)
			return err
		}); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// any lends one connection, a reader's where there is one.
func (d *database) any(use func(*sql.Conn) error) error {
	if d.readers == nil {
		return d.writers.Lend(use)
	}
	conn, err := d.readers.Conn(context.Background())
	if err != nil {
		return err
	}
	defer conn.Close()
	return use(conn)
}

// Query runs SQL and visits its rows.
func (d *database) Query(text string, returns []string, visit func([]any) error) error {
	return d.any(func(conn *sql.Conn) error {
		plain, err := stored(conn, text, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		rows, err := conn.QueryContext(context.Background(), plain)
		if err != nil {
			return fmt.Errorf("%s: %w", plain, err)
		}
		dest, err := newStored(returns)
		if err != nil {
			return errors.Join(err, rows.Close())
		}
		_, err = dest.scan(rows, visit, nil)
		return err
	})
}

// Close closes all connections.
func (d *database) Close() error {
	errs := []error{d.writers.Close((*sql.Conn).Close)}
	for _, pool := range []*sql.DB{d.readers, d.changes, d.keeper} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(errs...)
}

// busy marks errors that mean a locked database.
func (d *database) busy(err error) error {
	if err != nil && !errors.Is(err, kit.ErrBusy) && d.driver.Busy(err) {
		return fmt.Errorf("%w: %w", kit.ErrBusy, err)
	}
	return err
}
