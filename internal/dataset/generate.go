package dataset

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"assay"
	"assay/kit/column"
)

const golden = 0x9e3779b97f4a7c15

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func streamKey(seed uint64, stream string, column int) uint64 {
	hash := fnv.New64a()
	hash.Write([]byte(stream))
	return mix(mix(mix(seed+golden)^hash.Sum64()) + golden*uint64(column+1))
}

// words are the random words of one value; word i is words.at(i).
type words uint64

func wordsOf(key uint64, row int) words { return words(mix(key + golden*uint64(row+1))) }

func (w words) at(i int) uint64 { return mix(uint64(w) + golden*uint64(i+1)) }

// below returns a number of [0, n); n = 0 stands for 2^64.
func below(x, n uint64) uint64 {
	if n == 0 {
		return x
	}
	high, _ := bits.Mul64(x, n)
	return high
}

func fraction(x uint64) float64 { return float64(x>>11) / (1 << 53) }

// generator draws the rows of a table or of an operation's arguments.
type generator struct {
	seed    uint64
	stream  string
	columns []drawn
}

// drawn is one column with what is computed once.
type drawn struct {
	assay.Values
	key  uint64
	zipf *zipf
	text *keyText
	form numberForm // of whole numbers with a format
	// grown is, for each row, by how much the range of latest has grown; nil:
	// by nothing.
	grown []int64
	// Of from, what was drawn for each row.
	picked     []any
	pickedType column.Type
}

// newGenerator checks how the columns are to be drawn; labels name them in
// errors.
func newGenerator(seed uint64, stream string, labels []string, values []assay.Values) (*generator, error) {
	g := &generator{seed: seed, stream: stream, columns: make([]drawn, len(values))}
	for i, v := range values {
		if err := checkValues(v, values[:i]); err != nil {
			return nil, fmt.Errorf("%s: %w", labels[i], err)
		}
		g.columns[i] = drawn{Values: v, key: streamKey(seed, stream, i)}
		switch items := uint64(v.To-v.From) + 1; {
		case v.Draw == assay.Scrambled:
			g.columns[i].zipf = scrambled
		case v.Kind == assay.From: // of rows that are counted later
		case v.Kind == assay.Zipf || v.Draw == assay.Zipf || v.Draw == assay.Latest:
			g.columns[i].zipf = newZipf(items, zetaSum(items, v.Theta), v.Theta)
		}
		if v.Kind == assay.Key {
			g.columns[i].text = newKeyText(seed, v.Format)
		} else {
			g.columns[i].form = newNumberForm(v.Format)
		}
	}
	return g, nil
}

// row draws a row into a slice of as many values as there are columns.
func (g *generator) row(row int, into []any) {
	for i := range g.columns {
		into[i] = g.columns[i].draw(row, into[:i])
	}
}

func (d *drawn) draw(row int, left []any) any {
	w := wordsOf(d.key, row)
	if d.Null > 0 && fraction(w.at(0)) < d.Null {
		return nil
	}
	switch d.Kind {
	case assay.Seq:
		return d.form.of(d.From + int64(row)*cmp.Or(d.Step, 1))
	case assay.Uniform:
		return d.form.of(d.From + int64(below(w.at(1), uint64(d.To-d.From)+1)))
	case assay.Zipf:
		return d.form.of(d.From + int64(scatter(d.zipf.rank(fraction(w.at(1))), d.zipf.items)))
	case assay.Real:
		return drawReal(fraction(w.at(1)), d.Low, d.High)
	case assay.Text:
		return drawText(w, d.Length)
	case assay.Blob:
		return drawBlob(w, d.Length, d.Compress)
	case assay.Key:
		return d.text.of(d.index(w, row))
	case assay.Same:
		return left[d.Of]
	case assay.Bool:
		return w.at(1)>>63 != 0
	case assay.Derive:
		return d.derive(left[d.Of])
	case assay.From:
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

func drawText(w words, length int) string {
	text := make([]byte, length)
	var word uint64
	for j := range text {
		if j%4 == 0 {
			word = w.at(1 + j/4)
		}
		text[j] = 'a' + byte((word&0xffff)*26>>16)
		word >>= 16
	}
	return string(text)
}

func drawBlob(w words, length int, compress float64) []byte {
	blob := make([]byte, 0, length+7)
	for i := 1; len(blob) < length; i++ {
		blob = binary.LittleEndian.AppendUint64(blob, w.at(i))
	}
	clear(blob[length-int(math.Round(compress*float64(length))) : length])
	return blob[:length]
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
		if c.Kind == assay.From {
			types[i] = c.pickedType
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
		if c.Values.Kind == assay.From {
			return nil, fmt.Errorf("table %q, %s: only arguments are drawn from a table", table.Name, label)
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
