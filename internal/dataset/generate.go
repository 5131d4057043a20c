package dataset

import (
	"fmt"

	"assay"
	"assay/internal/dataset/seeded"
	"assay/kit/column"
)

// generator draws the rows of an operation's arguments.
type generator struct {
	seed    uint64
	stream  string
	columns []drawn
	groups  []*group
	session *seeded.Session // of the data that groups and rows are drawn from; nil: of none
	done    func() error    // closes the session
}

// drawn is one column with what is computed once.
type drawn struct {
	assay.Values
	key  uint64
	zipf *zipf
	// grown is, for each row, by how much the range of latest has grown; nil:
	// by nothing.
	grown []int64
	// Of row, what was drawn for each position.
	picked []any
	asked  any         // of an expression and a key, what its group has for the row
	found  column.Type // of what SQL gives
}

// newGenerator prepares to draw the arguments of an operation. Columns that one row of SQL gives
// are a group: those of a statement from one query.
func newGenerator(seed uint64, op assay.Operation) *generator {
	g := &generator{seed: seed, stream: "operation/" + op.Name}
	for i, step := range op.Steps {
		first := len(g.groups)
		for _, v := range step.Args {
			at := len(g.columns)
			g.columns = append(g.columns, newDrawn(v, seeded.Key(seed, g.stream, at)))
			if v.Kind == assay.Expression || v.Kind == assay.Row || v.Kind == assay.Key {
				g.join(first, at, fmt.Sprintf("%s/%d", g.stream, i))
			}
		}
	}
	return g
}

func newDrawn(v assay.Values, key uint64) drawn {
	d := drawn{Values: v, key: key}
	switch items := uint64(v.To-v.From) + 1; {
	case v.Draw == assay.Scrambled:
		d.zipf = scrambled
	case v.Kind == assay.Row: // of rows that are counted later
	case v.Draw == assay.Zipf || v.Draw == assay.Latest:
		d.zipf = newZipf(items, zetaSum(items, v.Theta), v.Theta)
	}
	return d
}

// row draws a row into a slice of as many values as there are columns. What SQL gives
// comes in the order that open was told.
func (g *generator) row(row int, into []any) error {
	for _, group := range g.groups {
		if err := group.next(g); err != nil {
			return err
		}
	}
	for i := range g.columns {
		into[i] = g.columns[i].draw(row, into[:i])
	}
	return nil
}

func (d *drawn) draw(row int, left []any) any {
	switch d.Kind {
	case assay.Same:
		return left[d.Of]
	case assay.Row:
		return d.picked[row]
	case assay.Uniform:
		return d.From + int64(seeded.Below(seeded.WordsOf(d.key, row).At(1), uint64(d.To-d.From)+1))
	}
	return d.asked
}

func (g *generator) types() []column.Type {
	types := make([]column.Type, len(g.columns))
	for i, c := range g.columns {
		switch c.Kind {
		case assay.Row, assay.Expression:
			types[i] = c.found
		case assay.Key, assay.Same:
			types[i] = column.Blob
		default:
			types[i] = column.Int
		}
	}
	return types
}
