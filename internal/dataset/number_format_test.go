package dataset

import (
	"testing"

	"assay"
)

func TestNumbersInTexts(t *testing.T) {
	for _, c := range []struct {
		format string
		n      int64
		want   any
	}{
		{"", 7, int64(7)}, {"%d", 7, "7"}, {"user%08d@example.com", 42, "user00000042@example.com"},
		{"%4d|%04d|%d", -7, "  -7|-007|-7"}, {"50% of %d%%", 3, "50% of 3%%"}, {"%02d", 123, "123"},
	} {
		if got := newNumberForm(c.format).of(c.n); got != c.want {
			t.Errorf("%q of %d: got %q, want %q", c.format, c.n, got, c.want)
		}
	}
	columns := []assay.Values{
		{Kind: assay.Seq, From: 9, Format: "a%02d"}, {Kind: assay.Uniform, From: 5, To: 5, Format: "b%d"},
		{Kind: assay.Zipf, From: 5, To: 5, Theta: 0.5, Format: "c%d"}, {Kind: assay.Seq, From: 1}, {Kind: assay.Derive, Of: 3, Mul: 2, Format: "d%03d"},
	}
	g, err := newGenerator(1, "table/t", make([]string, len(columns)), columns)
	must(t, err)
	for i, want := range []any{"a10", "b5", "c5", int64(2), "d004"} {
		if got := drawRows(g, 2)[1][i]; got != want {
			t.Errorf("column %d of row 2 is %v, want %v", i+1, got, want)
		}
		if kind := g.types()[i]; kind != columnType(columns[i]) {
			t.Errorf("column %d has type %v, want %v", i+1, kind, columnType(columns[i]))
		}
	}
}
