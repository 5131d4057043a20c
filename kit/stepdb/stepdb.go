package stepdb

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/kit"
	"assay/kit/opening"
	"assay/kit/proof"
	worker "assay/kit/sql"
	"assay/kit/sqlite"
	"assay/kit/wire"
)

type engine struct{ driver Driver }

func (e engine) Capabilities() []string { return worker.Capabilities() }

// Target asks the engine itself, through an in-memory database.
func (e engine) Target() (wire.Target, error) {
	conn, err := e.driver.Open(Source{URI: ":memory:", Unasked: true})
	if err != nil {
		return wire.Target{}, err
	}
	pool := "none: a connection per client; taken in turn where clients are more"
	if e.driver.Pool != nil {
		pool = "the driver's own, for each operation"
	}
	facts := map[string]string{"api": "direct", "pool": pool, "statement_cache": e.driver.StatementCache}
	target, err := worker.Target(e.driver.Name, e.driver.Module, e.driver.Cgo, facts, plain{conn})
	return target, errors.Join(err, conn.Close())
}

// Open opens all connections, so that none is opened while measuring.
func (e engine) Open(request wire.Open) (kit.Database, wire.Opened, error) {
	s, err := newSetup(e.driver, request)
	if err != nil {
		return nil, wire.Opened{}, err
	}
	a := &api{driver: e.driver, source: s.source, begin: beginSQL(request), proof: proof.New(e.driver.prover(), request)}
	setup := worker.Setup[Conn]{Each: s.Each}
	if s.Memory {
		setup.Fill = func(conn Conn) error {
			return opening.Fill(lent{conn}, e.driver.prover(), request.Path, e.driver.VFS)
		}
	}
	db, err := worker.Open(a, request, setup)
	if err != nil {
		return nil, wire.Opened{}, err
	}
	return db, s.Opened, nil
}

// setup is a profile as it is given to the driver.
type setup struct {
	*opening.Source
	source Source
}

func newSetup(d Driver, request wire.Open) (s setup, err error) {
	_, begins := request.Settings[wire.Begin] // which is none of the connection
	s.source.Unasked = len(request.Settings) == 0 || begins && len(request.Settings) == 1
	s.Source, err = opening.NewSource(request, d.memory(request.Readers+request.Writers), func(name, value string) (parameter, otherwise string, err error) {
		switch {
		case d.Lacks != nil && d.Lacks(name, value):
			err = wire.Errorf(wire.Unsupported, "driver %s has no way to set %s to %q", d.Name, name, value)
		case name == "mutex":
			s.source.Mutex = value
			otherwise = "open flag: mutex " + value
		case name == wire.Begin:
			otherwise = beginSQL(request)
		}
		return "", otherwise, err
	})
	if err == nil {
		s.source.URI = s.DSN
	}
	return s, err
}

// beginSQL is the SQL that begins transactions.
func beginSQL(request wire.Open) string {
	if how := request.Settings[wire.Begin]; how != "" {
		return "BEGIN " + strings.ToUpper(how)
	}
	return "BEGIN IMMEDIATE"
}

// memory is the URI of a database in memory for so many connections.
func (d Driver) memory(connections int) string {
	if connections > 1 && d.Memory != "" {
		return d.Memory
	}
	return sqlite.MemoryDSN(connections > 1)
}

// plain is a connection for what is not measured: proofs, and copies.
type plain struct{ Conn }

func (p plain) Exec(text string) error {
	if err := p.Conn.Exec(text); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}

// Texts returns an answer as text, with NULL as the empty text.
func (p plain) Texts(text string) ([][]string, error) {
	stmt, err := p.Prepare(text)
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

// lent is one that others close.
type lent struct{ Conn }

func (l lent) Texts(text string) ([][]string, error) { return plain(l).Texts(text) }
func (l lent) Close() error                          { return nil }

func (d Driver) prover() proof.Driver {
	return proof.Driver{Busy: d.busy, Plain: d.plain, Tested: func(request wire.Open) (sqlite.Conn, error) {
		s, err := newSetup(d, request)
		if err != nil {
			return nil, err
		}
		conn, err := d.Open(s.source)
		if err != nil {
			return nil, err
		}
		for _, text := range s.Each {
			if err := conn.Exec(text); err != nil {
				return nil, errors.Join(err, conn.Close())
			}
		}
		return plain{conn}, nil
	}}
}

// plain opens a URI with nothing implied.
func (d Driver) plain(uri string) (sqlite.Conn, error) {
	conn, err := d.Open(Source{URI: uri})
	if err != nil {
		return nil, err
	}
	return plain{conn}, nil
}
