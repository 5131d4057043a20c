// Package proof finds out by behaviour what no PRAGMA shows of a connection to
// SQLite: whether its file counts as immutable, whether its cache is shared,
// whether it can write, and whether its database is in memory.
package proof

import (
	"errors"
	"os"
	"strings"

	"assay/kit/sqlite"
	"assay/kit/wire"
)

// Driver opens connections for proofs.
type Driver struct {
	// Plain opens a DSN as it is, with no settings.
	Plain func(dsn string) (sqlite.Conn, error)
	// Tested opens a database in the very way in which the one under test was
	// opened.
	Tested func(wire.Open) (sqlite.Conn, error)
	// Busy reports whether an error means that the database was locked.
	Busy func(error) bool
}

// Proof proves settings of one open database. It opens connections as the
// database's were opened, but to a scratch file beside it, so that neither the
// data nor the connections under test are touched.
type Proof struct {
	driver  Driver
	path    string    // of the prepared file
	open    wire.Open // with the scratch file for the database
	journal string    // delete or wal, as the database's file has it
	nothing bool      // a scratch file could stand for nothing
	found   map[string]string
	tables  int // of the prepared file; -1 while unknown
}

// New returns the proof of a database that was opened by a request.
func New(d Driver, request wire.Open) *Proof {
	p := &Proof{driver: d, path: request.Path, open: request, journal: "delete", found: map[string]string{}, tables: -1}
	if wal, err := sqlite.IsWAL(request.Path); err == nil && wal {
		p.journal = "wal"
	}
	p.open.Path = request.Path + "-proof"
	if request.DSN != "" {
		p.open.DSN = strings.ReplaceAll(request.DSN, request.Path, p.open.Path)
		p.nothing = p.open.DSN == request.DSN
	}
	p.nothing = p.nothing || request.Settings["memory"] == "1"
	return p
}

// Setting returns what is proved of a setting on a connection; false where
// nothing is known, or the setting is none that is proved.
func (p *Proof) Setting(c sqlite.Conn, name string) (value string, known bool, err error) {
	switch name {
	case "read_only":
		return readOnly(c)
	case "memory":
		return p.memory(c)
	case "immutable", "shared_cache":
		value = p.once(name)
	}
	return value, value != "", nil
}

// Proves reports whether a setting is one that is proved.
func Proves(name string) bool {
	return name == "read_only" || name == "memory" || name == "immutable" || name == "shared_cache"
}

// once tries each setting once: all connections are opened alike.
func (p *Proof) once(name string) string {
	if p.nothing {
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

// memory compares with the tables of the prepared file.
func (p *Proof) memory(c sqlite.Conn) (string, bool, error) {
	value, err := sqlite.InMemory(c, p.prepared)
	return value, err == nil, err
}

// prepared counts the tables of the prepared file, once. What is no database has
// none.
func (p *Proof) prepared() int {
	if p.tables >= 0 {
		return p.tables
	}
	p.tables = 0
	if file, err := p.driver.Plain("file:" + sqlite.EscapePath(p.path) + "?mode=ro"); err == nil {
		p.tables, err = sqlite.Tables(file)
		if errors.Join(err, file.Close()) != nil {
			p.tables = 0
		}
	}
	return p.tables
}

// readOnly finds out whether a connection refuses a statement that writes with
// SQLite's code 8, "attempt to write a readonly database". The statement is one
// that changes no page, because a change cannot be rolled back with
// journal_mode off. BEGIN IMMEDIATE is accepted by a read-only connection, and
// refused where others hold the lock, and with query_only: then nothing can be
// told.
func readOnly(c sqlite.Conn) (string, bool, error) {
	if err := c.Exec("BEGIN IMMEDIATE"); err != nil {
		return "", false, nil
	}
	refused := c.Exec("PRAGMA incremental_vacuum(1)")
	err := c.Exec("ROLLBACK")
	switch {
	case refused == nil:
		return "0", true, err
	case strings.Contains(refused.Error(), "readonly database"):
		return "1", true, err
	}
	return "", false, err
}

// with makes the scratch file, with a table of one row, and removes it.
func (p *Proof) with(try func() (string, error)) (value string, err error) {
	defer func() {
		for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
			if removed := os.Remove(p.open.Path + suffix); removed != nil && !errors.Is(removed, os.ErrNotExist) {
				err = errors.Join(err, removed)
			}
		}
	}()
	c, err := p.plain("")
	if err != nil {
		return "", err
	}
	err = run(c, "PRAGMA journal_mode = "+p.journal, "CREATE TABLE proof (n)", "INSERT INTO proof VALUES (1)")
	if err := errors.Join(err, c.Close()); err != nil {
		return "", err
	}
	return try()
}

// immutable holds a reading transaction and looks for what SQLite leaves out
// on a file that it believes cannot change: the lock, for which another
// connection asks, or in WAL mode the shared-memory file.
func (p *Proof) immutable() (string, error) {
	tested, err := p.driver.Tested(p.open)
	if err != nil {
		return "", err
	}
	defer tested.Close()
	if err := run(tested, "BEGIN"); err != nil {
		return "", err
	}
	if _, err := count(tested); err != nil {
		return "", err
	}
	if wal, err := sqlite.IsWAL(p.open.Path); err != nil || wal {
		return p.sharedMemory(tested)
	}
	other, err := p.plain("")
	if err != nil {
		return "", err
	}
	defer other.Close()
	err = run(other, "PRAGMA busy_timeout = 0", "BEGIN EXCLUSIVE")
	if err != nil && p.driver.Busy(err) {
		return "0", nil
	}
	return "1", err
}

// sharedMemory is "0" where a reading connection uses the index of the log. It
// is unknown with locking_mode exclusive, which needs no such file.
func (p *Proof) sharedMemory(tested sqlite.Conn) (string, error) {
	locking, err := sqlite.Value(tested.Texts, "PRAGMA locking_mode")
	if err != nil || locking == "" || locking == "exclusive" {
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
func (p *Proof) sharedCache() (string, error) {
	other, err := p.plain("?cache=shared")
	if err != nil {
		return "", err
	}
	defer other.Close()
	if _, err := count(other); err != nil { // opens the file
		return "", err
	}
	tested, err := p.driver.Tested(p.open)
	if err != nil {
		return "", err
	}
	defer tested.Close()
	if err := run(other, "BEGIN IMMEDIATE", "INSERT INTO proof VALUES (2)"); err != nil {
		return "", err
	}
	if err := run(tested, "PRAGMA read_uncommitted = 1"); err != nil {
		return "", err
	}
	rows, err := count(tested)
	return map[string]string{"1": "0", "2": "1"}[rows], err
}

// Begin finds out what a transaction that has begun on a connection under test keeps another
// connection from: from nothing (deferred), from changing (immediate), or from reading too
// (exclusive, where there is no log). It is unknown where others change the database.
func (p *Proof) Begin(begin, end func() error) (value string, known bool, err error) {
	if p.nothing {
		return "", false, nil
	}
	other, err := p.driver.Plain("file:" + sqlite.EscapePath(p.path))
	if err != nil {
		return "", false, nil
	}
	defer func() { err = errors.Join(err, other.Close()) }()
	if run(other, "PRAGMA busy_timeout = 0", "BEGIN IMMEDIATE", "ROLLBACK") != nil || begin() != nil {
		return "", false, nil
	}
	value, err = p.locked(other)
	return value, value != "", errors.Join(err, end())
}

// locked is the way in which a transaction began that another connection has open.
func (p *Proof) locked(other sqlite.Conn) (string, error) {
	err := other.Exec("BEGIN IMMEDIATE")
	switch {
	case err == nil:
		return "deferred", other.Exec("ROLLBACK")
	case !p.driver.Busy(err):
		return "", err
	}
	_, err = other.Texts("SELECT count(*) FROM sqlite_master")
	switch {
	case err == nil:
		return "immediate", nil
	case !p.driver.Busy(err):
		return "", err
	}
	return "exclusive", nil
}

func (p *Proof) plain(parameters string) (sqlite.Conn, error) {
	return p.driver.Plain("file:" + sqlite.EscapePath(p.open.Path) + parameters)
}

func run(c sqlite.Conn, statements ...string) error {
	for _, text := range statements {
		if err := c.Exec(text); err != nil {
			return err
		}
	}
	return nil
}

func count(c sqlite.Conn) (string, error) { return sqlite.Value(c.Texts, "SELECT count(*) FROM proof") }
