package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"assay"
	"assay/kit/answer"
	"assay/kit/column"
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
	p, err := newPlayer(ctx, conn, op, trace, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	t := &Digester{conn: conn, op: op, trace: trace, changes: p}
	defer func() { err = errors.Join(err, t.close()) }()
	for _, positions := range phases {
		err := batches(ctx, conn, 0, len(positions), func(i int) error {
			if watch.At != nil {
				if err := watch.At(ctx, conn, t, positions[i]); err != nil {
					return err
				}
			}
			return p.do(ctx, positions[i])
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

// Choice tells which part of a mix is done at a position.
type Choice struct{ file *column.File } // nil: of no mix

// Choice opens the trace of an operation.
func (t *Trace) Choice(op assay.Operation) (*Choice, error) {
	if len(op.Parts) == 0 {
		return &Choice{}, nil
	}
	if len(t.Parts) != len(op.Parts) {
		return nil, fmt.Errorf("operation %q has %d parts, its trace %d", op.Name, len(op.Parts), len(t.Parts))
	}
	file, err := t.open()
	if err != nil {
		return nil, err
	}
	if file.Columns() < 2 || file.Rows() == 0 {
		return nil, errors.Join(fmt.Errorf("%s is not the trace of a mix, or empty", t.Path), file.Close())
	}
	return &Choice{file}, nil
}

// At is the part that is done at a position, around the trace's end, and where in its own
// trace; of no mix 0 and the position.
func (c *Choice) At(position int) (part, own int) {
	if c.file == nil {
		return 0, position
	}
	position %= c.file.Rows()
	return int(c.file.Int(0, position)), int(c.file.Int(1, position))
}

// Close closes the trace.
func (c *Choice) Close() error {
	if c == nil || c.file == nil {
		return nil
	}
	return c.file.Close()
}

// Arguments are those of an operation, or of the parts of a mix.
type Arguments struct {
	choice *Choice
	parts  []assay.Operation
	values []*column.File // by part
}

// Args are the arguments of a step at a position.
type Args struct {
	file       *column.File
	first, row int
}

// Value is an argument as it is bound.
func (a Args) Value(i int) any { return a.file.Value(a.first+i, a.row) }

// Bytes is an argument of a store, until the arguments are closed.
func (a Args) Bytes(i int) []byte { return a.file.Bytes(a.first+i, a.row) }

// parts are the operations of a mix with their traces, or the one that is no mix.
func (t *Trace) parts(op assay.Operation) (operations []assay.Operation, traces []Trace) {
	if len(op.Parts) == 0 {
		return []assay.Operation{op}, []Trace{*t}
	}
	for _, part := range op.Parts {
		operations = append(operations, part.Operation)
	}
	return operations, t.Parts
}

// Arguments opens the trace of an operation and those of its parts.
func (t *Trace) Arguments(op assay.Operation) (a *Arguments, err error) {
	operations, traces := t.parts(op)
	a = &Arguments{parts: operations}
	if a.choice, err = t.Choice(op); err != nil {
		return nil, err
	}
	for i := range traces {
		file, err := traces[i].open()
		if err != nil {
			return nil, errors.Join(err, a.Close())
		}
		a.values = append(a.values, file)
	}
	return a, nil
}

// At calls do for the steps at a position, around the trace's end.
func (a *Arguments) At(position int, do func(*assay.Step, Args) error) error {
	part, own := a.choice.At(position)
	args := Args{file: a.values[part]}
	if args.file.Rows() > 0 {
		args.row = own % args.file.Rows()
	}
	steps := a.parts[part].Steps
	for i := range steps {
		if err := do(&steps[i], args); err != nil {
			return fmt.Errorf("%s, step %d: %w; the SQL is:\n%s", a.parts[part].Name, i+1, err, steps[i].SQL)
		}
		args.first += len(steps[i].Args)
	}
	return nil
}

// Close closes the traces.
func (a *Arguments) Close() error {
	errs := []error{a.choice.Close()}
	for _, file := range a.values {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}

// player plays an operation, or of a mix those parts that change data, or those of
// the others that have one answer.
type player struct {
	choice *Choice
	parts  []*session // nil for a part that is not played
}

func newPlayer(ctx context.Context, conn *sql.Conn, op assay.Operation, trace *Trace, changes bool) (p *player, err error) {
	p = &player{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if p.choice, err = trace.Choice(op); err != nil {
		return p, err
	}
	operations, traces := trace.parts(op)
	p.parts = make([]*session, len(operations))
	for i, part := range operations {
		if len(op.Parts) > 0 && (part.Changes != changes || !changes && Varies(part) || traces[i].Length == 0) {
			continue
		}
		if p.parts[i], err = newSession(ctx, conn, part, &traces[i]); err != nil {
			return p, err
		}
	}
	return p, nil
}

// at is what is played at a position, and where in its own trace; nil where
// nothing is.
func (p *player) at(position int) (*session, int) {
	part, own := p.choice.At(position)
	return p.parts[part], own
}

func (p *player) do(ctx context.Context, position int) error {
	part, own := p.at(position)
	if part == nil {
		return nil
	}
	return part.do(ctx, own, false)
}

func (p *player) close() error {
	errs := []error{p.choice.Close()}
	for _, part := range p.parts {
		if part != nil {
			errs = append(errs, part.close())
		}
	}
	return errors.Join(errs...)
}

// Digester digests what an operation answers that changes nothing, or what those
// parts of a mix do.
type Digester struct {
	conn   *sql.Conn
	op     assay.Operation
	trace  *Trace
	player *player          // nil until something is digested
	known  map[place]string // nil where the data change meanwhile
	// changes plays what changes the data meanwhile.
	changes *player
}

type place struct {
	part     *session
	position int
}

// at is what is digested at a position, and where in its own trace; nil where data
// are changed, or the answer is another one each time.
func (t *Digester) at(ctx context.Context, position int) (part *session, own int, err error) {
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
func (t *Digester) Digest(ctx context.Context, position int) (digest string, err error) {
	part, own, err := t.at(ctx, position)
	if err != nil || part == nil {
		return "", err
	}
	if part.trace.Columns() == 0 {
		own = 0 // without arguments it has one answer
	}
	digest, known := t.known[place{part, own}]
	if known {
		return digest, nil
	}
	digest, err = part.digest(ctx, own, max(1, t.op.Transaction))
	if err == nil && t.known != nil {
		t.known[place{part, own}] = digest
	}
	return digest, err
}

func (t *Digester) close() error {
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

// digest digests the answers at some positions, apart from all others.
func (s *session) digest(ctx context.Context, position, count int) (string, error) {
	for i := range s.steps {
		if st := &s.steps[i]; st.Query {
			st.hash = answer.New(assay.TypeNames(st.Returns))
		}
	}
	for i := range count {
		if err := s.run(ctx, position+i, true, false); err != nil {
			return "", err
		}
	}
	return s.sum().Digest, nil
}
