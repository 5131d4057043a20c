// Package store keeps the results of runs in one SQLite file, which any
// number of processes may have open at the same time.
//
// Every trial is appended in a transaction of its own, and is on the disk when
// Append returns: a run that is stopped or killed keeps all that it had
// measured. What people query (runs, targets, cells, figures, settings) has
// tables and columns; what only the program reads (samples, histograms) is
// JSON. The first file in migrations describes the tables and their units.
//
// What is read back equals what was written, with three exceptions: times are
// in UTC; a figure that is not a number is refused; and in what is kept as
// JSON, bytes that are not UTF-8 come back as U+FFFD.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/sethvargo/go-retry"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed migrations/*.sql
var embedded embed.FS

// applicationID marks a file of results; the first migration writes it.
const applicationID = 0x61737361

// busyTimeout is how long a process waits for another one's lock.
const busyTimeout = 10 * time.Second

// ErrNotFound says that the store has no such run.
var ErrNotFound = errors.New("no such run")

// LocationError says that a location is none that a store can have: the user has
// to name another one.
type LocationError struct{ Reason string }

func (e *LocationError) Error() string { return "opening the store: " + e.Reason }

// Store is an open file of results. It is safe for concurrent use.
type Store struct {
	db    *sql.DB
	path  string
	owner string // of the runs that it begins or claims
}

// Default returns where results are kept unless the user says otherwise:
// $XDG_DATA_HOME/assay/assay.db, or ~/.local/share/assay/assay.db where that
// variable is unset or not an absolute path.
func Default() (string, error) {
	folder := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(folder) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("finding the default store: %w; name a file instead", err)
		}
		folder = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(folder, "assay", "assay.db"), nil
}

// Open opens the file of results at that path. It makes the file and its
// folder where they are missing, and brings an older file up to date. It
// fails where the file cannot be written, is not an SQLite database, belongs
// to another program, or was written by a newer version of this one.
func Open(ctx context.Context, location string) (*Store, error) {
	if err := refuseURL(location); err != nil {
		return nil, err
	}
	path, err := prepare(location)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, path); err != nil {
		return nil, explain(path, "opening", err)
	}
	db, err := sql.Open("sqlite", dsn(path, "foreign_keys(1)", "synchronous(FULL)"))
	if err != nil {
		return nil, explain(path, "opening", err)
	}
	return &Store{db: db, path: path, owner: newOwner().String()}, nil
}

// OpenToRead opens a file of results that is there already, to read it: it
// makes nothing and changes nothing, except that the tables of an earlier
// version are brought up to date. Where there is no file, the error is
// ErrNotFound.
func OpenToRead(ctx context.Context, location string) (*Store, error) {
	if err := refuseURL(location); err != nil {
		return nil, err
	}
	path, err := absolute(location)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no store %s yet", ErrNotFound, path)
	}
	db, err := sql.Open("sqlite", dsn(path, "query_only(1)")+"&mode=ro")
	if err != nil {
		return nil, explain(path, "opening", err)
	}
	older, err := isOlder(ctx, db)
	if err != nil || older {
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		return nil, explain(path, "opening", err)
	}
	if older {
		return Open(ctx, location)
	}
	return &Store{db: db, path: path}, nil
}

// isOlder tells whether an earlier version made the tables. It fails where the
// database is not a store of this version or of an earlier one.
func isOlder(ctx context.Context, db *sql.DB) (bool, error) {
	if err := checkApplication(ctx, db); err != nil {
		return false, err
	}
	var made sql.NullInt64
	err := db.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version WHERE is_applied").Scan(&made)
	if resultCode(err) == sqlite3.SQLITE_ERROR { // no such table: the file is empty
		return true, nil
	}
	known, listed := schemaVersion()
	if err := errors.Join(err, listed); err != nil {
		return false, err
	}
	if made.Int64 > known {
		return false, tooNew(made.Int64, known)
	}
	return made.Int64 < known, nil
}

// schemaVersion is the number of the last migration.
func schemaVersion() (int64, error) {
	files, err := fs.Glob(embedded, "migrations/*.sql")
	return int64(len(files)), err // they are numbered from 1
}

// Close closes the file.
func (s *Store) Close() error {
	return s.db.Close()
}

// refuseURL refuses a location that is no file. The rest of a URL may hold a
// password.
func refuseURL(location string) error {
	if scheme, _, found := strings.Cut(location, "://"); found {
		return &LocationError{"a " + scheme + ":// URL is not supported, this version keeps results in SQLite files only: give a file path"}
	}
	return nil
}

// prepare returns the absolute path of the file, after making its folder.
func prepare(location string) (string, error) {
	path, err := absolute(location)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("opening the store: %w", err)
	}
	return path, nil
}

// absolute returns the absolute path of the file, which may be missing.
func absolute(location string) (string, error) {
	if location == "" {
		return "", &LocationError{"the file name is empty"}
	}
	path, err := filepath.Abs(location)
	if err != nil {
		return "", fmt.Errorf("opening the store: %w", err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil
	case err != nil:
		return "", fmt.Errorf("opening the store: %w", err)
	case info.IsDir():
		return "", &LocationError{path + " is not a file: name a file, for example " + filepath.Join(path, "assay.db")}
	case !info.Mode().IsRegular():
		return "", &LocationError{path + " is a device, a FIFO or a socket, and no file: name a file that exists or is to be made"}
	}
	return path, nil
}

// dsn writes the file's name for the driver. The busy timeout comes first:
// other pragmas may have to wait too.
func dsn(path string, pragmas ...string) string {
	query := url.Values{
		"_pragma": append([]string{fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())}, pragmas...),
		"_txlock": {"immediate"},
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a Windows drive: file:///C:/...
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
}

// migrate brings the file's tables up to date, all or nothing, while other
// processes that open the file wait.
func migrate(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		return err
	}
	// Closing also rolls back what was not committed.
	defer db.Close()
	// With one connection, everything up to COMMIT is one transaction.
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := checkApplication(ctx, db); err != nil {
		return err
	}
	if err := applyMigrations(ctx, db); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "COMMIT"); err != nil {
		return err
	}
	return setMode(ctx, db)
}

// setMode makes the file one that can be read while it is written; the file
// remembers it. It comes last: only now is the file known to be ours to
// change. Unlike everything else it does not wait for the busy timeout.
func setMode(ctx context.Context, db *sql.DB) error {
	backoff := retry.WithMaxDuration(busyTimeout, retry.NewConstant(10*time.Millisecond))
	return retry.Do(ctx, backoff, func(ctx context.Context) error {
		_, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
		if resultCode(err)&0xff == sqlite3.SQLITE_BUSY {
			return retry.RetryableError(err)
		}
		return err
	})
}

// checkApplication refuses the database of another program.
func checkApplication(ctx context.Context, db *sql.DB) error {
	var id, objects int
	err := db.QueryRowContext(ctx, "SELECT application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id").Scan(&id, &objects)
	if err == nil && objects > 0 && id != applicationID {
		err = errors.New("it is the database of another program: choose another file")
	}
	return err
}

func applyMigrations(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(embedded, "migrations")
	if err != nil {
		return err
	}
	// Without isolation goose would begin transactions inside ours.
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithIsolateDDL(true))
	if err != nil {
		return err
	}
	current, known, err := provider.GetVersions(ctx)
	if err != nil {
		return err
	}
	if current > known {
		return tooNew(current, known)
	}
	_, err = provider.Up(ctx)
	return err
}

func tooNew(current, known int64) error {
	return fmt.Errorf("a newer version of assay wrote it (schema %d, this version knows up to %d): update assay, or choose another file", current, known)
}

// IsLocked tells whether an error says that another program kept the file
// locked for longer than was waited for.
func IsLocked(err error) bool { return resultCode(err)&0xff == sqlite3.SQLITE_BUSY }

// advice says what to do about errors of SQLite, by primary result code.
var advice = map[int]string{
	sqlite3.SQLITE_NOTADB:   "it is not an SQLite database: choose another file",
	sqlite3.SQLITE_CORRUPT:  "the database is damaged: choose another file, or try the sqlite3 shell's .recover",
	sqlite3.SQLITE_READONLY: "it cannot be written: check the permissions of the file and its folder, or choose another file",
	sqlite3.SQLITE_CANTOPEN: "it cannot be opened for writing: check the permissions of the file and its folder, or choose another file",
	sqlite3.SQLITE_BUSY:     "another program keeps it locked: wait for it to end, or choose another file",
	sqlite3.SQLITE_FULL:     "the disk is full: make room",
}

// explain says what failed, in which file, and what to do about it.
func explain(path, doing string, err error) error {
	if text, ok := advice[resultCode(err)&0xff]; ok {
		return fmt.Errorf("%s store %s: %s: %w", doing, path, text, err)
	}
	return fmt.Errorf("%s store %s: %w", doing, path, err)
}

// resultCode returns SQLite's extended result code, whose lowest byte is the
// primary one, or 0 for errors that are not SQLite's.
func resultCode(err error) int {
	var failure *sqlite.Error
	if errors.As(err, &failure) {
		return failure.Code()
	}
	return 0
}
