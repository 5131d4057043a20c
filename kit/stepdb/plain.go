package stepdb

import (
	"errors"
	"fmt"
	"runtime"

	"assay/kit/proof"
	"assay/kit/sqlite"
	"assay/kit/wire"
)

// plain is a connection for what is not measured: proofs, and copies.
type plain struct{ Conn }

func (p plain) Exec(text string) error                { return run(p.Conn, text) }
func (p plain) Texts(text string) ([][]string, error) { return rows(p.Conn, text) }

// lent is one that others close.
type lent struct{ Conn }

func (l lent) Texts(text string) ([][]string, error) { return rows(l.Conn, text) }
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
		if err := run(conn, s.each...); err != nil {
			return nil, errors.Join(err, conn.Close())
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

// memory is the URI of a database in memory for so many connections.
func (d Driver) memory(connections int) string {
	switch {
	case connections == 1:
		return "file::memory:"
	case d.Memory != "":
		return d.Memory
	}
	return sqlite.MemoryDSN(connections)
}

// fill copies the prepared file into the connection's database in memory.
func (d *database) fill(conn Conn) (err error) {
	path := "file:" + sqlite.EscapePath(d.request.Path)
	file, err := d.driver.plain(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	// ATTACH would take memdb where the main database has it.
	statements, err := sqlite.CopyStatements(path+"?vfs="+d.driver.vfs(), file.Texts)
	if err != nil {
		return fmt.Errorf("copy %s into memory: %w", d.request.Path, err)
	}
	return run(conn, statements...)
}

func (d Driver) vfs() string {
	switch {
	case d.VFS != "":
		return d.VFS
	case runtime.GOOS == "windows":
		return "win32"
	}
	return "unix"
}
