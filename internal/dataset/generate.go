package dataset

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"assay"
	"assay/internal/dataset/seeded"
	"assay/kit/column"
)

// generator draws the rows of a table or of an operation's arguments.
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
	form numberForm // of whole numbers with a format
	// grown is, for each row, by how much the range of latest has grown; nil:
	// by nothing.
	grown []int64
	// Of from and row, what was drawn for each row.
	picked []any
	asked  any         // of an expression and a key, what its group has for the row
	found  column.Type // of what SQL gives
}

// newGenerator checks how the columns are to be drawn; labels name them in
// errors.
func newGenerator(seed uint64, stream string, labels []string, values []assay.Values) (*generator, error) {
	g := &generator{seed: seed, stream: stream, columns: make([]drawn, len(values))}
	for i, v := range values {
		if err := checkValues(v, values[:i]); err != nil {
			return nil, fmt.Errorf("%s: %w", labels[i], err)
		}
		g.columns[i] = drawn{Values: v, key: seeded.Key(seed, stream, i)}
		switch items := uint64(v.To-v.From) + 1; {
		case v.Draw == assay.Scrambled:
			g.columns[i].zipf = scrambled
		case v.Kind == assay.From || v.Kind == assay.Row: // of rows that are counted later
		case v.Kind == assay.Zipf || v.Draw == assay.Zipf || v.Draw == assay.Latest:
			g.columns[i].zipf = newZipf(items, zetaSum(items, v.Theta), v.Theta)
		}
		g.columns[i].form = newNumberForm(v.Format)
	}
	return g, nil
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
	w := seeded.WordsOf(d.key, row)
	if d.Null > 0 && seeded.Fraction(w.At(0)) < d.Null {
		return nil
	}
	switch d.Kind {
	case assay.Seq:
		return d.form.of(d.From + int64(row)*cmp.Or(d.Step, 1))
	case assay.Uniform:
		return d.form.of(d.From + int64(seeded.Below(w.At(1), uint64(d.To-d.From)+1)))
	case assay.Zipf:
		return d.form.of(d.From + int64(scatter(d.zipf.rank(seeded.Fraction(w.At(1))), d.zipf.items)))
	case assay.Real:
		return drawReal(seeded.Fraction(w.At(1)), d.Low, d.High)
	case assay.Text:
		return seeded.Text(w, d.Length)
	case assay.Blob:
		return seeded.Blob(w, d.Length)
	case assay.Key, assay.Expression:
		return d.asked
	case assay.Same:
		return left[d.Of]
	case assay.Bool:
		return w.At(1)>>63 != 0
	case assay.Derive:
		return d.derive(left[d.Of])
	case assay.From, assay.Row:
		return d.picked[row]
	}
	return d.Value // const; checkValues let no other kind pass
}

// drawReal converts explicitly so that no compiler fuses the product with the
// sum: the result would differ between processors.
func drawReal(u, low, high float64) float64 {
	v := low + float64(u*(high-low))
	if v >= high {
		return math.Nextafter(high, low)
	}
	return v
}

func (d *drawn) derive(of any) any {
	v, ok := of.(int64)
	if !ok {
		return nil // NULL: checkValues let only integers pass
	}
	n := v*d.Mul + d.Add
	if d.Mod > 0 {
		high, low := bits.Mul64(residue(v, d.Mod), residue(d.Mul, d.Mod))
		low, carry := bits.Add64(low, residue(d.Add, d.Mod), 0)
		n = int64(bits.Rem64(high+carry, low, uint64(d.Mod)))
	}
	return d.form.of(n)
}

// residue returns v mod m in [0, m).
func residue(v, m int64) uint64 {
	if v %= m; v < 0 {
		v += m
	}
	return uint64(v)
}

func (g *generator) types() []column.Type {
	types := make([]column.Type, len(g.columns))
	for i, c := range g.columns {
		types[i] = columnType(c.Values)
		if c.Kind == assay.From || c.Kind == assay.Row || c.Kind == assay.Expression {
			types[i] = c.found
		}
	}
	return types
}

func columnType(v assay.Values) column.Type {
	switch v.Kind {
	case assay.Real:
		return column.Real
	case assay.Text:
		return column.Text
	case assay.Blob, assay.Key, assay.Same:
		return column.Blob
	case assay.Bool:
		return column.Bool
	case assay.Seq, assay.Uniform, assay.Zipf, assay.Derive:
		if v.Format != "" {
			return column.Text
		}
	case assay.Const:
		return constantType(v.Value)
	}
	return column.Int
}

func constantType(value any) column.Type {
	switch value.(type) {
	case float64:
		return column.Real
	case string:
		return column.Text
	case bool:
		return column.Bool
	}
	return column.Int
}

// constantTypes tells constants apart that JSON writes alike: 1 and 1.0.
func constantTypes(values []assay.Values) []string {
	types := make([]string, len(values))
	for i, v := range values {
		types[i] = fmt.Sprintf("%T", v.Value)
	}
	return types
}

// check says what is wrong with a dataset before any file is touched.
func check(ds assay.Dataset) error {
	if (ds.File == "") == (ds.Schema == "") {
		return fmt.Errorf("want a schema or a file, one of them")
	}
	if ds.File != "" && len(ds.Tables) > 0 {
		return fmt.Errorf("tables are not generated into a file of your own")
	}
	for _, table := range ds.Tables {
		if table.Rows < 0 {
			return fmt.Errorf("table %q: %d rows", table.Name, table.Rows)
		}
		if table.Select != "" {
			continue
		}
		if table.Rows > 0 && len(table.Columns) == 0 {
			return fmt.Errorf("table %q: no columns to fill", table.Name)
		}
		if _, err := tableGenerator(ds.Seed, table); err != nil {
			return err
		}
	}
	return checkFileSettings(ds.FileSettings)
}

func tableGenerator(seed uint64, table assay.Table) (*generator, error) {
	var labels []string
	var values []assay.Values
	for _, c := range table.Columns {
		label := "column " + strconv.Quote(c.Name)
		if slices.Contains(labels, label) {
			return nil, fmt.Errorf("table %q: two of %s", table.Name, label)
		}
		if kind := c.Values.Kind; kind == assay.From || kind == assay.Row || kind == assay.Expression || kind == assay.Key {
			return nil, fmt.Errorf("table %q, %s: only arguments are drawn from data", table.Name, label)
		}
		labels = append(labels, label)
		values = append(values, c.Values)
	}
	g, err := newGenerator(seed, "table/"+table.Name, labels, values)
	if err != nil {
		return nil, fmt.Errorf("table %q, %w", table.Name, err)
	}
	return g, nil
}
