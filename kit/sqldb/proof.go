package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"assay/kit/wire"
)

// proof finds out by behaviour what no PRAGMA shows. It opens connections as
// the database's were opened, but to a scratch file beside it, so that neither
// the data nor the connections under test are touched.
type proof struct {
	driver  Driver
	open    wire.Open // with the scratch file for the database
	journal string    // delete or wal, as the database's file has it
	found   map[string]string
}

// newProof returns nil where the DSN does not name the database file, as that
// of a database in memory: there is nothing that a scratch file could stand for.
func newProof(d Driver, request wire.Open) *proof {
	scratch := request.Path + "-proof"
	journal := "delete"
	if wal, err := isWAL(request.Path); err == nil && wal {
		journal = "wal"
	}
	if request.DSN != "" {
		moved := strings.ReplaceAll(request.DSN, request.Path, scratch)
		if moved == request.DSN {
			return nil
		}
		request.DSN = moved
	}
	request.Path = scratch
	return &proof{driver: d, open: request, journal: journal, found: map[string]string{}}
}

// setting returns what was found out about a setting; empty where it could
// not be. Each is tried once: all connections are opened alike.
func (p *proof) setting(name string) string {
	if p == nil {
		return ""
	}
	if value, known := p.found[name]; known {
		return value
	}
	try := map[string]func() (string, error){"immutable": p.immutable, "shared_cache": p.sharedCache}[name]
	value, err := p.with(try)
	if err != nil {
		value = "" // it could not be tried: nothing is known
	}
	p.found[name] = value
	return value
}

// with makes the scratch file, with a table of one row, and removes it.
func (p *proof) with(try func() (string, error)) (value string, err error) {
	defer func() {
		for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
			if removed := os.Remove(p.open.Path + suffix); removed != nil && !errors.Is(removed, os.ErrNotExist) {
				err = errors.Join(err, removed)
			}
		}
	}()
	conn, done, err := p.plain("")
	if err != nil {
		return "", err
	}
	err = run(conn, "PRAGMA journal_mode = "+p.journal, "CREATE TABLE proof (n)", "INSERT INTO proof VALUES (1)")
	if err := errors.Join(err, done()); err != nil {
		return "", err
	}
	return try()
}

// immutable holds a reading transaction and looks for what SQLite leaves out
// on a file that it believes cannot change: the lock, for which another
// connection asks, or in WAL mode the shared-memory file.
func (p *proof) immutable() (string, error) {
	tested, done, err := p.tested()
	if err != nil {
		return "", err
	}
	defer done()
	if err := run(tested, "BEGIN"); err != nil {
		return "", err
	}
	if _, err := count(tested); err != nil {
		return "", err
	}
	if wal, err := isWAL(p.open.Path); err != nil || wal {
		return p.sharedMemory(tested)
	}
	other, doneOther, err := p.plain("")
	if err != nil {
		return "", err
	}
	defer doneOther()
	err = run(other, "PRAGMA busy_timeout = 0", "BEGIN EXCLUSIVE")
	if err != nil && p.driver.Busy(err) {
		return "0", nil
	}
	return "1", err
}

// sharedMemory is "0" where a reading connection uses the index of the log. It
// is unknown with locking_mode exclusive, which needs no such file.
func (p *proof) sharedMemory(tested *sql.Conn) (string, error) {
	var locking string
	err := tested.QueryRowContext(context.Background(), "PRAGMA locking_mode").Scan(&locking)
	if err != nil || locking == "exclusive" {
		return "", err
	}
	_, err = os.Stat(p.open.Path + "-shm")
	if errors.Is(err, os.ErrNotExist) {
		return "1", nil
	}
	return "0", err
}

// sharedCache lets a connection with a shared cache insert a row and keep its
// transaction open: only one that shares the cache can read the row.
func (p *proof) sharedCache() (string, error) {
	other, doneOther, err := p.plain("?cache=shared")
	if err != nil {
		return "", err
	}
	defer doneOther()
	if _, err := count(other); err != nil { // opens the file
		return "", err
	}
	tested, done, err := p.tested()
	if err != nil {
		return "", err
	}
	defer done()
	if err := run(other, "BEGIN IMMEDIATE", "INSERT INTO proof VALUES (2)"); err != nil {
		return "", err
	}
	if err := run(tested, "PRAGMA read_uncommitted = 1"); err != nil {
		return "", err
	}
	rows, err := count(tested)
	return map[int]string{1: "0", 2: "1"}[rows], err
}

// plain opens the scratch file as it is.
func (p *proof) plain(parameters string) (*sql.Conn, func() error, error) {
	db, err := sql.Open(p.driver.SQLName, "file:"+escapePath(p.open.Path)+parameters)
	if err != nil {
		return nil, nil, err
	}
	return single(db)
}

// tested opens the scratch file as the database was opened.
func (p *proof) tested() (*sql.Conn, func() error, error) {
	c, err := connect(p.driver, p.open)
	if err == nil {
		err = c.resolve()
	}
	if err != nil {
		return nil, nil, err
	}
	return single(sql.OpenDB(c))
}

// single takes one connection; the function closes it and its pool.
func single(db *sql.DB) (*sql.Conn, func() error, error) {
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return conn, func() error { return errors.Join(conn.Close(), db.Close()) }, nil
}

func run(conn *sql.Conn, statements ...string) error {
	for _, text := range statements {
		if _, err := conn.ExecContext(context.Background(), text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

func count(conn *sql.Conn) (n int, err error) {
	err = conn.QueryRowContext(context.Background(), "SELECT count(*) FROM proof").Scan(&n)
	return n, err
}

// isWAL reads the file's header: bytes 18 and 19 are 2 in WAL mode
// (https://www.sqlite.org/fileformat.html).
func isWAL(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	var version [2]byte
	_, err = file.ReadAt(version[:], 18)
	return version == [2]byte{2, 2}, err
}
