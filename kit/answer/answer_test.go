package answer

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestVectors spells out the bytes of each row: the format is a contract
// between languages.
func TestVectors(t *testing.T) {
	negativeZero, otherNaN := math.Copysign(0, -1), math.Float64frombits(0xfff8000000000123)
	cases := map[string]struct {
		types []string
		rows  [][]any
		bytes string // hex, spaces for people
	}{
		"no rows":              {[]string{"int"}, nil, ""},
		"no columns":           {nil, [][]any{{}}, "00000000"},
		"int":                  {[]string{"int"}, [][]any{{int64(1)}, {int64(-2)}}, "01000000 01 0100000000000000 01000000 01 feffffffffffffff"},
		"int from bool":        {[]string{"int", "int"}, [][]any{{true, false}}, "02000000 01 0100000000000000 01 0000000000000000"},
		"real":                 {[]string{"real"}, [][]any{{0.1}}, "01000000 02 9a9999999999b93f"},
		"real from int":        {[]string{"real"}, [][]any{{int64(5)}}, "01000000 02 0000000000001440"},
		"real, -0":             {[]string{"real"}, [][]any{{negativeZero}}, "01000000 02 0000000000000000"},
		"real, any NaN":        {[]string{"real", "real"}, [][]any{{math.NaN(), otherNaN}}, "02000000 02 000000000000f87f 02 000000000000f87f"},
		"text":                 {[]string{"text"}, [][]any{{"grün"}, {""}}, "01000000 03 05000000 6772c3bc6e 01000000 03 00000000"},
		"text from bytes":      {[]string{"text"}, [][]any{{[]byte("ab")}}, "01000000 03 02000000 6162"},
		"blob":                 {[]string{"blob"}, [][]any{{[]byte{0, 255}}}, "01000000 04 02000000 00ff"},
		"blob from string":     {[]string{"blob"}, [][]any{{"ab"}}, "01000000 04 02000000 6162"},
		"empty blob, not NULL": {[]string{"blob"}, [][]any{{[]byte(nil)}}, "01000000 04 00000000"},
		"bool":                 {[]string{"bool", "bool"}, [][]any{{true, false}}, "02000000 05 01 05 00"},
		"bool from int":        {[]string{"bool", "bool"}, [][]any{{int64(7), int64(0)}}, "02000000 05 01 05 00"},
		"NULL":                 {[]string{"int?", "real?", "text?", "blob?", "bool?"}, [][]any{{nil, nil, nil, nil, nil}}, "05000000 00 00 00 00 00"},
		"NULL is possible":     {[]string{"int?"}, [][]any{{int64(1)}}, "01000000 01 0100000000000000"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			stream, err := hex.DecodeString(strings.ReplaceAll(c.bytes, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			want := sha256.Sum256(stream)
			h := digestOf(t, c.types, c.rows)
			if h.Sum() != hex.EncodeToString(want[:]) || h.Rows() != int64(len(c.rows)) {
				t.Errorf("got %s of %d rows, want %x of %d", h.Sum(), h.Rows(), want, len(c.rows))
			}
		})
	}
}

// TestKnownSums fixes two digests literally, one of them of no row at all.
func TestKnownSums(t *testing.T) {
	if got, want := digestOf(t, []string{"int"}, nil).Sum(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"; got != want {
		t.Errorf("no rows: %s, want %s", got, want)
	}
	h := digestOf(t, []string{"int", "text?", "real"}, [][]any{{int64(1), "a", 1.5}, {int64(2), nil, -1.5}})
	if got, want := h.Sum(), "ad0dbbd680e62edc896e53a8249eab4da64b0177f07a53d9572f389e38cd53bb"; got != want {
		t.Errorf("two rows: %s, want %s", got, want)
	}
}

func TestRefuses(t *testing.T) {
	cases := map[string]struct {
		declared string
		value    any
		want     string
	}{
		"NULL":           {"int", nil, "row 1, column 1: NULL where int is declared; declare int? where NULL may occur"},
		"float as int":   {"int", 1.0, "row 1, column 1: float64 where int is declared"},
		"text as int":    {"int?", "1", "row 1, column 1: string where int is declared"},
		"text as real":   {"real", "1", "row 1, column 1: string where real is declared"},
		"int as text":    {"text", int64(1), "row 1, column 1: int64 where text is declared"},
		"float as blob":  {"blob", 1.0, "row 1, column 1: float64 where blob is declared"},
		"text as bool":   {"bool", "true", "row 1, column 1: string where bool is declared"},
		"Go's plain int": {"int", 1, "row 1, column 1: int where int is declared"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := digestOf(t, []string{c.declared}, nil)
			if err := h.Row([]any{c.value}); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if empty := digestOf(t, nil, nil); h.Rows() != 0 || h.Sum() != empty.Sum() {
				t.Error("the refused row counts")
			}
		})
	}
	if err := digestOf(t, []string{"int", "int"}, nil).Row([]any{int64(1)}); err == nil || err.Error() != "row 1 has 1 columns, declared are 2" {
		t.Errorf("too few columns: %v", err)
	}
	for _, bad := range []string{"", "?", "int??", "INT", "integer", "bool ?"} {
		if err := New([]string{bad}).Row([]any{int64(1)}); err == nil {
			t.Errorf("a value of type %q is accepted", bad)
		}
	}
}

// TestDifferentRowsDiffer holds for any rows: two answers have one digest
// only if they are the same, in the same order, cut into rows alike.
func TestDifferentRowsDiffer(t *testing.T) {
	seen := map[string][][]any{}
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		rows := make([][]any, r.IntN(4))
		for i := range rows {
			rows[i] = []any{[]any{nil, "", "a", "b", "ab"}[r.IntN(5)], []any{nil, "", "a", "b", "ab"}[r.IntN(5)]}
		}
		sum := digestOf(t, []string{"text?", "text?"}, rows).Sum()
		if before, ok := seen[sum]; ok && !slices.EqualFunc(before, rows, slices.Equal[[]any]) {
			t.Fatalf("%v and %v have one digest", before, rows)
		}
		seen[sum] = rows
	}
	if len(seen) < 100 {
		t.Errorf("only %d different answers were tried", len(seen))
	}
}

func TestSumMayBeAskedInBetween(t *testing.T) {
	h := digestOf(t, []string{"int"}, [][]any{{int64(1)}})
	first := h.Sum()
	if err := h.Row([]any{int64(2)}); err != nil {
		t.Fatal(err)
	}
	if h.Sum() == first || h.Sum() != digestOf(t, []string{"int"}, [][]any{{int64(1)}, {int64(2)}}).Sum() {
		t.Error("asking for the digest changed it")
	}
}

func digestOf(t *testing.T, types []string, rows [][]any) *Hash {
	t.Helper()
	h := New(types)
	for _, row := range rows {
		if err := h.Row(row); err != nil {
			t.Fatal(err)
		}
	}
	return h
}
