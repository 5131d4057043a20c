package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// stepPages is how many pages are copied before the context is asked.
	stepPages = 4096
	// snapshotTries is how often a file that was opened by another program in
	// the meantime is copied again.
	snapshotTries = 3
)

// repair is what to do about a database that reading alone cannot bring into
// a consistent state.
const repair = "open and close it once with a program that may write to it, for example sqlite3 FILE 'PRAGMA wal_checkpoint(truncate)'"

// errMoved says that a file thought to be idle was opened while it was copied.
var errMoved = errors.New("it was opened or changed by another program while it was copied; try again")

// Snapshot copies a user's own database, which other programs may have open
// and write to, by SQLite's backup API. The copy is one state of it, whole,
// with journal mode delete. dst must not exist.
//
// The source is opened read-only, is the same byte for byte afterwards, and
// no file is left beside it. A database with a write-ahead log is the
// difficult case, since even a reader makes the log and its index where they
// are missing and cannot remove them:
//
//   - log and index exist: it is in use, or was left by a killed program. It
//     is read under SQLite's locks, but the index read-only: readers set marks
//     in it, and the first one makes it anew. Where nobody has it open SQLite
//     makes one in memory.
//   - there is no log, or an empty one without an index: nobody has it open.
//     It is read as immutable, and read again if that turns out to be wrong.
//   - a log without its index cannot be read without making one: an error
//     says what to do.
func Snapshot(ctx context.Context, src, dst string) error {
	path, err := filepath.EvalSymlinks(src) // the log is beside the file itself
	if err != nil {
		return fmt.Errorf("copy a database: %w", err)
	}
	if _, err := os.Lstat(dst); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("copy %s: %s exists already", src, dst)
	}
	for range snapshotTries {
		if err = snapshot(ctx, path, dst); err == nil {
			return nil
		}
		for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
			_ = os.Remove(dst + suffix)
		}
		if !errors.Is(err, errMoved) {
			break
		}
	}
	return fmt.Errorf("copy the database %s: %w", src, err)
}

func snapshot(ctx context.Context, src, dst string) error {
	before, err := inspect(src)
	if err != nil {
		return err
	}
	query, err := before.query()
	if err != nil {
		return err
	}
	if err := backup(ctx, src, query, dst); err != nil {
		return err
	}
	if err := before.lasts(src); err != nil {
		return err
	}
	return leaveLog(ctx, dst)
}

// sight holds what can be seen of a database from outside.
type sight struct {
	header   header
	size     int64
	modified int64 // ns
	log      int64 // size of the write-ahead log; -1: there is none
	index    bool
}

func inspect(path string) (sight, error) {
	var s sight
	info, err := os.Stat(path)
	if err != nil {
		return s, err
	}
	s.size, s.modified = info.Size(), info.ModTime().UnixNano()
	if s.header, err = readHeader(path); err != nil {
		return s, err
	}
	s.log = -1
	if info, err := os.Stat(path + "-wal"); err == nil {
		s.log = info.Size()
	}
	_, err = os.Stat(path + "-shm")
	s.index = err == nil
	return s, nil
}

// idle says that the database has a write-ahead log and no process has it open:
// opening it makes the log, with its index.
func (s sight) idle() bool {
	return s.header.journalMode() == "wal" && (s.log < 0 || s.log == 0 && !s.index)
}

// lasts returns errMoved where a database that was read without locks looks
// another way by now.
func (s sight) lasts(path string) error {
	if !s.idle() {
		return nil
	}
	now, err := inspect(path)
	if err != nil || now != s {
		return errors.Join(errMoved, err)
	}
	return nil
}

func (s sight) query() (string, error) {
	const patient = "mode=ro&_pragma=busy_timeout(5000)"
	switch {
	case s.header.journalMode() != "wal":
		return patient, nil
	case s.idle():
		return "mode=ro&immutable=1", nil
	case !s.index:
		return "", errors.New("its write-ahead log has no index (-shm); " + repair)
	}
	return patient + "&readonly_shm=1", nil
}

// backup copies one state of the source, which an open read transaction
// holds, in steps, so that the context can end it.
func backup(ctx context.Context, src, query, dst string) (err error) {
	conn, done, err := connect(ctx, src, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	if _, err := ask(ctx, conn, "SELECT count(*) FROM sqlite_schema"); err != nil {
		return refusal(err)
	}
	if err := boundNames(ctx, conn); err != nil {
		return err
	}
	target, err := uri(dst, privateFile)
	if err != nil {
		return err
	}
	return conn.Raw(func(driverConn any) error {
		source, ok := driverConn.(interface {
			NewBackup(string) (*sqlite.Backup, error)
		})
		if !ok {
			return fmt.Errorf("%T has no backup", driverConn)
		}
		b, err := source.NewBackup(target)
		if err != nil {
			return err
		}
		err = copyPages(ctx, b)
		if end := b.Finish(); err == nil { // it says the same once more
			err = end
		}
		if refused, is := errors.AsType[*sqlite.Error](err); is && refused.Code() == sqlite3.SQLITE_FULL {
			return fmt.Errorf("the disk of %s is full: the copy needs as much space as the database has", filepath.Dir(dst))
		}
		return err
	})
}

// maxName is how many characters a name of a schema may have: messages, plans and reports
// repeat it.
const maxName = 1000

// ErrName says that a schema has a name that is longer.
var ErrName = errors.New("a name is too long")

// boundNames refuses a schema with a name that is longer. What else is wrong with it, its
// readers say.
func boundNames(ctx context.Context, conn *sql.Conn) error {
	longest, err := ask(ctx, conn, fmt.Sprintf(`SELECT max(length(name)) FROM (SELECT name FROM sqlite_schema UNION ALL
		SELECT x.name FROM sqlite_schema s, pragma_table_xinfo(s.name) x WHERE s.type = 'table' AND s.sql NOT LIKE 'create virtual%%' AND length(s.sql) > %d)`, maxName))
	if n, _ := strconv.Atoi(longest); err == nil && n > maxName {
		return fmt.Errorf("%w: a table, column or index has one of %d characters, and assay takes up to %d", ErrName, n, maxName)
	}
	return ctx.Err()
}

// refusal says why a database cannot be read that reading alone cannot repair.
func refusal(err error) error {
	refused, is := errors.AsType[*sqlite.Error](err)
	if !is {
		return err
	}
	switch refused.Code() {
	case sqlite3.SQLITE_READONLY_ROLLBACK:
		return errors.New("a program was killed in the middle of a transaction on it; " + repair)
	// SQLite read the header or the marks of the index while a writer changed
	// them, and a moment later nobody was writing; or the index is damaged.
	case sqlite3.SQLITE_READONLY_RECOVERY, sqlite3.SQLITE_READONLY_CANTINIT:
		return fmt.Errorf("the index of its write-ahead log is not consistent: %w; if that does not help, %s", errMoved, repair)
	}
	return err
}

func copyPages(ctx context.Context, b *sqlite.Backup) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if more, err := b.Step(stepPages); err != nil || !more {
			return err
		}
	}
}

// leaveLog takes the copy, which has its source's journal mode, out of it.
func leaveLog(ctx context.Context, path string) (err error) {
	conn, done, err := connect(ctx, path, "mode=rw")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	return setJournalDelete(ctx, conn)
}

func setJournalDelete(ctx context.Context, conn *sql.Conn) error {
	mode, err := ask(ctx, conn, "PRAGMA journal_mode=delete")
	if err == nil && mode != "delete" {
		err = fmt.Errorf("the journal mode stays %s", mode)
	}
	return err
}
