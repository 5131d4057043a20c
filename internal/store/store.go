// Package store keeps the results of runs in an SQLite file, which any number of
// processes may have open at the same time. Whole runs are pushed to, and read
// from, a PostgreSQL server that several machines share.
//
// Every trial is appended in a transaction of its own, and is on the disk when
// Append returns: a run that is stopped or killed keeps all that it had
// measured. What people query (runs, targets,
// cells, figures, settings) has tables and columns; what only the program reads
// (samples, histograms) is JSON. The first file in migrations describes the
// tables and their units.
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
	"os"
	"path/filepath"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var embedded embed.FS

// migrations are written for SQLite; translated says them to PostgreSQL.
var migrations = sub(embedded)

func sub(all embed.FS) fs.FS {
	files, err := fs.Sub(all, "migrations")
	if err != nil {
		panic(err) // the name is a valid one
	}
	return files
}

// ErrNotFound says that the store has no such run.
var ErrNotFound = errors.New("no such run")

// LocationError says that a location is none that a store can have: the user has
// to name another one.
type LocationError struct{ Reason string }

func (e *LocationError) Error() string { return "opening the store: " + e.Reason }

// engine is what the databases that keep results do each in its own way.
type engine interface {
	// advice says what to do about an error of the database; empty: nothing is known.
	advice(err error) string
	// snapshot begins a transaction whose queries all see one state.
	snapshot() *sql.TxOptions
	// lockRuns makes transactions that add runs wait for each other.
	lockRuns(ctx context.Context, tx *sql.Tx) error
}

// Store keeps results. It is safe for concurrent use.
type Store struct {
	db     *sql.DB
	engine engine
	name   string // the file's path, or the server's URL without a password
	owner  string // of the runs that it begins or claims
}

// Default returns where results are kept unless the user says otherwise:
// $XDG_DATA_HOME/assay/assay.db, or ~/.local/share/assay/assay.db where that
// variable is unset or not an absolute path.
func Default() (string, error) {
	folder := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(folder) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("finding the default store: %w: name one with --store FILE, or set XDG_DATA_HOME", err)
		}
		folder = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(folder, "assay", "assay.db"), nil
}

// Open opens the store at a location, the path of an SQLite file or the URL of a
// PostgreSQL database. It makes the file and its folder, or the tables, where they
// are missing, and brings older tables up to date. It fails where the store
// cannot be written, belongs to another program, or was written by a newer
// version of this one.
func Open(ctx context.Context, location string) (*Store, error) {
	if IsURL(location) {
		return openServer(ctx, location)
	}
	return openFile(ctx, location)
}

// OpenToRead opens a store that is there already, to read it: it makes nothing
// and changes nothing, except that the tables of an earlier version are brought
// up to date. Where there is no store, the error is ErrNotFound.
func OpenToRead(ctx context.Context, location string) (*Store, error) {
	if IsURL(location) {
		return openServerToRead(ctx, location)
	}
	return openFileToRead(ctx, location)
}

// Name is the file's path, or the server's URL without a password.
func (s *Store) Name() string { return s.name }

// Close closes the store.
func (s *Store) Close() error { return s.db.Close() }

// schemaVersion is the number of the last migration.
func schemaVersion() (int64, error) {
	files, err := fs.Glob(migrations, "*.sql")
	return int64(len(files)), err // they are numbered from 1
}

// madeEarlier tells from the table of versions whether an earlier version made the
// tables. Those of a later
// one are an error.
func madeEarlier(ctx context.Context, db *sql.DB, versions string) (bool, error) {
	var made sql.NullInt64
	err := db.QueryRowContext(ctx, "SELECT max(version_id) FROM "+versions+" WHERE is_applied").Scan(&made)
	known, listed := schemaVersion()
	if err := errors.Join(err, listed); err != nil {
		return false, err
	}
	if made.Int64 > known {
		return false, tooNew(made.Int64, known)
	}
	return made.Int64 < known, nil
}

func applyMigrations(ctx context.Context, db *sql.DB, dialect goose.Dialect, files fs.FS, options ...goose.ProviderOption) error {
	provider, err := goose.NewProvider(dialect, db, files, append(options, goose.WithDisableGlobalRegistry(true))...)
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
	return fmt.Errorf("a newer version of assay wrote it (schema %d, this version knows up to %d): update assay, or choose another store", current, known)
}

func (s *Store) explain(doing string, err error) error { return explain(s.engine, s.name, doing, err) }

// explain says what failed, in which store, and what to do about it; nil where nothing
// did.
func explain(e engine, name, doing string, err error) error {
	if err == nil {
		return nil
	}
	if text := e.advice(err); text != "" {
		return fmt.Errorf("%s store %s: %s: %w", doing, name, text, err)
	}
	return fmt.Errorf("%s store %s: %w", doing, name, err)
}
