package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/sethvargo/go-retry"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// applicationID marks a file of results; the first migration writes it.
const applicationID = 0x61737361

// busyTimeout is how long a process waits for another one's lock.
const busyTimeout = 10 * time.Second

// file is a store in an SQLite file.
type file struct{}

func (file) advice(err error) string {
	code := resultCode(err)
	if code == sqlite3.SQLITE_IOERR_SHMSIZE { // the index of the log is memory that needs room on the disk
		code = sqlite3.SQLITE_FULL
	}
	return adviceOnFiles[code&0xff]
}

func (file) snapshot() *sql.TxOptions { return &sql.TxOptions{ReadOnly: true} }

func (file) lockRuns(context.Context, *sql.Tx) error { return nil } // a writer has the file's only lock

// openFile opens the file of results at that path. It makes the file and its
// folder where they are missing, and brings an older file up to date. It
// fails where the file cannot be written, is not an SQLite database, belongs
// to another program, or was written by a newer version of this one.
func openFile(ctx context.Context, location string) (*Store, error) {
	path, err := prepare(location)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, path); err != nil {
		return nil, notOpened(path, err)
	}
	db, err := sql.Open("sqlite", dsn(path, "foreign_keys(1)", "synchronous(FULL)"))
	if err != nil {
		return nil, explain(file{}, path, "opening", err)
	}
	return &Store{db: db, engine: file{}, name: path, owner: newOwner().String()}, nil
}

// openFileToRead opens a file of results that is there already, to read it: it
// makes nothing and changes nothing, except that the tables of an earlier
// version are brought up to date. Where there is no file, or an empty one, the error
// is ErrNotFound.
func openFileToRead(ctx context.Context, location string) (*Store, error) {
	path, err := absolute(location)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no store %s yet", ErrNotFound, path)
	}
	db, err := sql.Open("sqlite", dsn(path, "query_only(1)")+"&mode=ro")
	if err != nil {
		return nil, explain(file{}, path, "opening", err)
	}
	older, err := isOlder(ctx, db)
	if err != nil || older {
		err = errors.Join(err, db.Close())
	}
	if resultCode(err) == sqlite3.SQLITE_ERROR { // no such table: the file is empty
		return nil, fmt.Errorf("%w: there is no store in %s yet: the file is empty", ErrNotFound, path)
	}
	if err != nil {
		return nil, notOpened(path, err)
	}
	if older {
		return openFile(ctx, location)
	}
	return &Store{db: db, engine: file{}, name: path}, nil
}

// notOpened explains an error of opening a file. SQLite has one code for a file that may not be
// opened, and for any file where the table of open files is full.
func notOpened(path string, err error) error {
	if resultCode(err)&0xff == sqlite3.SQLITE_CANTOPEN {
		if full := openFiles(maxFiles); full != nil {
			return fmt.Errorf("opening store %s: %w: raise the limit of open files (ulimit -n), or end programs that have many open", path, full)
		}
	}
	return explain(file{}, path, "opening", err)
}

// maxFiles are more than a connection opens: the file, its log, the log's index, and their folder.
const maxFiles = 8

// openFiles returns why so many files cannot be open at once.
func openFiles(n int) error {
	for range n {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return err
		}
		defer f.Close()
	}
	return nil
}

// isOlder reports whether an earlier version made the tables. It fails where the
// database is not a store of this version or of an earlier one.
func isOlder(ctx context.Context, db *sql.DB) (bool, error) {
	if err := checkApplication(ctx, db); err != nil {
		return false, err
	}
	return madeEarlier(ctx, db, "goose_db_version")
}

// prepare returns the absolute path of the file, after making its folder.
func prepare(location string) (string, error) {
	path, err := absolute(location)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", unusable(err)
	}
	return path, nil
}

// unusable makes a LocationError of an error that another place would not have.
func unusable(err error) error {
	for _, cause := range []error{fs.ErrPermission, fs.ErrNotExist, syscall.ENOTDIR, syscall.EROFS} {
		if errors.Is(err, cause) {
			return &LocationError{err.Error() + "; --store FILE or XDG_DATA_HOME names another place"}
		}
	}
	return fmt.Errorf("opening the store: %w", err)
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
		return "", unusable(err)
	case info.IsDir():
		return "", &LocationError{path + " is not a file: name a file, for example " + filepath.Join(path, "assay.db")}
	case !info.Mode().IsRegular():
		return "", &LocationError{path + " is a device, a FIFO or a socket, not a file: name an existing file or a new one"}
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
	// Without isolation goose would begin transactions inside ours.
	if err := applyMigrations(ctx, db, goose.DialectSQLite3, migrations, goose.WithIsolateDDL(true)); err != nil {
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

// errForeign says whose a file is that is no store.
var errForeign = errors.New("it is the database of another program: choose another file")

// IsWrongLocation reports whether an error of opening a store says that the user has to name
// another place: none can be there, it cannot be written, or the file is something else.
func IsWrongLocation(err error) bool {
	return errors.Is(err, errForeign) || errors.As(err, new(*LocationError)) ||
		slices.Contains([]int{sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}, resultCode(err)&0xff)
}

// checkApplication refuses the database of another program.
func checkApplication(ctx context.Context, db *sql.DB) error {
	var id, objects int
	err := db.QueryRowContext(ctx, "SELECT application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id").Scan(&id, &objects)
	if err == nil && objects > 0 && id != applicationID {
		err = errForeign
	}
	return err
}

// IsLocked reports whether an error says that another program kept the file
// locked for longer than was waited for.
func IsLocked(err error) bool { return resultCode(err)&0xff == sqlite3.SQLITE_BUSY }

// adviceOnFiles says what to do about errors of SQLite, by primary result code.
var adviceOnFiles = map[int]string{
	sqlite3.SQLITE_NOTADB:   "it is not an SQLite database: choose another file",
	sqlite3.SQLITE_CORRUPT:  "the database is damaged: choose another file, or try the sqlite3 shell's .recover",
	sqlite3.SQLITE_READONLY: "it cannot be written: check the permissions of the file and its folder, or choose another file",
	sqlite3.SQLITE_CANTOPEN: "it cannot be opened for writing: check the permissions of the file and its folder, or choose another file",
	sqlite3.SQLITE_BUSY:     "another program keeps it locked: wait for it to end, or choose another file",
	sqlite3.SQLITE_FULL:     "the disk is full: make room",
	sqlite3.SQLITE_IOERR:    "it cannot be read or written: check its disk",
}

// resultCode returns SQLite's extended result code, whose lowest byte is the
// primary one, or 0 for errors that are not SQLite's.
func resultCode(err error) int {
	if failure, is := errors.AsType[*sqlite.Error](err); is {
		return failure.Code()
	}
	return 0
}
