package dataset

import (
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/kit/answer"
	"assay/kit/column"
)

// answersOf reads the expected answers of a served operation.
func answersOf(t *testing.T, d *Data, op assay.Operation, length int) []expectedAnswer {
	t.Helper()
	path, err := d.Answers(t.Context(), op, makeTrace(t, d, op, length))
	must(t, err)
	file, err := column.Open(path)
	must(t, err)
	defer file.Close()
	var all []expectedAnswer
	for i := range file.Rows() {
		all = append(all, expectedAnswer{file.Int(0, i), file.Int(1, i)})
	}
	return all
}

func whole(body string) expectedAnswer { return expectedAnswer{answer.Sum([]byte(body)), everyByte} }
func rowsOnly(body string) expectedAnswer {
	return expectedAnswer{answer.RowsSum([]byte(body)), rowsKnown}
}

// TestAnswers: what a read answers is known to the last byte, what a change
// answers as far as the plan says it, and dates are every driver's own.
func TestAnswers(t *testing.T) {
	d := account(t)
	read := assay.Operation{Name: "read", Steps: []assay.Step{query("SELECT id, balance, name FROM account WHERE id = ?", -1, "int", "real", "text?")}}
	first := func(sql string) assay.Step {
		return assay.Step{SQL: sql, Query: true, Rows: 2, Returns: []assay.Type{"int"}}
	}
	for name, c := range map[string]struct {
		op   assay.Operation
		want []expectedAnswer
	}{
		"read": {read, []expectedAnswer{whole(`{"answer":[[0,0,"a0"]],"rows":1}`), whole(`{"answer":[[1,10,"a1"]],"rows":1}`), whole(`{"answer":[[2,20,"a2"]],"rows":1}`)}},
		"two steps": {assay.Operation{Name: "two", Steps: []assay.Step{query("SELECT id FROM account WHERE id = ?", -1, "int"), {SQL: "SELECT 'x'", Query: true, Rows: 1, Returns: []assay.Type{"text"}}}},
			[]expectedAnswer{whole(`{"answer":[[0],["x"]],"rows":2}`), whole(`{"answer":[[1],["x"]],"rows":2}`)}},
		"ordered":     {assay.Operation{Name: "ordered", Steps: []assay.Step{first("SELECT id FROM account ORDER BY balance LIMIT 2")}}, []expectedAnswer{whole(`{"answer":[[0],[1]],"rows":2}`)}},
		"ties":        {assay.Operation{Name: "ties", Steps: []assay.Step{first("SELECT id FROM account ORDER BY balance > 50 LIMIT 2")}}, []expectedAnswer{rowsOnly(`{"answer":[],"rows":2}`)}},
		"tie at last": {assay.Operation{Name: "last", Steps: []assay.Step{first("SELECT id FROM account ORDER BY max(balance, 10) DESC LIMIT 2 OFFSET 17")}}, []expectedAnswer{rowsOnly(`{"answer":[],"rows":2}`)}},
		"equal rows":  {assay.Operation{Name: "equal", Steps: []assay.Step{first("SELECT balance > 50 FROM account ORDER BY 1 LIMIT 2")}}, []expectedAnswer{whole(`{"answer":[[0],[0]],"rows":2}`)}},
		"dates": {assay.Operation{Name: "dates", Steps: []assay.Step{{SQL: "SELECT d FROM day", Query: true, Rows: 2, Returns: []assay.Type{"text"}}}},
			[]expectedAnswer{rowsOnly(`{"answer":[],"rows":2}`)}},
		"change": {assay.Operation{Name: "change", Changes: true, Steps: []assay.Step{{SQL: "UPDATE account SET balance = 0", Rows: 20}}},
			[]expectedAnswer{whole(`{"answer":[],"rows":20}`)}},
		"returning": {assay.Operation{Name: "returning", Changes: true, Steps: []assay.Step{{SQL: "DELETE FROM account WHERE id = 1 RETURNING id", Query: true, Rows: 1, Returns: []assay.Type{"int"}}}},
			[]expectedAnswer{rowsOnly(`{"answer":[],"rows":1}`)}},
		"any change": {assay.Operation{Name: "any", Changes: true, Steps: []assay.Step{{SQL: "UPDATE account SET balance = 0", Rows: -1}}}, []expectedAnswer{{}}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // made, and found
				if got := answersOf(t, d, c.op, len(c.want)); !slices.Equal(got, c.want) {
					t.Errorf("got %v, want %v", got, c.want)
				}
			}
		})
	}
}

// TestAnswersOfMix: of an answer that is another one after the changes, the
// number of rows is known.
func TestAnswersOfMix(t *testing.T) {
	d := account(t)
	step := func(sql string) assay.Step {
		return assay.Step{SQL: sql, Query: true, Rows: 1, Returns: []assay.Type{"int"}, Args: []assay.Values{{Kind: assay.Expression, Query: "SELECT 3"}}}
	}
	mix := assay.Operation{Name: "mix", Changes: true, Parts: []assay.Part{
		{Weight: 1, Operation: assay.Operation{Name: "id", Steps: []assay.Step{step("SELECT id FROM account WHERE id = ?")}}},
		{Weight: 1, Operation: assay.Operation{Name: "balance", Steps: []assay.Step{step("SELECT balance FROM account WHERE id = ?")}}},
		{Weight: 1, Operation: assay.Operation{Name: "spend", Changes: true, Steps: []assay.Step{{SQL: "UPDATE account SET balance = balance - 1", Rows: 20}}}},
	}}
	want := []expectedAnswer{whole(`{"answer":[[3]],"rows":1}`), rowsOnly(`{"answer":[[30]],"rows":1}`), whole(`{"answer":[],"rows":20}`)}
	trace := makeTrace(t, d, mix, 30)
	choice, err := trace.open()
	must(t, err)
	defer choice.Close()
	seen := map[int64]bool{}
	for i, got := range answersOf(t, d, mix, 30) {
		part := choice.Int(0, i)
		if seen[part] = true; got != want[part] {
			t.Errorf("request %d, part %d: %v, want %v", i, part, got, want[part])
		}
	}
	if len(seen) != 3 {
		t.Errorf("only the parts %v were asked for", seen)
	}
}

// TestAnswersOfPartThatIsNotDrawn: a reading part that is so rare that the mix never
// comes to it is no error, with and without changes.
func TestAnswersOfPartThatIsNotDrawn(t *testing.T) {
	d := account(t)
	read := func(sql string) assay.Operation {
		return assay.Operation{Name: "read", Steps: []assay.Step{{SQL: sql, Query: true, Rows: 1, Returns: []assay.Type{"int"}, Args: []assay.Values{{Kind: assay.Expression, Query: "SELECT 3"}}}}}
	}
	mix := assay.Operation{Name: "mix", Parts: []assay.Part{
		{Weight: 1_000_000_000, Operation: read("SELECT id FROM account WHERE id = ?")}, {Weight: 1, Operation: read("SELECT id + 1 FROM account WHERE id = ?")}}}
	want := slices.Repeat([]expectedAnswer{whole(`{"answer":[[3]],"rows":1}`)}, 5)
	if got := answersOf(t, d, mix, 5); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	mix.Changes = true
	mix.Parts[0].Operation = assay.Operation{Name: "spend", Changes: true, Steps: []assay.Step{{SQL: "UPDATE account SET balance = balance - 1", Rows: 20}}}
	want = slices.Repeat([]expectedAnswer{whole(`{"answer":[],"rows":20}`)}, 5)
	if got := answersOf(t, d, mix, 5); !slices.Equal(got, want) {
		t.Errorf("with changes: got %v, want %v", got, want)
	}
}

// TestAnswersOfMixThereAndBack: a balance that is changed and changed back is not
// known, although it is the same before and after all changes.
func TestAnswersOfMixThereAndBack(t *testing.T) {
	d := account(t)
	flip := "UPDATE account SET balance = 61 - balance"
	mix := assay.Operation{Name: "mix", Changes: true, Parts: []assay.Part{
		{Weight: 1, Operation: assay.Operation{Name: "balance", Steps: []assay.Step{{SQL: "SELECT balance FROM account WHERE id = ?", Query: true, Rows: 1,
			Returns: []assay.Type{"int"}, Args: []assay.Values{{Kind: assay.Expression, Query: "SELECT 3"}}}}}},
		{Weight: 1, Operation: assay.Operation{Name: "flip", Changes: true, Steps: []assay.Step{{SQL: flip, Rows: 20}}}},
	}}
	for length := 40; length < 50; length++ { // some of them have an even number of changes
		trace := makeTrace(t, d, mix, length)
		choice, err := trace.open()
		must(t, err)
		for i, got := range answersOf(t, d, mix, length) {
			if choice.Int(0, i) == 0 && got != rowsOnly(`{"answer":[[30]],"rows":1}`) {
				t.Errorf("length %d: the answer to request %d is expected whole", length, i)
			}
		}
		must(t, choice.Close())
	}
}

func TestAnswersErrors(t *testing.T) {
	d := account(t)
	op := assay.Operation{Name: "bad", Steps: []assay.Step{query("SELECT id FROM account WHERE id > ?", -1, "text")}}
	if _, err := d.Answers(t.Context(), op, makeTrace(t, d, op, 2)); err == nil || !strings.HasPrefix(err.Error(), `the expected answers: operation "bad", step 1 at position 0: column 1: int64 where text is declared; the SQL is:`) {
		t.Errorf("got %v", err)
	}
}
