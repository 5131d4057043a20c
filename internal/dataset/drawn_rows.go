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
	"strings"

	"assay"
	"assay/internal/dataset/seeded"
	"assay/internal/plan/sqltext"
	"assay/kit/column"
)

// existing is a table or a query that arguments are drawn from, with the columns
// that they take.
type existing struct {
	table   string
	source  string // SQL of a query; empty: the table
	columns []string
	types   []column.Type
	rows    int // that have a value in each of the columns
}

// pick is a row of a table that is drawn for one position of a trace.
type pick struct{ ordinal, position, of int }

// arguments returns a generator of an operation's arguments for the positions
// below length, which close ends.
func (d *Data) arguments(ctx context.Context, op assay.Operation, length int) (g *generator, err error) {
	g, err = argumentGenerator(d.Spec.Seed, op)
	if err != nil {
		return nil, err
	}
	tables := g.existing()
	if len(tables) == 0 && len(g.groups) == 0 && !slices.ContainsFunc(g.columns, drawn.continues) {
		return g, nil
	}
	if g.session, g.done, err = d.session(ctx, d.drawn); err != nil {
		return nil, err
	}
	if err := g.draw(ctx, tables, length); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

// draw draws what does not depend on the order of the positions.
func (g *generator) draw(ctx context.Context, tables []*existing, length int) error {
	if err := g.continueColumns(ctx, g.session.Conn); err != nil {
		return err
	}
	for _, table := range tables {
		err := table.count(ctx, g.session.Conn)
		if err == nil {
			err = table.fill(ctx, g.session.Conn, g, length)
		}
		if err != nil {
			return fmt.Errorf("draw from table %q: %w", table.table, err)
		}
	}
	for _, group := range g.groups {
		if err := group.prepare(ctx, g, length); err != nil {
			return fmt.Errorf("%w; the SQL is:\n%s", err, group.query)
		}
	}
	return nil
}

// continues reports whether values continue a column of the data.
func (d drawn) continues() bool { return d.Kind == assay.Seq && d.Table != "" }

// continueColumns begins behind the greatest values that columns have.
func (g *generator) continueColumns(ctx context.Context, conn *sql.Conn) error {
	for i := range g.columns {
		c := &g.columns[i]
		if !c.continues() {
			continue
		}
		var greatest int64
		query := fmt.Sprintf("SELECT CAST(coalesce(max(%s), 0) AS INTEGER) FROM %s", sqltext.Quote(c.Column), sqltext.Quote(c.Table))
		if err := conn.QueryRowContext(ctx, query).Scan(&greatest); err != nil {
			return fmt.Errorf("continue %s.%s: %w", c.Table, c.Column, err)
		}
		if greatest > math.MaxInt64/2 {
			return fmt.Errorf("continue %s.%s: its greatest value, %d, leaves no room: write {seq: FROM} with a free range", c.Table, c.Column, greatest)
		}
		c.From += greatest + 1
	}
	return nil
}

// existing returns the tables that columns are drawn from, in their order.
func (g *generator) existing() []*existing {
	var all []*existing
	for i := range g.columns {
		c := &g.columns[i]
		if c.Kind != assay.From {
			continue
		}
		at := slices.IndexFunc(all, func(e *existing) bool { return e.table == c.Table })
		if at < 0 {
			at = len(all)
			all = append(all, &existing{table: c.Table, source: c.Query})
		}
		if !slices.Contains(all[at].columns, c.Column) {
			all[at].columns = append(all[at].columns, c.Column)
		}
	}
	return all
}

// count finds how many rows there are to draw, and the types of their values.
func (e *existing) count(ctx context.Context, conn *sql.Conn) error {
	asked, into := []string{"count(*)"}, []any{&e.rows}
	found := make([][2]sql.NullString, len(e.columns))
	for i, name := range e.columns {
		kind := "typeof(" + e.name(name) + ")"
		asked = append(asked, "min("+kind+")", "max("+kind+")")
		into = append(into, &found[i][0], &found[i][1])
	}
	if err := conn.QueryRowContext(ctx, e.query(asked)).Scan(into...); err != nil {
		return err
	}
	if e.rows == 0 {
		return fmt.Errorf("it has no row with a value in %s", strings.Join(e.columns, " and "))
	}
	for i, name := range e.columns {
		kind, ok := typeOfAll(found[i][0].String, found[i][1].String)
		if !ok {
			return fmt.Errorf("column %q has values of several types, %s and %s, and an argument is of one", name, found[i][0].String, found[i][1].String)
		}
		e.types = append(e.types, kind)
	}
	return nil
}

// typeOfAll returns the type of values, given the first and the last of their
// types by name. Integers among floats become floats, which compare alike.
func typeOfAll(first, last string) (column.Type, bool) {
	types := map[[2]string]column.Type{
		{"integer", "integer"}: column.Int, {"integer", "real"}: column.Real, {"real", "real"}: column.Real,
		{"text", "text"}: column.Text, {"blob", "blob"}: column.Blob,
	}
	kind, ok := types[[2]string{first, last}]
	return kind, ok
}

// fill gives the generator's columns their values. The table is read once, from
// its beginning to the last row that is wanted.
func (e *existing) fill(ctx context.Context, conn *sql.Conn, g *generator, length int) error {
	picks := e.picks(g, length)
	if len(picks) == 0 {
		return nil
	}
	values := make([]string, len(e.columns))
	for i, name := range e.columns {
		values[i] = "+" + e.name(name) // as it is stored: the driver makes times of dates
	}
	rows, err := conn.QueryContext(ctx, e.query(values))
	if err != nil {
		return err
	}
	return readPicks(rows, picks, func(p pick, row []any) { e.take(g, p, row) })
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

// picks draws rows for all positions and prepares the columns for them.
func (e *existing) picks(g *generator, length int) []pick {
	var picks []pick
	drawn := map[int]bool{}
	for i := range g.columns {
		c := &g.columns[i]
		if c.Kind != assay.From || c.Table != e.table {
			continue
		}
		c.picked = make([]any, length)
		c.found = e.types[slices.Index(e.columns, c.Column)]
		if drawn[c.Of] {
			continue
		}
		drawn[c.Of] = true
		choose := c.rows(uint64(e.rows), seeded.Key(g.seed, g.stream+"/"+e.table, c.Of))
		for position := range length {
			picks = append(picks, pick{int(choose(position)), position, c.Of})
		}
	}
	return picks
}

// rows returns which of n rows is drawn at a position.
func (d *drawn) rows(n, key uint64) func(position int) uint64 {
	turn := func(position int) uint64 { return uint64(position)*uint64(max(1, d.Step)) + uint64(d.From) }
	word := func(position int) uint64 { return seeded.WordsOf(key, int(turn(position))).At(1) }
	switch d.Draw {
	case assay.InOrder:
		return func(position int) uint64 { return turn(position) % n }
	case assay.Once:
		scattered := scatteredOver(n)
		return func(position int) uint64 { return scattered(turn(position) % n) }
	case assay.Zipf, assay.Latest:
		z := newZipf(n, zetaSum(n, d.Theta), d.Theta)
		if d.Draw == assay.Latest {
			return func(position int) uint64 { return n - 1 - z.rank(seeded.Fraction(word(position))) }
		}
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

// take gives the columns that draw from a picked row its values.
func (e *existing) take(g *generator, p pick, row []any) {
	for i := range g.columns {
		c := &g.columns[i]
		if c.Kind != assay.From || c.Table != e.table || c.Of != p.of {
			continue
		}
		value := row[slices.Index(e.columns, c.Column)]
		if whole, ok := value.(int64); ok && c.found == column.Real {
			value = float64(whole)
		}
		c.picked[p.position] = value
	}
}

// query selects from the rows that have a value in each of the columns.
func (e *existing) query(selected []string) string {
	conditions := make([]string, len(e.columns))
	for i, name := range e.columns {
		conditions[i] = e.name(name) + " IS NOT NULL"
	}
	from := sqltext.Quote(e.table)
	if e.source != "" {
		from = "(" + e.source + "\n) AS " + from
	}
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s", strings.Join(selected, ", "), from, strings.Join(conditions, " AND "))
}

// name is a column with its table: an unknown name that stands alone in quotes
// is a text to SQLite.
func (e *existing) name(column string) string {
	return sqltext.Quote(e.table) + "." + sqltext.Quote(column)
}

// Choices is how many different rows the arguments of an operation can name:
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

// largest is how many rows the largest table has.
func (d *Data) largest(ctx context.Context) (rows int64, err error) {
	var conn *sql.Conn
	for _, table := range d.Spec.Tables {
		count := int64(table.Rows)
		if table.Select != "" && count == 0 {
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

// countExisting is how many rows the largest table has that arguments are
// drawn from.
func (d *Data) countExisting(ctx context.Context, op assay.Operation) (rows int64, err error) {
	if !slices.ContainsFunc(arguments(op), func(v assay.Values) bool { return v.Kind == assay.From || v.Kind == assay.Row }) {
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
	conn, tables := g.session.Conn, g.existing()
	for _, table := range tables {
		if err := table.count(ctx, conn); err != nil {
			return 0, fmt.Errorf("count the rows of table %q: %w", table.table, err)
		}
		rows = max(rows, int64(min(table.rows, math.MaxInt32)))
	}
	return rows, nil
}
