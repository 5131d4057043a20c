package column

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the vectors in testdata")

// vector is a table with the exact bytes of its file, for readers and writers
// in any language. Values are in JSON; a blob is hex, a real is its bits in
// hex, NULL is null.
type vector struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
	File    string   `json:"file"` // hex
}

var typeNames = map[Type]string{Int: "int", Real: "real", Text: "text", Blob: "blob", Bool: "bool"}

type table struct {
	name  string
	types []Type
	rows  [][]any
}

var vectors = []table{
	{"nothing", nil, nil},
	{"rows without columns", nil, [][]any{{}, {}, {}}},
	{"columns without rows", []Type{Int, Text}, nil},
	{"int", []Type{Int}, [][]any{{int64(0)}, {int64(-1)}, {int64(math.MaxInt64)}, {int64(math.MinInt64)}}},
	{"real", []Type{Real}, [][]any{{0.1}, {math.Copysign(0, -1)}, {math.Inf(1)}, {math.MaxFloat64}}},
	{"text", []Type{Text}, [][]any{{""}, {"a"}, {"grün"}, {"with\x00zero"}, {"exactly8"}}},
	{"blob", []Type{Blob}, [][]any{{[]byte{}}, {[]byte{0}}, {[]byte{0xff, 0xfe, 0xfd}}}},
	{"bool", []Type{Bool}, [][]any{{true}, {false}}},
	{"nulls", []Type{Int, Text}, [][]any{
		{nil, "first"}, {int64(2), nil}, {int64(3), "c"}, {int64(4), ""}, {int64(5), "e"},
		{int64(6), "f"}, {int64(7), "g"}, {nil, "h"}, {nil, nil}}},
	{"all types", []Type{Int, Real, Text, Blob, Bool}, [][]any{
		{int64(1), 1.5, "one", []byte{1}, true}, {int64(2), -2.5, "two", []byte{2, 2}, false}, {nil, nil, nil, nil, nil}}},
}

func TestVectors(t *testing.T) {
	path := filepath.Join("testdata", "vectors.json")
	var got []vector
	for _, v := range vectors {
		got = append(got, vector{v.name, describe(v.types), inJSON(v.rows), hex.EncodeToString(encode(t, v))})
	}
	text, err := json.MarshalIndent(got, "", " ")
	must(t, err)
	if *update {
		must(t, os.WriteFile(path, append(text, '\n'), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if strings.TrimSpace(string(want)) != string(text) {
		t.Errorf("files differ from %s; the format is a contract. Got:\n%s", path, text)
	}
}

// TestLayout spells one file out by hand, from the description of the format.
func TestLayout(t *testing.T) {
	u32, u64 := binary.LittleEndian.AppendUint32, binary.LittleEndian.AppendUint64
	want := []byte("ASSAYCOL")
	want = u32(want, 1)                                     // version
	want = u32(want, 2)                                     // columns
	want = u64(want, 2)                                     // rows
	want = u64(u64(u64(u32(u32(want, 1), 1), 88), 96), 0)   // int with NULLs at 88, values at 96
	want = u64(u64(u64(u32(u32(want, 3), 0), 0), 112), 136) // text with offsets at 112, bytes at 136
	want = append(want, 0b10, 0, 0, 0, 0, 0, 0, 0)          // row 1 is NULL
	want = u64(u64(want, 7), 0)                             // 7, NULL
	want = u64(u64(u64(want, 0), 2), 3)                     // offsets
	want = append(want, 'h', 'i', '!', 0, 0, 0, 0, 0)       // bytes, padded
	got := encode(t, table{"", []Type{Int, Text}, [][]any{{int64(7), "hi"}, {nil, "!"}}})
	if !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}

func TestRoundTripOfVectors(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.col")
			must(t, build(t, v).WriteFile(path))
			f, err := Open(path)
			must(t, err)
			checkEqual(t, f, v)
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if err := f.Close(); err != nil {
				t.Errorf("closed again: %v", err)
			}
		})
	}
}

// TestRoundTrip holds for any table: what was written is read, and its
// accessors agree with Value.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		v := randomTable(rand.New(rand.NewPCG(seed, 0)))
		f, err := Parse(encode(t, v))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		checkEqual(t, f, v)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomTable(r *rand.Rand) table {
	v := table{types: make([]Type, r.IntN(6)), rows: make([][]any, r.IntN(40))}
	for i := range v.types {
		v.types[i] = Type(1 + r.IntN(5))
	}
	nulls := r.Float64()
	for i := range v.rows {
		v.rows[i] = []any{}
		for _, kind := range v.types {
			v.rows[i] = append(v.rows[i], randomValue(r, kind, nulls))
		}
	}
	return v
}

func randomValue(r *rand.Rand, kind Type, nulls float64) any {
	text := make([]byte, r.IntN(20))
	for i := range text {
		text[i] = byte(r.Uint32())
	}
	switch {
	case r.Float64() < nulls:
		return nil
	case kind == Int:
		return int64(r.Uint64())
	case kind == Real:
		return r.NormFloat64()
	case kind == Text:
		return string(text)
	case kind == Blob:
		return text
	}
	return r.IntN(2) == 0
}

func checkEqual(t *testing.T, f *File, want table) {
	t.Helper()
	if f.Rows() != len(want.rows) || f.Columns() != len(want.types) {
		t.Fatalf("%d rows of %d columns, want %d of %d", f.Rows(), f.Columns(), len(want.rows), len(want.types))
	}
	for c, kind := range want.types {
		if f.Type(c) != kind {
			t.Errorf("column %d: type %d, want %d", c, f.Type(c), kind)
		}
		for r, row := range want.rows {
			if got := f.Value(c, r); !reflect.DeepEqual(got, row[c]) {
				t.Errorf("column %d, row %d: %#v, want %#v", c, r, got, row[c])
			}
			if got := f.Null(c, r); got != (row[c] == nil) {
				t.Errorf("column %d, row %d: Null is %v", c, r, got)
			}
			if row[c] == nil && (kind == Int && f.Int(c, r) != 0 || kind == Text && f.Text(c, r) != "") {
				t.Errorf("column %d, row %d: a NULL's value is not zero", c, r)
			}
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	b := NewBuilder(Int, Text)
	for want, row := range map[string][]any{
		"row 0: 1 values for 2 columns":                  {int64(1)},
		"row 0, column 1: []uint8 in a column of type 3": {int64(1), []byte("x")},
		"row 0, column 0: int in a column of type 1":     {1, "x"},
		"row 0, column 0: float64 in a column of type 1": {1.0, "x"},
	} {
		if err := b.Append(row...); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	// The refused rows left nothing behind.
	must(t, b.Append(int64(1), "x"))
	got, want := encodeBuilder(t, b), encode(t, table{"", []Type{Int, Text}, [][]any{{int64(1), "x"}}})
	if !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	good := encode(t, table{"", []Type{Text}, [][]any{{"ab"}, {"c"}}})
	change := func(at int, value uint64) func() []byte {
		return func() []byte {
			data := bytes.Clone(good)
			binary.LittleEndian.PutUint64(data[at:], value)
			return data
		}
	}
	cases := map[string]struct {
		data func() []byte
		want string
	}{
		"empty":            {func() []byte { return nil }, "not a column file"},
		"foreign":          {func() []byte { return bytes.Repeat([]byte("x"), 100) }, "not a column file"},
		"newer":            {change(8, 1<<32|2), "column file of version 2, this reads 1"},
		"many columns":     {change(8, 9<<32|1), "column file of 88 bytes says 9 columns of 2 rows"},
		"many rows":        {change(16, 1<<62), "column file of 88 bytes says 1 columns of 4611686018427387904 rows"},
		"unknown type":     {change(24, 6), "column 0: unknown type 6"},
		"nulls outside":    {change(32, 1<<40), ""}, // no flag: not looked at
		"values outside":   {change(40, 1<<40), "column 0: bytes 1099511627776+24 lie outside of a file of 88"},
		"bytes outside":    {change(48, 86), "column 0: bytes 86+3 lie outside of a file of 88"},
		"offset back":      {change(64, 4), "column 0: row 1: offset 4 goes back"},
		"offset too large": {change(56, 1<<63), "column 0: row 0: offset 9223372036854775808 goes back"},
		"cut":              {func() []byte { return good[:70] }, "column 0: bytes 56+24 lie outside of a file of 70"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(c.data())
			if got := fmt.Sprint(err); err != nil && got != c.want || err == nil && c.want != "" {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "missing")); !os.IsNotExist(err) {
		t.Errorf("missing: %v", err)
	}
	for name, content := range map[string]string{"empty": "", "short": "ASSAYCOL", "foreign": strings.Repeat("x", 99)} {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(content), 0o644))
		if _, err := Open(path); err == nil || err.Error() != path+": not a column file" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWriteFileReplacesWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.col")
	for range 2 {
		must(t, build(t, vectors[9]).WriteFile(path))
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files, %v; want the one", len(entries), err)
	}
	if err := build(t, vectors[9]).WriteFile(filepath.Join(dir, "missing", "x.col")); err == nil {
		t.Error("written into a folder that is not there")
	}
}

// FuzzParse: whatever Parse accepts can be read to the last value.
func FuzzParse(f *testing.F) {
	for _, v := range vectors {
		f.Add(encode(f, v))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		if err != nil {
			return
		}
		for c := range file.Columns() {
			for r := range file.Rows() {
				file.Value(c, r)
				if kind := file.Type(c); kind == Text || kind == Blob {
					_ = strings.Clone(file.Text(c, r)) // touches every byte
				}
			}
		}
	})
}

func build(t testing.TB, v table) *Builder {
	t.Helper()
	b := NewBuilder(v.types...)
	for _, row := range v.rows {
		must(t, b.Append(row...))
	}
	return b
}

func encode(t testing.TB, v table) []byte {
	t.Helper()
	return encodeBuilder(t, build(t, v))
}

func encodeBuilder(t testing.TB, b *Builder) []byte {
	t.Helper()
	var out bytes.Buffer
	n, err := b.WriteTo(&out)
	if err != nil || n != int64(out.Len()) {
		t.Fatalf("wrote %d of %d bytes: %v", n, out.Len(), err)
	}
	return out.Bytes()
}

func describe(types []Type) []string {
	names := []string{}
	for _, kind := range types {
		names = append(names, typeNames[kind])
	}
	return names
}

func inJSON(rows [][]any) [][]any {
	out := [][]any{}
	for _, row := range rows {
		shown := []any{}
		for _, value := range row {
			switch v := value.(type) {
			case []byte:
				value = hex.EncodeToString(v)
			case float64:
				value = fmt.Sprintf("%016x", math.Float64bits(v))
			}
			shown = append(shown, value)
		}
		out = append(out, shown)
	}
	return out
}

// What was released is read again.
func TestRelease(t *testing.T) {
	b := NewBuilder(Int)
	for i := range 10000 {
		must(t, b.Append(int64(i)))
	}
	path := filepath.Join(t.TempDir(), "ints.col")
	must(t, b.WriteFile(path))
	f, err := Open(path)
	must(t, err)
	defer f.Close()
	for range 2 {
		for i := range 10000 {
			if got := f.Int(0, i); got != int64(i) {
				t.Fatalf("row %d is %d", i, got)
			}
		}
		f.Release()
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
