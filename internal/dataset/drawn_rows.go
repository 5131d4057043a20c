package dataset

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"assay"
	"assay/internal/dataset/seeded"
	"assay/internal/plan/sqltext"
)

// pick is a row that is drawn for one position of a trace.
type pick struct{ ordinal, position int }

// arguments returns a generator of an operation's arguments for the positions
// below length, which close ends.
func (d *Data) arguments(ctx context.Context, op assay.Operation, length int) (g *generator, err error) {
	g = newGenerator(d.Spec.Seed, op)
	if len(g.groups) == 0 {
		return g, nil
	}
	if g.session, g.done, err = d.session(ctx, d.drawn); err != nil {
		return nil, err
	}
	if err := g.draw(ctx, length); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

// draw draws what does not depend on the order of the positions.
func (g *generator) draw(ctx context.Context, length int) error {
	for _, group := range g.groups {
		if err := group.prepare(ctx, g, length); err != nil {
			return fmt.Errorf("%w; the SQL is:\n%s", err, group.query)
		}
	}
	return nil
}

// readPicks reads the rows of an answer up to the last that was drawn. picks come in any
// order.
func readPicks(rows *sql.Rows, picks []pick, take func(p pick, row []any)) error {
	slices.SortFunc(picks, func(a, b pick) int { return cmp.Compare(a.ordinal, b.ordinal) })
	ordinal := 0
	err := Visit(rows, func(row []any) error {
		for len(picks) > 0 && picks[0].ordinal == ordinal {
			take(picks[0], row)
			picks = picks[1:]
		}
		ordinal++
		if len(picks) == 0 {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return cmp.Or(err, errors.New("it has fewer rows than were counted"))
}

// errEnough ends the reading of a table.
var errEnough = errors.New("enough rows")

// rows returns which of n rows is drawn at a position.
func (d *drawn) rows(n, key uint64) func(position int) uint64 {
	turn := func(position int) uint64 { return uint64(position)*uint64(max(1, d.Step)) + uint64(d.From) }
	word := func(position int) uint64 { return seeded.WordsOf(key, int(turn(position))).At(1) }
	switch d.Draw {
	case assay.InOrder:
		return func(position int) uint64 { return turn(position) % n }
	case assay.Zipf:
		z := newZipf(n, zetaSum(n, d.Theta), d.Theta)
		scattered := scatteredOver(n)
		return func(position int) uint64 { return scattered((z.rank(seeded.Fraction(word(position))) + 1) % n) }
	}
	return func(position int) uint64 { return seeded.Below(word(position), n) }
}

// scatteredOver takes each number below n to another one.
func scatteredOver(n uint64) func(i uint64) uint64 {
	step := scatteringStep(n)
	return func(i uint64) uint64 {
		high, low := bits.Mul64(i, step)
		return bits.Rem64(high, low, n)
	}
}

// scatteringStep is a step with which a walk around n rows meets each of them
// once: prime to n, and near the golden ratio's share of it, so that rows which
// follow each other lie apart.
func scatteringStep(n uint64) uint64 {
	step := max(1, uint64(float64(n)*(math.Sqrt(5)-1)/2))
	for divisor(step, n) > 1 {
		step++
	}
	return step
}

// divisor is the greatest common one.
func divisor(a, b uint64) uint64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// Choices returns how many different rows the arguments of an operation can name:
// the widest range that one of them is drawn from, and no more than the largest
// table has rows. most stands for what cannot be known of a user's own file.
func (d *Data) Choices(ctx context.Context, op assay.Operation, most int64) (choices int64, err error) {
	rows, err := d.largest(ctx)
	if err != nil {
		return 0, err
	}
	if len(d.Spec.Tables) == 0 {
		rows = most
	}
	for _, v := range arguments(op) {
		named := v.Range()
		if v.Kind == assay.Expression {
			named = rows
		}
		choices = max(choices, min(named, rows))
	}
	existing, err := d.countExisting(ctx, op)
	return max(choices, existing), err
}

// largest returns how many rows the largest table has.
func (d *Data) largest(ctx context.Context) (rows int64, err error) {
	var conn *sql.Conn
	for _, table := range d.Spec.Tables {
		count := int64(table.Rows)
		if count == 0 {
			if conn == nil {
				var done func() error
				if conn, done, err = d.connect(ctx, false); err != nil {
					return 0, err
				}
				defer func() { err = errors.Join(err, done()) }()
			}
			if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM "+sqltext.Quote(table.Name)).Scan(&count); err != nil {
				return 0, err
			}
		}
		rows = max(rows, count)
	}
	return rows, nil
}

// countExisting returns how many rows the largest table has that arguments are
// drawn from.
func (d *Data) countExisting(ctx context.Context, op assay.Operation) (rows int64, err error) {
	if !slices.ContainsFunc(arguments(op), func(v assay.Values) bool { return v.Kind == assay.Row }) {
		return 0, nil
	}
	g, err := d.arguments(ctx, op, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	for _, gr := range g.groups {
		if gr.of(g).Kind == assay.Row {
			rows = max(rows, gr.there)
		}
	}
	return rows, nil
}
