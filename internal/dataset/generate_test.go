package dataset

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/dataset/seeded"
)

var update = flag.Bool("update", false, "rewrite the vectors in testdata")

// drawVector fixes what the generators draw, for any other implementation.
type drawVector struct {
	Seed   uint64       `json:"seed"`
	Stream string       `json:"stream"`
	Column int          `json:"column"`
	Values assay.Values `json:"values"`
	Drawn  []string     `json:"drawn"` // of rows 0, 1, ...; a blob in hex, a real as its bits in hex
}

func TestVectors(t *testing.T) {
	columns := []assay.Values{
		{Kind: assay.Seq, From: 5},
		{Kind: assay.Uniform, From: -10, To: 10},
		{Kind: assay.Uniform, From: math.MinInt64, To: math.MaxInt64},
		{Kind: assay.Zipf, From: 1, To: 1000, Theta: 0.99},
		{Kind: assay.Real, Low: -1, High: 1},
		{Kind: assay.Text, Length: 9},
		{Kind: assay.Blob, Length: 10},
		{Kind: assay.Bool},
		{Kind: assay.Uniform, From: 0, To: 1, Null: 0.5},
		{Kind: assay.Derive, Of: 0, Mul: -7, Add: 3, Mod: 10, Format: "<%d>"},
		{Kind: assay.Const, Value: "x"},
	}
	var got []drawVector
	for _, seed := range []uint64{0, math.MaxUint64} {
		for _, stream := range []string{"table/monster", "operation/by-id"} {
			g, err := newGenerator(seed, stream, make([]string, len(columns)), columns)
			must(t, err)
			rows := drawRows(g, 6)
			for i, v := range columns {
				vector := drawVector{Seed: seed, Stream: stream, Column: i, Values: v}
				for _, row := range rows {
					vector.Drawn = append(vector.Drawn, shown(row[i]))
				}
				got = append(got, vector)
			}
		}
	}
	compareGolden(t, "vectors.json", got)
}

func compareGolden(t *testing.T, name string, got any) {
	t.Helper()
	path := filepath.Join("testdata", name)
	text, err := json.MarshalIndent(got, "", " ")
	must(t, err)
	if *update {
		must(t, os.WriteFile(path, append(text, '\n'), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if strings.TrimSpace(string(want)) != string(text) {
		t.Errorf("%s differs; other values change every dataset, see formatVersion. Got:\n%s", path, text)
	}
}

func drawRows(g *generator, n int) [][]any {
	rows := make([][]any, n)
	for i := range rows {
		rows[i] = make([]any, len(g.columns))
		if err := g.row(i, rows[i]); err != nil {
			panic(err) // only SQL gives errors
		}
	}
	return rows
}

func shown(value any) string {
	switch v := value.(type) {
	case []byte:
		return hex.EncodeToString(v)
	case float64:
		return fmt.Sprintf("%016x", math.Float64bits(v))
	}
	return fmt.Sprint(value)
}

// drawOne draws n values of a single column.
func drawOne(t *testing.T, v assay.Values, n int) []any {
	t.Helper()
	g, err := newGenerator(1, "table/t", []string{"column"}, []assay.Values{v})
	must(t, err)
	out := make([]any, n)
	for i, row := range drawRows(g, n) {
		out[i] = row[0]
	}
	return out
}

// TestSplitmix64 holds mix against the published outputs of splitmix64
// started at 1234567.
func TestSplitmix64(t *testing.T) {
	w := seeded.Words(1234567)
	got := []uint64{w.At(0), w.At(1), w.At(2), w.At(3), w.At(4)}
	want := []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
}

func TestDerive(t *testing.T) {
	cases := []struct {
		of   int64
		v    assay.Values
		want any
	}{
		{7, assay.Values{Mul: 3, Add: 1}, int64(22)},
		{7, assay.Values{Mul: 3, Add: 1, Mod: 10}, int64(2)},
		{-7, assay.Values{Mul: 1, Mod: 10}, int64(3)},
		{7, assay.Values{Mul: -1, Add: -1, Mod: 10}, int64(2)},
		{math.MaxInt64, assay.Values{Mul: math.MaxInt64, Add: math.MaxInt64, Mod: 1000}, int64((807*807 + 807) % 1000)},
		{math.MinInt64, assay.Values{Mul: math.MinInt64, Add: -1, Mod: math.MaxInt64}, int64(0)}, // -2^63 is -1 mod 2^63-1
		{math.MaxInt64, assay.Values{Mul: 2}, int64(-2)},
		{42, assay.Values{Mul: 1, Format: "user%d@%d"}, "user42@42"},
	}
	for _, c := range cases {
		d := drawn{Values: c.v, form: newNumberForm(c.v.Format)}
		if got := d.derive(c.of); got != c.want {
			t.Errorf("derive %d by %+v: %v, want %v", c.of, c.v, got, c.want)
		}
	}
	g, err := newGenerator(1, "s", make([]string, 2), []assay.Values{{Kind: assay.Seq, Null: 1}, {Kind: assay.Derive, Mul: 1}})
	must(t, err)
	if got := drawRows(g, 1); !reflect.DeepEqual(got, [][]any{{nil, nil}}) {
		t.Errorf("derived of NULL: %v", got)
	}
}

// TestUniformIsEven: chi-square over 100 cells stays under the value that is
// passed once in a thousand (148.2 at 99 degrees of freedom).
func TestUniformIsEven(t *testing.T) {
	kinds := map[string]struct {
		v     assay.Values
		cells int
		limit float64
		cell  func(any) int
	}{
		"uniform":     {assay.Values{Kind: assay.Uniform, From: -50, To: 49}, 100, 148.2, func(v any) int { return int(v.(int64)) + 50 }},
		"real":        {assay.Values{Kind: assay.Real, Low: 10, High: 20}, 100, 148.2, func(v any) int { return int((v.(float64) - 10) * 10) }},
		"bool":        {assay.Values{Kind: assay.Bool}, 2, 10.83, func(v any) int { return map[any]int{true: 1}[v] }},
		"text, first": {assay.Values{Kind: assay.Text, Length: 1}, 26, 52.62, func(v any) int { return int(v.(string)[0] - 'a') }},
		"text, ninth": {assay.Values{Kind: assay.Text, Length: 9}, 26, 52.62, func(v any) int { return int(v.(string)[8] - 'a') }},
		"blob":        {assay.Values{Kind: assay.Blob, Length: 9}, 256, 330.5, func(v any) int { return int(v.([]byte)[8]) }},
	}
	const n = 100_000
	for name, c := range kinds {
		counts := make([]int, c.cells)
		for _, v := range drawOne(t, c.v, n) {
			counts[c.cell(v)]++
		}
		chi, expected := 0.0, float64(n)/float64(c.cells)
		for _, count := range counts {
			chi += (float64(count) - expected) * (float64(count) - expected) / expected
		}
		if chi > c.limit {
			t.Errorf("%s: chi-square %.1f over %.1f", name, chi, c.limit)
		}
	}
}

// TestZipfIsSkewed: the most frequent item has the share 1/zeta(n).
func TestZipfIsSkewed(t *testing.T) {
	const n, items = 100_000, 1000
	counts := map[int64]int{}
	for _, v := range drawOne(t, assay.Values{Kind: assay.Zipf, From: 1, To: items, Theta: 0.99}, n) {
		k := v.(int64)
		if k < 1 || k > items {
			t.Fatalf("%d is out of range", k)
		}
		counts[k]++
	}
	zeta := zetaSum(items, 0.99)
	for rank, want := range []float64{1 / zeta, math.Pow(0.5, 0.99) / zeta} {
		item := 1 + int64(scatter(uint64(rank), items))
		// Other ranks fall on the same item, so it may have a little more.
		if got := float64(counts[item]) / n; got < want*0.97 || got > want*1.1 {
			t.Errorf("rank %d, item %d: a share of %.4f, want %.4f", rank, item, got, want)
		}
	}
	if len(counts) < items/3 {
		t.Errorf("only %d of %d items occur", len(counts), items)
	}
	for _, only := range drawOne(t, assay.Values{Kind: assay.Zipf, From: 3, To: 3, Theta: 0.5}, 100) {
		if only != int64(3) {
			t.Fatalf("%v out of a range of one", only)
		}
	}
	drawOne(t, assay.Values{Kind: assay.Zipf, From: 3, To: 4, Theta: 0.5}, 1000)
}

func TestZetaSumOfLongTails(t *testing.T) {
	const n = 1<<20 + 300_000
	for _, theta := range []float64{0.1, 0.5, 0.99} {
		exact := 0.0
		for i := 1; i <= n; i++ {
			exact += math.Pow(float64(i), -theta)
		}
		if got := zetaSum(n, theta); math.Abs(got/exact-1) > 1e-11 {
			t.Errorf("theta %g: %v, want %v", theta, got, exact)
		}
	}
}

func TestShareOfNulls(t *testing.T) {
	for share, bounds := range map[float64][2]int{0: {0, 0}, 0.25: {2370, 2630}, 1: {10000, 10000}} {
		nulls := 0
		for _, v := range drawOne(t, assay.Values{Kind: assay.Text, Length: 3, Null: share}, 10_000) {
			if v == nil {
				nulls++
			}
		}
		if nulls < bounds[0] || nulls > bounds[1] {
			t.Errorf("a share of %g gives %d in 10000", share, nulls)
		}
	}
}

// TestValuesDependOnPositionOnly: another length, other columns to the right
// or another order of drawing change nothing.
func TestValuesDependOnPositionOnly(t *testing.T) {
	v := assay.Values{Kind: assay.Text, Length: 5}
	all := drawOne(t, v, 100)
	g, err := newGenerator(1, "table/t", make([]string, 2), []assay.Values{v, {Kind: assay.Seq}})
	must(t, err)
	row := make([]any, 2)
	for _, i := range []int{99, 0, 50} {
		if err := g.row(i, row); err != nil || row[0] != all[i] || row[1] != int64(i) {
			t.Errorf("row %d: %v, want %v", i, row, all[i])
		}
	}
}

func TestDrawRealStaysBelow(t *testing.T) {
	if got := drawReal(seeded.Fraction(math.MaxUint64), 1, math.Nextafter(1, 2)); got != 1 {
		t.Errorf("%v", got)
	}
}

func TestCheck(t *testing.T) {
	column := func(v assay.Values) assay.Dataset {
		return assay.Dataset{Schema: "x", Tables: []assay.Table{{Name: "t", Rows: 1, Columns: []assay.Column{{Name: "c", Values: v}}}}}
	}
	after := func(left, v assay.Values) assay.Dataset {
		ds := column(left)
		ds.Tables[0].Columns = append(ds.Tables[0].Columns, assay.Column{Name: "d", Values: v})
		return ds
	}
	seq := assay.Values{Kind: assay.Seq}
	cases := []struct {
		ds   assay.Dataset
		want string
	}{
		{assay.Dataset{}, `want a schema or a file, one of them`},
		{assay.Dataset{Schema: "x", File: "y"}, `want a schema or a file, one of them`},
		{assay.Dataset{File: "y", Tables: make([]assay.Table, 1)}, `tables are not generated into a file of your own`},
		{assay.Dataset{Schema: "x", Tables: []assay.Table{{Name: "t", Rows: -1}}}, `table "t": -1 rows`},
		{assay.Dataset{Schema: "x", Tables: []assay.Table{{Name: "t", Rows: 1}}}, `table "t": no columns to fill`},
		{assay.Dataset{Schema: "x", FileSettings: map[string]string{"cache_size": "1"}}, `file setting "cache_size": there are auto_vacuum, encoding, journal_mode, page_size`},
		{assay.Dataset{Schema: "x", FileSettings: map[string]string{"auto_vacuum": "yes"}}, `file setting auto_vacuum="yes": want one of 0, 1, 2, full, incremental, none`},
		{column(assay.Values{Kind: "guess"}), `table "t", column "c": unknown way to draw values "guess"; there are seq, uniform, zipf, real, text, blob, bool, const, derive and from`},
		{column(assay.Values{Kind: assay.Uniform, From: 2, To: 1}), `table "t", column "c": the range 2 to 1 is empty`},
		{column(assay.Values{Kind: assay.Zipf, From: math.MinInt64, To: math.MaxInt64, Theta: 0.5}), `table "t", column "c": the range -9223372036854775808 to 9223372036854775807 is empty or too large`},
		{column(assay.Values{Kind: assay.Zipf, To: 9, Theta: 1}), `table "t", column "c": a theta of 1 is not between 0 and 1`},
		{column(assay.Values{Kind: assay.Real}), `table "t", column "c": the range 0 to 0 is empty or not finite`},
		{column(assay.Values{Kind: assay.Real, Low: math.NaN()}), `table "t", column "c": the range NaN to 0 is empty or not finite`},
		{column(assay.Values{Kind: assay.Text, Length: -1}), `table "t", column "c": a length of -1`},
		{column(assay.Values{Kind: assay.Const, Value: 1}), `table "t", column "c": a constant of type int; want int64, float64, string, bool or nil`},
		{column(assay.Values{Kind: assay.Seq, Null: 2}), `table "t", column "c": a share of 2 NULLs is not in 0 to 1`},
		{column(assay.Values{Kind: assay.Derive}), `table "t", column "c": derived of number 0, counted from 0, which is not to its left`},
		{after(seq, assay.Values{Kind: assay.Derive, Of: 1}), `table "t", column "d": derived of number 1, counted from 0, which is not to its left`},
		{after(seq, assay.Values{Kind: assay.Derive, Mod: -1}), `table "t", column "d": a modulus of -1`},
		{after(assay.Values{Kind: assay.Bool}, assay.Values{Kind: assay.Derive}), `table "t", column "d": derived of number 0, counted from 0, which is no integer`},
		{after(assay.Values{Kind: assay.Const}, assay.Values{Kind: assay.Derive}), `table "t", column "d": derived of number 0, counted from 0, which is no integer`},
		{func() assay.Dataset { ds := after(seq, seq); ds.Tables[0].Columns[1].Name = "c"; return ds }(), `table "t": two of column "c"`},
	}
	for _, c := range cases {
		if err := check(c.ds); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// published is YCSB's ScrambledZipfianGenerator as its source describes it,
// written down apart from the code: the rank by Gray et al. over 10^10 + 1 items
// with the constant 26.46902820178302, then FNV-1a over the eight bytes of the
// rank, lowest first, its absolute value, modulo the number of records.
func published(u float64, records uint64) uint64 {
	const items, theta, zeta = 10_000_000_001.0, 0.99, 26.46902820178302
	zeta2 := 1 + math.Pow(0.5, theta)
	eta := (1 - math.Pow(2/items, 1-theta)) / (1 - zeta2/zeta)
	var rank uint64
	switch uz := u * zeta; {
	case uz < 1:
	case uz < zeta2:
		rank = 1
	default:
		rank = uint64(items * math.Pow(eta*u-eta+1, 1/(1-theta)))
	}
	hash := uint64(0xCBF29CE484222325)
	for range 8 {
		hash = (hash ^ rank&0xff) * 1099511628211
		rank >>= 8
	}
	if int64(hash) < 0 {
		hash = -hash
	}
	return hash % records
}

// The keys of YCSB's plans are drawn as YCSB draws them: the same key for the
// same random number, and the most frequent of 10^5 gets 3.8 %.
func TestScrambledZipfIsTheReferences(t *testing.T) {
	const records, draws = 100_000, 1_000_000
	d := drawn{Values: assay.Values{Kind: assay.Key, Draw: assay.Scrambled, To: records - 1, Theta: 0.99}, key: seeded.Key(1, "t", 0), zipf: scrambled}
	counts, want := make([]int, records), make([]int, records)
	for row := range draws {
		w := seeded.WordsOf(d.key, row)
		counts[d.index(w, row)]++
		want[published(seeded.Fraction(w.At(1)), records)]++
	}
	differ := 0
	for key := range counts {
		if counts[key] != want[key] {
			differ++
		}
	}
	// The last bit of a power may make a rank another one.
	if differ > 20 {
		t.Errorf("got %d keys with another count than the published algorithm gives, want 20 at most", differ)
	}
	if share := float64(slices.Max(counts)) / draws; math.Abs(share-1/scrambledZeta) > 0.001 {
		t.Errorf("the most frequent key has %.4f of the draws, want %.4f", share, 1/scrambledZeta)
	}
}
