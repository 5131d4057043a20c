package dataset

import (
	"slices"
	"testing"

	"assay"
)

// Each unit has the digest that its positions alone have: of an operation, of read
// transactions and of the parts of a mix that change nothing.
func TestDigests(t *testing.T) {
	d := account(t)
	read := assay.Operation{Name: "read", Steps: []assay.Step{query("SELECT balance, name FROM account WHERE id = ?", 1, "int", "text?")}}
	together := read
	together.Transaction = 2
	change := assay.Operation{Name: "change", Changes: true, Steps: []assay.Step{{SQL: "UPDATE account SET balance = 0 WHERE id = ?", Args: next, Rows: 1}}}
	mix := assay.Operation{Name: "mix", Changes: true, Parts: []assay.Part{{Operation: read, Weight: 1}, {Operation: change, Weight: 1}}}
	for name, c := range map[string]struct {
		op        assay.Operation
		positions []int
		unit      int
	}{
		"alone":        {read, []int{3, 1, 3}, 1},
		"transactions": {together, []int{4, 0}, 2},
	} {
		got, err := d.Digests(t.Context(), c.op, makeTrace(t, d, read, 10), c.positions)
		var want []string
		for _, position := range c.positions {
			want = append(want, expect(t, d, read, 10, position, c.unit).Digest)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %.12q (%v), want %.12q", name, got, err, want)
		}
	}
	trace := makeTrace(t, d, mix, 10)
	choice, err := trace.open()
	must(t, err)
	defer choice.Close()
	got, err := d.Digests(t.Context(), mix, trace, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	must(t, err)
	for i, digest := range got {
		want := ""
		if choice.Int(0, i) == 0 {
			e, err := d.Expect(t.Context(), read, &trace.Parts[0], int(choice.Int(1, i)), 1)
			must(t, err)
			want = e.Digest
		}
		if digest != want {
			t.Errorf("mix at %d: got %.12q, want %.12q", i, digest, want)
		}
	}
}
