package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"assay"
	"assay/internal/dataset/seeded"
	"assay/kit/column"
)

// keyStream is the stream of what is random in keys: the same number has the same key,
// whichever operation draws it.
const keyStream = "key"

// group are columns that one row of SQL gives together.
type group struct {
	query   string
	columns []int // of the generator, in the order of the query's
	stream  string
	read    func() ([]any, error)
	rows    *sql.Rows
	there   int64 // rows that there are to draw
}

// join puts a column into the group of its query, of those from first on.
func (g *generator) join(first, column int, stream string) {
	c := g.columns[column].Values
	for _, other := range g.groups[first:] {
		o := g.columns[other.columns[0]].Values
		if o.Kind == c.Kind && c.Kind != assay.Key && o.Query == c.Query && o.From == c.From && o.Draw == c.Draw {
			other.columns = append(other.columns, column)
			return
		}
	}
	if c.Kind == assay.Key {
		stream = keyStream
	}
	g.groups = append(g.groups, &group{query: c.Query, columns: []int{column}, stream: stream})
}

func (gr *group) of(g *generator) *drawn { return &g.columns[gr.columns[0]] }

// each says for which numbers an expression is evaluated, in an order of the positions.
func (gr *group) each(g *generator, rows int, order func(int) int) seeded.Each {
	d := gr.of(g)
	at := func(row int) (int64, int) {
		number := d.From + int64(order(row))*max(1, d.Step)
		return number + 1, int(number)
	}
	if d.Kind == assay.Key {
		at = func(row int) (int64, int) {
			position := order(row)
			number := d.index(seeded.WordsOf(d.key, position), position)
			return number + 1, int(number)
		}
	}
	return seeded.Each{Stream: gr.stream, Rows: rows, At: at}
}

// open begins to evaluate expressions and keys, in an order of the positions.
func (g *generator) open(ctx context.Context, length int, order func(int) int) error {
	for _, gr := range g.groups {
		if gr.of(g).Kind == assay.Row {
			continue
		}
		if err := errors.Join(gr.close(), gr.open(ctx, g, gr.each(g, length, order))); err != nil {
			return fmt.Errorf("%w; the SQL is:\n%s", err, gr.query)
		}
	}
	return nil
}

// open takes values as they are stored: of a column, the driver makes times of dates.
func (gr *group) open(ctx context.Context, g *generator, each seeded.Each) (err error) {
	query, err := g.session.Over(ctx, gr.query, each)
	if err != nil {
		return err
	}
	if gr.rows, err = g.session.QueryContext(ctx, ofAnswer(query, len(gr.columns), false)); err != nil {
		return err
	}
	gr.read, err = rowReader(gr.rows)
	return err
}

func (gr *group) close() error {
	if gr.rows == nil {
		return nil
	}
	return gr.rows.Close()
}

// next takes the next row over into the columns.
func (gr *group) next(g *generator) error {
	if gr.of(g).Kind == assay.Row {
		return nil
	}
	row, err := gr.read()
	if err != nil {
		return fmt.Errorf("%w; the SQL is:\n%s", err, gr.query)
	}
	for _, i := range gr.columns {
		c := &g.columns[i]
		c.asked = row[c.Of]
		if found, ok := typeOfBoth(c.found, c.asked); !ok || found != c.found {
			return fmt.Errorf("%w; the SQL is:\n%s", severalTypes(c.Of), gr.query)
		}
		if whole, ok := c.asked.(int64); ok && c.found == column.Real {
			c.asked = float64(whole)
		}
	}
	return nil
}

// rowReader returns a function that reads one row after the other. Its slice is reused.
func rowReader(rows *sql.Rows) (func() ([]any, error), error) {
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	row, targets := make([]any, len(names)), make([]any, len(names))
	for i := range row {
		targets[i] = &row[i]
	}
	return func() ([]any, error) {
		if !rows.Next() {
			return nil, errors.Join(rows.Err(), errors.New("it gives fewer rows than there are operations"))
		}
		return row, rows.Scan(targets...)
	}, nil
}

// typedRows is of how many rows the types of an expression are taken.
const typedRows = 1000

// prepare finds the types of a group's columns and, of rows, draws them.
func (gr *group) prepare(ctx context.Context, g *generator, length int) error {
	err := gr.describe(ctx, g, min(length, typedRows))
	if err != nil || gr.of(g).Kind != assay.Row || length == 0 {
		return err
	}
	return gr.drawRows(ctx, g, length)
}

// storage are SQLite's names of types.
var storage = map[string]column.Type{"integer": column.Int, "real": column.Real, "text": column.Text, "blob": column.Blob}

func severalTypes(column int) error {
	return fmt.Errorf("column %d has values of several types, and an argument is of one: use CAST", column+1)
}

// typeOfBoth is the type of values so far and another one. Integers among floats become
// floats, which compare alike.
func typeOfBoth(before column.Type, value any) (column.Type, bool) {
	var found column.Type
	switch value.(type) {
	case nil:
		return before, true
	case int64:
		found = column.Int
	case float64:
		found = column.Real
	case string:
		found = column.Text
	case []byte:
		found = column.Blob
	}
	return common(before, found)
}

// common is the type of values of two types; 0 is that of no value.
func common(before, found column.Type) (column.Type, bool) {
	numbers := []column.Type{column.Int, column.Real}
	switch {
	case before == 0 || before == found:
		return found, found != 0
	case slices.Contains(numbers, before) && slices.Contains(numbers, found):
		return column.Real, true
	}
	return before, false
}

// drawRows reads the answer of a query, and keeps the rows that are drawn.
func (gr *group) drawRows(ctx context.Context, g *generator, length int) error {
	picks := make([]pick, 0, length)
	choose := gr.of(g).rows(uint64(gr.there), seeded.Key(g.seed, gr.stream, 0))
	for position := range length {
		picks = append(picks, pick{int(choose(position)), position})
	}
	for _, i := range gr.columns {
		g.columns[i].picked = make([]any, length)
	}
	query, err := gr.answer(ctx, g, 0)
	if err != nil {
		return err
	}
	rows, err := g.session.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	return readPicks(rows, picks, func(p pick, row []any) {
		for _, i := range gr.columns {
			c := &g.columns[i]
			value := row[c.Of]
			if whole, ok := value.(int64); ok && c.found == column.Real {
				value = float64(whole)
			}
			c.picked[p.position] = value
		}
	})
}

// answer is a query of what the group gives, which is evaluated for so many positions where it
// draws no rows, or of something of that. What draws itself is evaluated once for each row.
func (gr *group) answer(ctx context.Context, g *generator, positions int, selected ...string) (query string, err error) {
	if query = gr.query; gr.of(g).Kind == assay.Row {
		err = g.session.Begin(ctx, gr.stream)
	} else {
		query, err = g.session.Over(ctx, query, gr.each(g, positions, func(i int) int { return i }))
	}
	return ofAnswer(query, len(gr.columns), seeded.Draws(gr.query), selected...), err
}

// describe counts the rows that a group gives, and finds their types.
func (gr *group) describe(ctx context.Context, g *generator, positions int) error {
	asked, into := []string{"count(*)"}, []any{&gr.there}
	found := make([][2]sql.NullString, len(gr.columns))
	for i := range gr.columns {
		kind := fmt.Sprintf("nullif(typeof(c%d), 'null')", i+1)
		asked = append(asked, "min("+kind+")", "max("+kind+")")
		into = append(into, &found[i][0], &found[i][1])
	}
	query, err := gr.answer(ctx, g, positions, asked...)
	if err != nil {
		return err
	}
	if err := g.session.QueryRowContext(ctx, query).Scan(into...); err != nil {
		return err
	}
	if gr.there == 0 && gr.of(g).Kind == assay.Row {
		return errors.New("it gives no row to draw")
	}
	for i, at := range gr.columns {
		kind, ok := column.Int, true // of NULL alone
		if found[i][0].Valid {       // integers come before reals, and all others are alone
			kind, ok = common(storage[found[i][0].String], storage[found[i][1].String])
		}
		if !ok {
			return severalTypes(i)
		}
		g.columns[at].found = kind
	}
	return nil
}

// close ends what open and arguments began.
func (g *generator) close() error {
	var errs []error
	for _, gr := range g.groups {
		errs = append(errs, gr.close())
	}
	if g.done != nil {
		errs = append(errs, g.done())
	}
	return errors.Join(errs...)
}
