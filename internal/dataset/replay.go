package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"assay"
	"assay/kit/column"
)

// Watch looks at the data while operations are done, or has logged what changes.
type Watch struct {
	Begin func(context.Context, *sql.Conn) error // before all; nil: nothing is to be done
	// End comes after each phase. The teller tells what is answered meanwhile.
	End func(context.Context, *sql.Conn, *Teller) error
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
	t := &Teller{conn: conn, op: op, trace: trace}
	defer func() { err = errors.Join(err, t.close()) }()
	for _, positions := range phases {
		if err := batches(ctx, conn, 0, len(positions), func(i int) error { return p.do(ctx, positions[i]) }); err != nil {
			return err
		}
		if err := watch.End(ctx, conn, t); err != nil {
			return err
		}
	}
	return nil
}

// ReplayedState is the digest of the answer to the operation's check after the operation
// was done at the positions of each phase, in their order.
func (d *Data) ReplayedState(ctx context.Context, op assay.Operation, trace *Trace, phases [][]int) (state string, err error) {
	end := func(ctx context.Context, conn *sql.Conn, _ *Teller) (err error) {
		state, err = answerDigest(ctx, conn, *op.Check)
		return err
	}
	return state, d.Replay(ctx, op, trace, phases, Watch{End: end})
}

// player plays an operation, or of a mix those parts that change data, or those of
// the others that have one answer.
type player struct {
	choice *column.File // of a mix: the part and its position; nil elsewhere
	parts  []*session   // nil for a part that is not played
}

func newPlayer(ctx context.Context, conn *sql.Conn, op assay.Operation, trace *Trace, changes bool) (p *player, err error) {
	p = &player{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if len(op.Parts) == 0 {
		s, err := newSession(ctx, conn, op, trace)
		p.parts = append(p.parts, s)
		return p, err
	}
	if len(trace.Parts) != len(op.Parts) {
		return p, fmt.Errorf("operation %q has %d parts, its trace %d", op.Name, len(op.Parts), len(trace.Parts))
	}
	if p.choice, err = trace.open(); err != nil {
		return p, err
	}
	if p.choice.Columns() != 2 || p.choice.Rows() == 0 {
		return p, fmt.Errorf("%s is not the trace of a mix, or empty", trace.Path)
	}
	p.parts = make([]*session, len(op.Parts))
	for i, part := range op.Parts {
		if part.Operation.Changes != changes || !changes && Varies(part.Operation) || trace.Parts[i].Length == 0 {
			continue
		}
		if p.parts[i], err = newSession(ctx, conn, part.Operation, &trace.Parts[i]); err != nil {
			return p, err
		}
	}
	return p, nil
}

// at is what is played at a position, and where in its own trace; nil where
// nothing is.
func (p *player) at(position int) (*session, int) {
	if p.choice == nil {
		return p.parts[0], position
	}
	position %= p.choice.Rows()
	return p.parts[p.choice.Int(0, position)], int(p.choice.Int(1, position))
}

func (p *player) do(ctx context.Context, position int) error {
	part, own := p.at(position)
	if part == nil {
		return nil
	}
	return part.do(ctx, own, false)
}

func (p *player) close() error {
	var errs []error
	if p.choice != nil {
		errs = append(errs, p.choice.Close())
	}
	for _, part := range p.parts {
		if part != nil {
			errs = append(errs, part.close())
		}
	}
	return errors.Join(errs...)
}
