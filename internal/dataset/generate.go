package dataset

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"

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

// zipf is YCSB's ZipfianGenerator (Gray et al., "Quickly Generating
// Billion-Record Synthetic Databases", 1994).
type zipf struct {
	items              uint64
	zeta, eta          float64
	alpha, secondBound float64
}

// What YCSB's ScrambledZipfianGenerator draws from, whatever the number of
// records: ranks of 0 to 10^10, with the sum that it has as a constant.
const (
	scrambledItems = 10_000_000_000 + 1
	scrambledZeta  = 26.46902820178302
	scrambledTheta = 0.99
)

var scrambled = newZipf(scrambledItems, scrambledZeta, scrambledTheta)

func newZipf(items uint64, zeta, theta float64) *zipf {
	second := 1 + math.Pow(0.5, theta)
	return &zipf{
		items: items, zeta: zeta, alpha: 1 / (1 - theta), secondBound: second,
		eta: (1 - math.Pow(2/float64(items), 1-theta)) / (1 - second/zeta),
	}
}

// rank returns the rank, 0 the most frequent, for a u of [0, 1).
func (z *zipf) rank(u float64) uint64 {
	switch uz := u * z.zeta; {
	case uz < 1:
		return 0
	case uz < z.secondBound:
		return 1
	}
	base := float64(z.eta*u) - z.eta + 1
	return min(uint64(float64(z.items)*math.Pow(base, z.alpha)), z.items-1)
}

// zetaSum is the sum of 1/i^theta over i = 1..n. The tail of a long sum is
// taken from its integral (Euler and Maclaurin), which is exact to 13 digits.
func zetaSum(n uint64, theta float64) float64 {
	const exact = 1 << 20
	sum := 0.0
	for i := range min(n, exact) {
		sum += math.Pow(float64(i+1), -theta)
	}
	if n > exact {
		area := (math.Pow(float64(n), 1-theta) - math.Pow(exact, 1-theta)) / (1 - theta)
		sum += area + float64((math.Pow(float64(n), -theta)-math.Pow(exact, -theta))/2)
	}
	return sum
}

// fold is YCSB's way from a rank to one of so many records: its hash as a
// signed number, without the sign.
func fold(rank, items uint64) uint64 {
	signed := int64(hashed(rank))
	if signed < 0 {
		signed = -signed
	}
	return uint64(signed) % items
}

func hashed(rank uint64) uint64 {
	hash := fnv.New64a()
	hash.Write(binary.LittleEndian.AppendUint64(nil, rank))
	return hash.Sum64()
}

// index draws the number of a key.
func (d *drawn) index(w seeded.Words, row int) int64 {
	items := uint64(d.To-d.From) + 1
	switch d.Draw {
	case assay.Uniform:
		return d.From + int64(seeded.Below(w.At(1), items))
	case assay.Zipf:
		return d.From + int64(hashed(d.zipf.rank(seeded.Fraction(w.At(1))))%items) // neighbours are not alike
	case assay.Scrambled:
		return d.From + int64(fold(d.zipf.rank(seeded.Fraction(w.At(1))), items))
	case assay.Latest:
		last := d.To
		if d.grown != nil {
			last += d.grown[row]
		}
		return last - int64(d.zipf.rank(seeded.Fraction(w.At(1))))
	}
	if items == 0 {
		return d.From + int64(row)
	}
	return d.From + int64(uint64(row)%items)
}
