// Package sqldb makes a worker of any database/sql driver of SQLite. It
// imports no driver: a worker registers one and describes it with [Driver].
//
// Reading operations go through a pool of as many connections as were asked
// for, as an application's would; changing operations through connections of
// their own that they take in turn, with BEGIN IMMEDIATE where they are
// transactions. Every connection, whenever it is opened, gets the same
// settings.
package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"

	"assay/kit"
	"assay/kit/proof"
	"assay/kit/sqlite"
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
	// Busy tells whether an error means that the database was locked.
	Busy func(error) bool
	// Mutex tells whether a connection of the driver has a mutex (full) or
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

func (e engine) Capabilities() []string { return []string{wire.CapSQL, wire.CapHTTP, wire.CapAnswers} }

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
	target.CompileOptions, err = texts(db, "PRAGMA compile_options")
	target.Facts = map[string]string{
		"api": "database/sql", "cgo": fmt.Sprint(e.driver.Cgo), "go": runtime.Version(), "module": e.driver.Module,
		"pool": "database/sql", "statement_cache": cmp.Or(e.driver.Cache, "none"), "source_id": source, "uncounted": "B/op and allocs/op leave out what SQLite itself allocates",
	}
	return target, err
}

func texts(db *sql.DB, query string) ([]string, error) {
	rows, err := db.Query(query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	defer rows.Close()
	var values []string
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, rows.Err()
}

// Open opens all connections, so that none is opened while measuring.
func (e engine) Open(request wire.Open) (kit.Database, wire.Opened, error) {
	c, err := connect(e.driver, request)
	if err != nil {
		return nil, wire.Opened{}, err
	}
	db := &database{driver: e.driver, proof: proof.New(e.driver.prover(), request), opened: &c.connections}
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
	count   int  // of readers
	lazy    bool // nothing has opened one yet
	changes *sql.DB
	keeper  *sql.DB // holds a shared database in memory; nil where there is none
	writers chan *sql.Conn
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
	d.writers = make(chan *sql.Conn, request.Writers)
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

// eachReader visits all connections of the pool.
func (d *database) eachReader(visit func(name string, conn *sql.Conn) error) error {
	return d.holdReaders(func(held []*sql.Conn) error {
		for i, conn := range held {
			if err := visit(fmt.Sprintf("reader-%d", i+1), conn); err != nil {
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

// eachWriter visits the connections for changes.
func (d *database) eachWriter(visit func(name string, conn *sql.Conn) error) error {
	for i := range cap(d.writers) {
		conn := <-d.writers
		err := visit(fmt.Sprintf("writer-%d", i+1), conn)
		d.writers <- conn
		if err != nil {
			return err
		}
	}
	return nil
}

// once runs SQL on one connection.
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
		conn := <-d.writers
		defer func() { d.writers <- conn }()
		return use(conn)
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
		_, err = dest.scan(rows, visit)
		return err
	})
}

// Close closes all connections.
func (d *database) Close() error {
	var errs []error
	for len(d.writers) > 0 {
		errs = append(errs, (<-d.writers).Close())
	}
	for _, pool := range []*sql.DB{d.readers, d.changes, d.keeper} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(errs...)
}

// busy marks errors that mean a locked database.
func (d *database) busy(err error) error {
	if err != nil && d.driver.Busy(err) {
		return fmt.Errorf("%w: %w", kit.ErrBusy, err)
	}
	return err
}

// connector opens connections with the settings of a profile.
type connector struct {
	driver Driver
	driver.Connector
	dsn         string
	each        []string
	issued      map[string]string
	path        string       // of the prepared file
	memory      bool         // its content is in memory
	shared      bool         // by several connections
	connections atomic.Int64 // opened so far
}

// connect maps settings to the driver's DSN and to PRAGMAs. The busy timeout
// comes first, so that the other settings can wait for locks.
func connect(d Driver, request wire.Open) (*connector, error) {
	c := &connector{driver: d, dsn: request.DSN, issued: map[string]string{}, path: request.Path,
		memory: request.DSN == "" && request.Settings["memory"] == "1",
		// A connection that does not stay open would take its database with it.
		shared: request.Readers+request.Writers > 1 || request.Idle < request.Readers}
	if c.dsn == "" {
		if err := c.build(request); err != nil {
			return nil, err
		}
	}
	c.each = append(c.each, request.Each...)
	return c, nil
}

func (c *connector) build(request wire.Open) error {
	var keys []string
	for _, name := range sqlite.InOrder(request.Settings) {
		key, err := c.setting(name, request.Settings[name])
		if err != nil {
			return err
		}
		if key != "" {
			keys = append(keys, key)
		}
	}
	switch {
	case c.memory && c.shared:
		c.dsn = sqlite.MemoryDSN(2)
	case c.memory:
		c.dsn = "file::memory:" // ncruces takes :memory:?_pragma=... for the name of a file
	default:
		c.dsn = "file:" + sqlite.EscapePath(request.Path)
	}
	if len(keys) > 0 {
		join := "?"
		if strings.Contains(c.dsn, "?") {
			join = "&"
		}
		c.dsn += join + strings.Join(keys, "&")
	}
	return nil
}

// setting issues one setting: by a parameter of the DSN, which it returns, or
// by SQL for every new connection.
func (c *connector) setting(name, value string) (key string, err error) {
	if name == "memory" {
		c.issued[name] = map[bool]string{true: "a copy in memory", false: "the file"}[c.memory]
		return "", nil
	}
	if key = sqlite.URIParameter(name, value); key != "" && c.memory {
		return "", wire.Errorf(wire.Unsupported, "a database in memory is not opened with %s", key)
	}
	if key == "" && c.driver.Key != nil {
		key = c.driver.Key(name, sqlite.Spell(name, value))
	}
	if key != "" {
		c.issued[name] = key
		return key, nil
	}
	if setting, known := sqlite.Lookup(name); known && !setting.Pragma {
		return "", wire.Errorf(wire.Unsupported, "driver %s has no way to set %s to %q", c.driver.Name, name, value)
	}
	c.issued[name] = sqlite.Pragma(name, value)
	c.each = append(c.each, c.issued[name])
	return "", nil
}

func (c *connector) opened() wire.Opened {
	return wire.Opened{DSN: c.dsn, Each: c.each, Issued: c.issued}
}

// resolve finds the driver's connector.
func (c *connector) resolve() error {
	db, err := sql.Open(c.driver.SQLName, c.dsn)
	if err != nil {
		return fmt.Errorf("open %s: %w", c.dsn, err)
	}
	defer db.Close()
	if with, ok := db.Driver().(driver.DriverContext); ok {
		c.Connector, err = with.OpenConnector(c.dsn)
		return err
	}
	c.Connector = plain{db.Driver(), c.dsn}
	return nil
}

// Connect opens a connection and runs the profile's SQL on it.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, text := range c.each {
		if err := execute(ctx, conn, text); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", text, err), conn.Close())
		}
	}
	c.connections.Add(1)
	return conn, nil
}

// execute runs SQL on a driver's connection, reading rows where it has any.
func execute(ctx context.Context, conn driver.Conn, text string) error {
	statement, err := conn.Prepare(text)
	if err != nil {
		return err
	}
	defer statement.Close()
	var rows driver.Rows
	if with, ok := statement.(driver.StmtQueryContext); ok {
		rows, err = with.QueryContext(ctx, nil)
	} else {
		//lint:ignore SA1019 it is all that old drivers have
		rows, err = statement.Query(nil)
	}
	if err != nil {
		return err
	}
	values := make([]driver.Value, len(rows.Columns()))
	for err == nil {
		err = rows.Next(values)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

// plain is the connector of a driver that has none.
type plain struct {
	driver driver.Driver
	dsn    string
}

func (p plain) Connect(context.Context) (driver.Conn, error) { return p.driver.Open(p.dsn) }
func (p plain) Driver() driver.Driver                        { return p.driver }
