package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"assay"
)

// pacedOperations is how many operations Pace does at most.
const pacedOperations = 200

// Pace is how long one operation takes on the data: in this process, without the
// driver under test, one client alone and nothing synced. It is the mean of those
// that begin within the limit. Of a mix it is the mean of its parts by their
// weights. It fails where the data refuse the SQL.
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
	trace, err := d.Trace(ctx, op, pacedOperations)
	if err != nil {
		return 0, err
	}
	conn, done, err := d.connect(ctx, changesData(op))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	s, err := newSession(ctx, conn, op, trace)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return s.pace(ctx, conn, limit)
}

// pace does operations in one transaction. The first one reads what is not in any
// cache yet, and counts only where it is alone.
func (s *session) pace(ctx context.Context, conn *sql.Conn, limit time.Duration) (each time.Duration, err error) {
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := s.do(ctx, 0, false); err != nil {
		return 0, err
	}
	each = time.Since(began)
	again, position := time.Now(), 1
	for ; position < pacedOperations && time.Since(began) < limit; position++ {
		if err := s.do(ctx, position, false); err != nil {
			return 0, err
		}
	}
	if position > 1 {
		each = time.Since(again) / time.Duration(position-1)
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return each, err
}

// Compile has the SQL of an operation compiled on the data, without running it. It
// fails where the schema refuses it.
func (d *Data) Compile(ctx context.Context, op assay.Operation) (err error) {
	conn, done, err := d.connect(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	return compile(ctx, conn, op)
}

func compile(ctx context.Context, conn *sql.Conn, op assay.Operation) error {
	for _, part := range op.Parts {
		if err := compile(ctx, conn, part.Operation); err != nil {
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
		statement, err := conn.PrepareContext(ctx, text)
		if err == nil {
			err = statement.Close()
		}
		if err != nil {
			return fmt.Errorf("operation %q: %w; the SQL is:\n%s", op.Name, err, text)
		}
	}
	return nil
}

// IsRefusal tells whether an error is the data's answer to what a plan asks of
// them: SQL that is wrong, a value that a constraint forbids, a statement that
// takes too long. Others are the system's.
func IsRefusal(err error) bool {
	var engine *sqlite.Error
	if errors.As(err, &engine) {
		switch engine.Code() & 0xff {
		case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_INTERRUPT:
			return true
		}
		return false
	}
	var path *fs.PathError
	var call *os.SyscallError
	var link *os.LinkError
	return !errors.As(err, &path) && !errors.As(err, &call) && !errors.As(err, &link)
}
