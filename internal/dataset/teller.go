package dataset

import (
	"context"
	"database/sql"
	"errors"

	"assay"
	"assay/kit/answer"
)

// Teller tells what an operation answers that changes nothing, or what those
// parts of a mix do.
type Teller struct {
	conn   *sql.Conn
	op     assay.Operation
	trace  *Trace
	player *player // nil until something is told
	known  map[place]string
}

type place struct {
	part     *session
	position int
}

// at is what is told of at a position, and where in its own trace; nil where data
// are changed, or the answer is another one each time.
func (t *Teller) at(ctx context.Context, position int) (part *session, own int, err error) {
	if t.player == nil {
		if t.player, err = newPlayer(ctx, t.conn, t.op, t.trace, false); err != nil {
			t.player = nil // it is closed
			return nil, 0, err
		}
	}
	part, own = t.player.at(position)
	return part, own, nil
}

// Digest is that of the answer to the unit that begins at a position; empty for a
// part that changes data or answers otherwise each time. The number of rows is not checked.
func (t *Teller) Digest(ctx context.Context, position int) (string, error) {
	part, own, err := t.at(ctx, position)
	if err != nil || part == nil {
		return "", err
	}
	return part.digest(ctx, own, max(1, t.op.Transaction))
}

// once is Digest of data that do not change meanwhile.
func (t *Teller) once(ctx context.Context, position int) (digest string, err error) {
	part, own, err := t.at(ctx, position)
	if err != nil || part == nil {
		return "", err
	}
	if part.trace.Columns() == 0 {
		own = 0 // without arguments it has one answer
	}
	digest, told := t.known[place{part, own}]
	if !told {
		if digest, err = t.Digest(ctx, position); err == nil {
			t.known[place{part, own}] = digest
		}
	}
	return digest, err
}

func (t *Teller) close() error {
	if t.player == nil {
		return nil
	}
	return t.player.close()
}

// Digests returns the digests of what an operation answers while nothing has
// changed the data, in the units that begin at these positions.
func (d *Data) Digests(ctx context.Context, op assay.Operation, trace *Trace, positions []int) (digests []string, err error) {
	conn, done, err := d.connect(ctx, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	t := &Teller{conn: conn, op: op, trace: trace, known: map[place]string{}}
	defer func() { err = errors.Join(err, t.close()) }()
	digests = make([]string, len(positions))
	err = batches(ctx, conn, 0, len(positions), func(i int) (err error) {
		digests[i], err = t.once(ctx, positions[i])
		return err
	})
	return digests, err
}

// digest digests the answers at some positions, apart from all others.
func (s *session) digest(ctx context.Context, position, count int) (string, error) {
	for i := range s.steps {
		if st := &s.steps[i]; st.Query {
			var err error
			if st.hash, err = answer.New(assay.TypeNames(st.Returns)); err != nil {
				return "", err
			}
		}
	}
	for i := range count {
		if err := s.run(ctx, position+i, true, false); err != nil {
			return "", err
		}
	}
	return s.sum().Digest, nil
}
