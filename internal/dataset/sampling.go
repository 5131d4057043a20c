package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"assay"
	"assay/internal/dataset/seeded"
)

// Tried holds what doing an operation a number of times has shown.
type Tried struct {
	Times int
	Took  time.Duration // of all, one after the other in this process, nothing synced
	Steps []TriedStep
}

// TriedStep is about the rows that a step answered or changed.
type TriedStep struct {
	Min, Max int64 // at one position
	Total    int64
	Found    int // positions with any
}

// Try does an operation at the positions of its trace from 0 on, at most count of
// them and none that would begin after the limit, and counts the rows. One that
// changes data is done on a private copy, in one transaction that is undone. Where once is
// set and nothing changes data, the rows of the same arguments are not read again.
func (d *Data) Try(ctx context.Context, op assay.Operation, trace *Trace, count int, limit time.Duration, once bool) (tried Tried, err error) {
	op, err = d.Resolve(ctx, op)
	if err != nil {
		return tried, err
	}
	tried.Steps = make([]TriedStep, len(op.Steps))
	var known map[string]int64
	if once && !op.Changes {
		known = map[string]int64{}
	}
	err = inSession(ctx, d.connectToTry, op, trace, func(conn *sql.Conn, s *session) (err error) {
		if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
			return err
		}
		defer func() {
			if _, undone := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK"); err == nil {
				err = undone // else SQLite may have undone it already
			}
		}()
		began := time.Now()
		for position := 0; position < count && tried.Took <= limit && err == nil; position++ {
			if err = s.try(ctx, position, &tried, known); err == nil {
				tried.Took = time.Since(began)
			}
		}
		return err
	})
	return tried, err
}

// connectToTry opens the copy that is kept to be changed, or one of its own.
func (d *Data) connectToTry(ctx context.Context, changes bool) (conn *sql.Conn, done func() error, err error) {
	if changes && d.kept != "" {
		return connectPrivate(ctx, d.kept)
	}
	return d.connect(ctx, changes)
}

// Enforce does an operation so many times on the copy that is kept, in one transaction that is
// committed, and with foreign keys enforced: those that are deferred can refuse it then.
func (d *Data) Enforce(ctx context.Context, op assay.Operation, count int) (err error) {
	if op, err = d.Resolve(ctx, op); err != nil {
		return err
	}
	trace, err := d.Trace(ctx, op, count)
	if err != nil {
		return err
	}
	return inSession(ctx, d.connectToTry, op, trace, func(conn *sql.Conn, s *session) error {
		if _, err := conn.ExecContext(ctx, "PRAGMA foreign_keys = on"); err != nil {
			return err
		}
		return batches(ctx, conn, 0, count, func(position int) error { return s.each(position, counting(ctx, false, false)) })
	})
}

// try does the operation at a position, counts the rows of its steps, and sees whether their
// values have the types that were found. Rows of arguments that are known are counted again.
func (s *session) try(ctx context.Context, position int, tried *Tried, known map[string]int64) error {
	return s.each(position, func(st *step) (err error) {
		arguments := ""
		if known != nil {
			arguments = fmt.Sprintf("%d%#v", st.number, st.args)
		}
		rows, done := known[arguments]
		if !done {
			rows, err = st.run(ctx, true)
		}
		if known != nil {
			known[arguments] = rows
		}
		t := &tried.Steps[st.number-1]
		if tried.Times == 0 || rows < t.Min {
			t.Min = rows
		}
		t.Max = max(t.Max, rows)
		t.Total += rows
		if rows > 0 {
			t.Found++
		}
		if st.number == len(s.steps) {
			tried.Times++
		}
		return err
	})
}

const (
	// pacedOperations is how many operations Pace does at most.
	pacedOperations = 1000
	// interrupted is the share of them that Pace leaves out, the slowest ones: a fast
	// operation that another program interrupts takes a thousand times as long.
	interrupted = 0.05
	// typedOperations is of how many operations Pace compares the answers' types with those that
	// the plan declares.
	typedOperations = 100
)

// Pace returns how long one operation takes on the data: in this process, without the
// driver under test, one client alone and nothing synced. It is the mean of those
// that begin within the limit. Of a mix it is the mean of its parts by their
// weights. It fails where the data refuse the SQL, or answer other types than declared.
func (d *Data) Pace(ctx context.Context, op assay.Operation, limit time.Duration) (time.Duration, error) {
	if len(op.Parts) == 0 {
		return d.pace(ctx, op, limit)
	}
	var sum time.Duration
	weights := 0
	for _, part := range op.Parts {
		each, err := d.pace(ctx, part.Operation, limit/time.Duration(len(op.Parts)))
		if err != nil {
			return 0, err
		}
		sum += time.Duration(part.Weight) * each
		weights += part.Weight
	}
	return sum / time.Duration(max(1, weights)), nil
}

func (d *Data) pace(ctx context.Context, op assay.Operation, limit time.Duration) (each time.Duration, err error) {
	if op, err = d.Resolve(ctx, op); err != nil {
		return 0, err
	}
	count := pacedOperations
	if op.Count > 0 { // a block may have all rows that there are
		count = min(count, op.Count)
	}
	trace, err := d.Trace(ctx, op, count)
	if err != nil {
		return 0, err
	}
	err = inSession(ctx, d.connect, op, trace, func(conn *sql.Conn, s *session) (err error) {
		each, err = s.pace(ctx, conn, count, limit)
		return err
	})
	return each, err
}

// pace does operations in one transaction. The first one reads what is not in any
// cache yet, and counts only where it is alone.
func (s *session) pace(ctx context.Context, conn *sql.Conn, count int, limit time.Duration) (each time.Duration, err error) {
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := s.do(ctx, 0, true); err != nil {
		return 0, err
	}
	each = time.Since(began)
	var took []time.Duration
	for position := 1; position < count && time.Since(began) < limit; position++ {
		started := time.Now()
		if err := s.do(ctx, position, position < typedOperations); err != nil {
			return 0, err
		}
		took = append(took, time.Since(started))
	}
	if len(took) > 0 {
		each = usual(took)
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return each, err
}

// usual is the mean of durations without the slowest ones.
func usual(took []time.Duration) time.Duration {
	slices.Sort(took)
	kept := took[:len(took)-int(interrupted*float64(len(took)))]
	sum := time.Duration(0)
	for _, t := range kept {
		sum += t
	}
	return sum / time.Duration(len(kept))
}

// CommitTime returns how long a transaction of one small change takes in a folder, the
// mean of those that begin within the limit, with the journal_mode, synchronous and
// locking_mode of the settings and else SQLite's own.
func CommitTime(ctx context.Context, folder string, settings map[string]string, limit time.Duration) (each time.Duration, err error) {
	dir, err := os.MkdirTemp(folder, ".commit-")
	if err != nil {
		return 0, fmt.Errorf("time a commit: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	conn, done, err := connect(ctx, filepath.Join(dir, dataName), "mode=rwc")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, name := range []string{"locking_mode", "journal_mode", "synchronous"} {
		if value := settings[name]; value != "" {
			if _, err := conn.ExecContext(ctx, "PRAGMA "+name+"="+value); err != nil {
				return 0, fmt.Errorf("time a commit with %s = %s: %w", name, value, err)
			}
		}
	}
	const table, change = "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)"
	if _, err := conn.ExecContext(ctx, table); err != nil {
		return 0, fmt.Errorf("time a commit: %w", err)
	}
	began, n := time.Now(), 0
	for ; n == 0 || n < pacedOperations && time.Since(began) < limit; n++ {
		if _, err := conn.ExecContext(ctx, change); err != nil {
			return 0, fmt.Errorf("time a commit: %w", err)
		}
	}
	return time.Since(began) / time.Duration(n), nil
}

// Compile has the SQL of an operation compiled on the data, without running it. It
// fails where the schema refuses it.
func (d *Data) Compile(ctx context.Context, op assay.Operation) error {
	return d.seeded(ctx, func(session *seeded.Session) error { return d.compile(ctx, session, op) })
}

// seeded does something in a session of the data.
func (d *Data) seeded(ctx context.Context, do func(*seeded.Session) error) (err error) {
	session, done, err := d.session(ctx, d.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	return do(session)
}

func (d *Data) compile(ctx context.Context, session *seeded.Session, op assay.Operation) error {
	for _, part := range op.Parts {
		if err := d.compile(ctx, session, part.Operation); err != nil {
			return fmt.Errorf("part %w", err)
		}
	}
	texts := []string{}
	for _, step := range op.Steps {
		texts = append(texts, step.SQL)
	}
	if op.Check != nil {
		texts = append(texts, op.Check.SQL)
	}
	for _, text := range texts {
		if err := prepares(ctx, session, text); err != nil {
			return fmt.Errorf("operation %q: %w; the SQL is:\n%s", op.Name, err, text)
		}
	}
	g := newGenerator(d.Spec.Seed, op)
	g.session = session
	for _, gr := range g.groups {
		text, err := gr.answer(ctx, g, 1)
		if err == nil {
			err = prepares(ctx, session, text)
		}
		if err != nil {
			return fmt.Errorf("args of operation %q: %w; the SQL is:\n%s", op.Name, err, gr.query)
		}
	}
	return nil
}

// prepares compiles a statement, and does not run it.
func prepares(ctx context.Context, session *seeded.Session, text string) error {
	statement, err := session.PrepareContext(ctx, text)
	if err != nil {
		return err
	}
	return statement.Close()
}

// IsRefusal reports whether an error is the data's answer to what a plan asks of
// them: SQL that is wrong, a value that a constraint forbids, a statement that
// takes too long. Others are the system's.
func IsRefusal(err error) bool {
	if engine, is := errors.AsType[*sqlite.Error](err); is {
		switch engine.Code() & 0xff {
		case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_INTERRUPT:
			return true
		}
		return false
	}
	return !errors.As(err, new(*fs.PathError)) && !errors.As(err, new(*os.SyscallError)) && !errors.As(err, new(*os.LinkError))
}
