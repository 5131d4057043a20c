package dataset

import (
	"context"
	"database/sql"
	"errors"

	"assay"
)

// Watch looks at the data while operations are done, or has logged what changes.
type Watch struct {
	Begin func(context.Context, *sql.Conn) error // before all; nil: nothing is to be done
	// At comes before each operation, and End after each phase; nil: nothing is to be done. The
	// digester digests what is answered meanwhile.
	At  func(ctx context.Context, conn *sql.Conn, digester *Digester, position int) error
	End func(context.Context, *sql.Conn, *Digester) error
}

// Replay does the operation on a private copy of the data at the positions of
// each phase, in their order.
func (d *Data) Replay(ctx context.Context, op assay.Operation, trace *Trace, phases [][]int, watch Watch) (err error) {
	conn, done, err := d.connect(ctx, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if watch.Begin != nil {
		if err := watch.Begin(ctx, conn); err != nil {
			return err
		}
	}
	changes, err := newSession(ctx, conn, op, trace, func(part assay.Operation) bool { return part.Changes })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, changes.close()) }()
	t := &Digester{conn: conn, op: op, trace: trace, changes: changes}
	defer func() { err = errors.Join(err, t.close()) }()
	for _, positions := range phases {
		err := batches(ctx, conn, 0, len(positions), func(i int) error {
			if watch.At != nil {
				if err := watch.At(ctx, conn, t, positions[i]); err != nil {
					return err
				}
			}
			return changes.do(ctx, positions[i], false)
		})
		if err == nil && watch.End != nil {
			err = watch.End(ctx, conn, t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ReplayedState is the digest of the answer to the operation's check after the operation
// was done at the positions of each phase, in their order; empty where it has none.
func (d *Data) ReplayedState(ctx context.Context, op assay.Operation, trace *Trace, phases [][]int) (state string, err error) {
	end := func(ctx context.Context, conn *sql.Conn, _ *Digester) (err error) {
		if op.Check == nil {
			return nil
		}
		state, err = answerDigest(ctx, conn, *op.Check)
		return err
	}
	return state, d.Replay(ctx, op, trace, phases, Watch{End: end})
}

// Span are the positions from one on, and before another.
func Span(from, to int) []int {
	all := make([]int, to-from)
	for i := range all {
		all[i] = from + i
	}
	return all
}

// Digester digests what an operation answers that changes nothing, or what those
// parts of a mix do.
type Digester struct {
	conn    *sql.Conn
	op      assay.Operation
	trace   *Trace
	reads   *session         // nil until something is digested
	known   map[place]string // nil where the data change meanwhile
	changes *session         // what changes the data meanwhile
}

type place struct{ part, own int }

// Digest returns the digest of the answer to the unit that begins at a position; empty for a
// part that changes data or answers otherwise each time. The number of rows is not checked.
func (t *Digester) Digest(ctx context.Context, position int) (digest string, err error) {
	if t.reads == nil {
		if t.reads, err = newSession(ctx, t.conn, t.op, t.trace, func(part assay.Operation) bool { return !part.Changes && !Varies(part) }); err != nil {
			return "", err
		}
	}
	part, own := t.reads.Part(position)
	if t.reads.steps[&t.reads.parts[part].Steps[0]] == nil {
		return "", nil
	}
	if t.reads.values[part].Columns() == 0 {
		own = 0 // without arguments it has one answer
	}
	digest, known := t.known[place{part, own}]
	if known {
		return digest, nil
	}
	digest, err = t.reads.digest(ctx, part, own, max(1, t.op.Transaction))
	if err == nil && t.known != nil {
		t.known[place{part, own}] = digest
	}
	return digest, err
}

func (t *Digester) close() error {
	if t.reads == nil {
		return nil
	}
	return t.reads.close()
}

// Digests returns the digests of what an operation answers while nothing has
// changed the data, in the units that begin at these positions.
func (d *Data) Digests(ctx context.Context, op assay.Operation, trace *Trace, positions []int) (digests []string, err error) {
	conn, done, err := d.connect(ctx, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	t := &Digester{conn: conn, op: op, trace: trace, known: map[place]string{}}
	defer func() { err = errors.Join(err, t.close()) }()
	digests = make([]string, len(positions))
	err = batches(ctx, conn, 0, len(positions), func(i int) (err error) {
		digests[i], err = t.Digest(ctx, positions[i])
		return err
	})
	return digests, err
}

// Rows visits what an operation without parts answers at some positions while nothing has
// changed the data, until visit returns an error.
func (d *Data) Rows(ctx context.Context, op assay.Operation, trace *Trace, from, count int, visit func(position int, step assay.Step, row []any) error) (err error) {
	if op, err = d.Resolve(ctx, op); err != nil {
		return err
	}
	return inSession(ctx, d.connect, op, trace, func(conn *sql.Conn, s *session) error {
		return batches(ctx, conn, from, from+count, func(position int) error {
			return s.each(position, func(st *step) error {
				rows, err := st.stmt.QueryContext(ctx, st.args...)
				if err != nil {
					return err
				}
				return Visit(rows, func(row []any) error { return visit(position, st.Step, row) })
			})
		})
	})
}
