package dataset

import (
	"math"
	"testing"

	"assay"
)

// A commit of one small change adds one page to the log, one of two changes in two
// tables adds two, and what changes nothing or undoes nothing adds none; a mix adds the
// mean of its parts.
func TestLogPages(t *testing.T) {
	d := account(t)
	before, err := fileSum(d.Path)
	must(t, err)
	write := func(name string, statements ...string) assay.Operation {
		op := assay.Operation{Name: name, Changes: true}
		for _, sql := range statements {
			op.Steps = append(op.Steps, assay.Step{SQL: sql, Rows: -1, Args: next})
		}
		return op
	}
	one := write("one", "UPDATE account SET balance = balance + 1 WHERE id = ? % 20")
	two := write("two", "UPDATE account SET balance = balance + 1 WHERE id = ? % 20", "UPDATE day SET price = price + ?")
	none := write("none", "UPDATE account SET balance = 0 WHERE id = 1000 + ?")
	read := assay.Operation{Name: "read", Steps: []assay.Step{query("SELECT balance FROM account WHERE id = ?", -1, "int")}}
	mix := assay.Operation{Name: "mix", Changes: true, Parts: []assay.Part{{Operation: read, Weight: 3}, {Operation: one, Weight: 1}}}
	for _, c := range []struct {
		op          assay.Operation
		want, about float64
	}{{one, 1, 0.01}, {two, 2, 0.01}, {none, 0, 0}, {read, 0, 0}, {mix, 0.25, 0.05}} {
		got, err := d.LogPages(t.Context(), c.op, makeTrace(t, d, c.op, 2000), 2000)
		if err != nil || math.Abs(got-c.want) > c.about {
			t.Errorf("%s: got %.3f pages and error %v, want %.2f", c.op.Name, got, err, c.want)
		}
	}
	if after, err := fileSum(d.Path); err != nil || after != before {
		t.Errorf("the data have changed: %v", err)
	}
}
