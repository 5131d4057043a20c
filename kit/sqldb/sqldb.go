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
	"database/sql"
	"errors"
	"fmt"

	"assay/kit"
	"assay/kit/opening"
	"assay/kit/proof"
	worker "assay/kit/sql"
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
	// Other is the engine where it is not SQLite; nil: it is.
	Other *Other
}

// Main serves the driver as a worker and returns the exit status.
func Main(d Driver) int { return kit.Main(engine{d}) }

// New returns the driver as an engine, for tests.
func New(d Driver) kit.Engine { return engine{d} }

type engine struct{ driver Driver }

func (e engine) Capabilities() []string {
	if e.driver.Other != nil {
		return append(worker.Capabilities(), e.driver.Other.Capability)
	}
	return worker.Capabilities()
}

// Target asks the engine itself, through an in-memory database.
func (e engine) Target() (wire.Target, error) {
	conn, err := e.driver.plain(":memory:")
	if err != nil {
		return wire.Target{}, err
	}
	facts := map[string]string{"api": "database/sql", "pool": "database/sql", "statement_cache": cmp.Or(e.driver.Cache, "none")}
	var target wire.Target
	if other := e.driver.Other; other != nil {
		target, err = other.target(e.driver, facts, conn)
	} else {
		target, err = worker.Target(e.driver.Name, e.driver.Module, e.driver.Cgo, facts, conn)
	}
	return target, errors.Join(err, conn.Close())
}

// Open opens all connections, so that none is opened while measuring.
func (e engine) Open(request wire.Open) (kit.Database, wire.Opened, error) {
	c, err := connect(e.driver, request)
	if err == nil {
		err = c.resolve()
	}
	if err != nil {
		return nil, wire.Opened{}, err
	}
	a := &api{connector: c, proof: proof.New(e.driver.prover(), request), begin: request.Settings[wire.Begin]}
	var setup worker.Setup[*conn]
	switch {
	case c.source.Memory && c.shared:
		err = a.keep()
	case c.source.Memory:
		setup.Fill = a.fill
	}
	if err != nil {
		return nil, wire.Opened{}, errors.Join(err, a.CloseAll())
	}
	db, err := worker.Open(a, request, setup)
	if err != nil {
		return nil, wire.Opened{}, err
	}
	return db, c.source.Opened, nil
}

// plain opens a DSN as it is, with one connection.
func (d Driver) plain(dsn string) (sqlite.Conn, error) {
	db, err := sql.Open(d.SQLName, dsn)
	if err != nil {
		return nil, err
	}
	return single(db)
}

func (d Driver) prover() proof.Driver {
	return proof.Driver{Busy: d.Busy, Plain: d.plain, Tested: func(request wire.Open) (sqlite.Conn, error) {
		c, err := connect(d, request)
		if err == nil {
			err = c.resolve()
		}
		if err != nil {
			return nil, err
		}
		return single(sql.OpenDB(c))
	}}
}

// keep fills a database in memory that several connections share. It is there
// as long as a connection to it is open.
func (a *api) keep() error {
	a.keeper = sql.OpenDB(a.connector)
	a.keeper.SetMaxOpenConns(1)
	c, err := take(a.keeper)
	if err != nil {
		return fmt.Errorf("open a connection: %w", err)
	}
	err = sharing(lent{c})
	if err == nil {
		err = a.fill(c)
	}
	return errors.Join(err, a.Close(c))
}

// fill copies the prepared file into a connection's database in memory.
func (a *api) fill(c *conn) error {
	d := a.connector.driver
	return opening.Fill(lent{c}, d.prover(), a.connector.request.Path, cmp.Or(d.VFS, "unix"))
}

// sharing refuses SQLite before 3.36: each connection through its memdb has a
// database of its own.
func sharing(c lent) error {
	version, err := c.Texts("SELECT sqlite_version()")
	if err != nil {
		return err
	}
	var major, minor int
	if _, err := fmt.Sscanf(version[0][0], "%d.%d", &major, &minor); err != nil || major < 3 || major == 3 && minor < 36 {
		return wire.Errorf(wire.Unsupported, "SQLite %s has no database in memory that connections share", version[0][0])
	}
	return nil
}
