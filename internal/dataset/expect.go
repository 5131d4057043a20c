package dataset

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"assay"
)

// transactionOperations is how many operations the oracle commits at once:
// enough that commits cost nothing, few enough for a small journal.
const transactionOperations = 1000

// Expected holds what an operation has to answer, or to leave behind.
type Expected struct {
	// Digest is of the answers, as package answer makes it; where several
	// steps return rows, the SHA-256 over the steps' digests in hex, one after
	// the other. It is empty for operations without answers and for mixes,
	// whose parts are verified one by one.
	Digest string
	Rows   int64 // answered, all that Digest is made of
	// State is the digest of the answer to the operation's Check afterwards;
	// empty where there is nothing to check.
	State string
}

// Expect runs the operation in this process, without the driver under test,
// and returns what must come out at the positions from, ..., from+count-1 of
// its trace, around the trace's end. An operation that changes data is
// applied to a private copy of it, from position 0 on, since a warm-up
// changes data too. Expectations are cached.
func (d *Data) Expect(ctx context.Context, op assay.Operation, trace *Trace, from, count int) (Expected, error) {
	if trace == nil || from < 0 || count < 0 {
		return Expected{}, fmt.Errorf("expect of operation %q: want a trace, and positions %d+%d that are not negative", op.Name, from, count)
	}
	op, err := d.Resolve(ctx, op)
	if err != nil {
		return Expected{}, err
	}
	key, err := expectKey(d.Digest, op, trace, from, count)
	if err != nil {
		return Expected{}, err
	}
	path := filepath.Join(filepath.Dir(d.Path), "expect-"+key+".json")
	return KeepJSON(path, func() (Expected, error) {
		expected, err := d.expect(ctx, op, trace, from, count)
		return expected, wrap(err, "the expected answer")
	})
}

func (d *Data) expect(ctx context.Context, op assay.Operation, trace *Trace, from, count int) (expected Expected, err error) {
	if len(op.Parts) > 0 {
		if op.Changes {
			expected.State, err = d.ReplayedState(ctx, op, trace, [][]int{Span(0, from+count)})
		}
		return expected, err
	}
	start := from
	if op.Changes {
		start = 0 // the data have what was changed before
	}
	err = inSession(ctx, d.connect, op, trace, func(conn *sql.Conn, s *session) error {
		err := batches(ctx, conn, start, from+count, func(position int) error { return s.do(ctx, position, position >= from) })
		if err != nil {
			return err
		}
		expected = s.sum(0)
		if op.Changes && op.Check != nil {
			expected.State, err = answerDigest(ctx, conn, *op.Check)
		}
		return err
	})
	return expected, err
}

// connect opens the data or, to change them, a private copy that done removes.
func (d *Data) connect(ctx context.Context, private bool) (conn *sql.Conn, done func() error, err error) {
	if !private {
		return connect(ctx, d.Path, closedFile)
	}
	folder, err := d.scratch()
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(folder.Path, dataName)
	if err := copyFile(ctx, d.Path, path); err != nil {
		return nil, nil, errors.Join(err, folder.Remove())
	}
	conn, disconnect, err := connectPrivate(ctx, path)
	if err != nil {
		return nil, nil, errors.Join(err, folder.Remove())
	}
	return conn, func() error { return errors.Join(disconnect(), folder.Remove()) }, nil
}

// connectPrivate opens a private copy.
func connectPrivate(ctx context.Context, path string) (conn *sql.Conn, done func() error, err error) {
	conn, done, err = connect(ctx, path, privateFile)
	if err != nil {
		return nil, nil, err
	}
	// A statement that fails in the middle needs a journal to be undone.
	if _, err := conn.ExecContext(ctx, "PRAGMA journal_mode=memory"); err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return conn, done, nil
}

// batches calls do for every position, in transactions of many. A reader is
// spared the locks as well.
func batches(ctx context.Context, conn *sql.Conn, start, end int, do func(position int) error) error {
	for position := start; position < end; position++ {
		if (position-start)%transactionOperations == 0 {
			next := "BEGIN"
			if position > start {
				next = "COMMIT; BEGIN"
			}
			if _, err := conn.ExecContext(ctx, next); err != nil {
				return err
			}
		}
		if err := do(position); err != nil {
			return err
		}
	}
	if start == end {
		return nil
	}
	_, err := conn.ExecContext(ctx, "COMMIT")
	return err
}

func answerDigest(ctx context.Context, conn *sql.Conn, query assay.Query) (string, error) {
	check := step{Step: assay.Step{SQL: query.SQL, Query: true, Returns: query.Returns}}
	err := check.prepare(ctx, conn)
	if err == nil {
		defer check.stmt.Close()
		_, err = check.run(ctx, true)
	}
	if err != nil {
		return "", fmt.Errorf("check: %w; the SQL is:\n%s", err, query.SQL)
	}
	return check.hash.Sum(), nil
}

func expectKey(data string, op assay.Operation, trace *Trace, from, count int) (string, error) {
	traces := []string{trace.Digest}
	for _, part := range trace.Parts {
		traces = append(traces, part.Digest)
	}
	return digest("expect", data, op, traces, from, count)
}

// KeepJSON returns what a file of the cache has, or makes it. What cannot be read is made again.
func KeepJSON[T any](path string, make func() (T, error)) (found T, err error) {
	text, err := os.ReadFile(path)
	if err == nil && json.Unmarshal(text, &found) == nil {
		return found, nil
	}
	if found, err = make(); err != nil {
		return found, err
	}
	if text, err = json.Marshal(found); err != nil {
		return found, err
	}
	return found, renameio.WriteFile(path, text, 0o644)
}
