package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay"
	"assay/kit/answer"
)

// digestOf digests rows that were written down by hand.
func digestOf(t *testing.T, types string, rows ...[]any) string {
	t.Helper()
	h := answer.New(strings.Fields(types))
	for _, row := range rows {
		must(t, h.Row(row))
	}
	return h.Sum()
}

// account is data whose every answer is easily told: id i has the balance 10 i.
func account(t *testing.T) *Data {
	t.Helper()
	return prepare(t, assay.Dataset{
		Workload: "account",
		Schema: `CREATE TABLE account (id INTEGER PRIMARY KEY, balance INT NOT NULL, name TEXT);
			CREATE TABLE day (d DATE, open BOOLEAN, price DECIMAL(10,2));
			INSERT INTO day VALUES ('2024-02-29', 1, 5), ('not a date', 0, 5.5);`,
		Tables: []assay.Table{{Name: "account", Select: "SELECT value, value * 10, 'a' || value FROM generate_series(0, 19)"}},
	})
}

// next is an argument that is 0, 1, 2, ...
var next = []assay.Values{{Kind: assay.Expression, Query: "SELECT :i - 1"}}

func query(sql string, rows int, returns ...assay.Type) assay.Step {
	return assay.Step{SQL: sql, Query: true, Rows: rows, Returns: returns, Args: next}
}

func expect(t *testing.T, d *Data, op assay.Operation, length, from, count int) Expected {
	t.Helper()
	expected, err := d.Expect(t.Context(), op, makeTrace(t, d, op, length), from, count)
	must(t, err)
	return expected
}

func TestExpectOfReading(t *testing.T) {
	d := account(t)
	op := assay.Operation{Name: "read", Steps: []assay.Step{query("SELECT id, balance FROM account WHERE id IN (?, 19) ORDER BY id", 2, "int", "int")}}
	want := Expected{Rows: 4, Digest: digestOf(t, "int int", []any{int64(3), int64(30)}, []any{int64(19), int64(190)},
		[]any{int64(4), int64(40)}, []any{int64(19), int64(190)})}
	if got := expect(t, d, op, 10, 3, 2); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// Positions go around the trace's end.
	want = Expected{Rows: 4, Digest: digestOf(t, "int int", []any{int64(9), int64(90)}, []any{int64(19), int64(190)},
		[]any{int64(0), int64(0)}, []any{int64(19), int64(190)})}
	if got := expect(t, d, op, 10, 9, 2); got != want {
		t.Errorf("around the end: got %+v, want %+v", got, want)
	}
	if got, want := expect(t, d, op, 10, 5, 0), (Expected{Digest: digestOf(t, "int int")}); got != want {
		t.Errorf("nothing: got %+v, want %+v", got, want)
	}
}

func TestExpectOfSeveralSteps(t *testing.T) {
	d := account(t)
	op := assay.Operation{Name: "both", Steps: []assay.Step{
		query("SELECT balance FROM account WHERE id = ?", 1, "int"),
		query("SELECT name FROM account WHERE id > ? ORDER BY id LIMIT 2", 2, "text"),
	}}
	all := sha256.Sum256([]byte(digestOf(t, "int", []any{int64(0)}, []any{int64(10)}) +
		digestOf(t, "text", []any{"a1"}, []any{"a2"}, []any{"a2"}, []any{"a3"})))
	want := Expected{Rows: 6, Digest: hex.EncodeToString(all[:])}
	if got := expect(t, d, op, 10, 0, 2); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestExpectOfDates: values are digested as they are stored, whatever the
// oracle's driver makes of columns declared as dates.
func TestExpectOfDates(t *testing.T) {
	d := account(t)
	op := assay.Operation{Name: "days", Steps: []assay.Step{
		{SQL: "SELECT d, open, price FROM day ORDER BY open DESC -- comment", Query: true, Rows: 2}}}
	want := Expected{Rows: 2, Digest: digestOf(t, "text bool real", []any{"2024-02-29", true, 5.0}, []any{"not a date", false, 5.5})}
	if got := expect(t, d, op, 1, 0, 1); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestExpectOfChanges(t *testing.T) {
	d := account(t)
	before := read(t, d.Path)
	op := assay.Operation{Name: "pay", Changes: true,
		Steps: []assay.Step{{SQL: "UPDATE account SET balance = balance + 1 WHERE id = ?", Args: next, Rows: 1}},
		Check: &assay.Query{SQL: "SELECT sum(balance), max(id * (balance % 10)) FROM account"}}
	// 2 + 3 operations, the warm-up's included: 1900 + 5, and id 4 was the last.
	want := Expected{State: digestOf(t, "int int", []any{int64(1905), int64(4)})}
	if got := expect(t, d, op, 20, 2, 3); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// More operations than one transaction holds.
	op.Steps[0].SQL, op.Steps[0].Args = "UPDATE account SET balance = balance + 1 WHERE id = 0 * ?", next
	want = Expected{State: digestOf(t, "int int", []any{int64(1900 + 2500), int64(0)})}
	if got := expect(t, d, op, 3000, 500, 2000); got != want {
		t.Errorf("many: got %+v, want %+v", got, want)
	}
	op.Check = nil
	if got := expect(t, d, op, 20, 0, 3); got != (Expected{}) {
		t.Errorf("without a check: %+v", got)
	}
	if read(t, d.Path) != before {
		t.Error("the data were changed")
	}
	if got := names(t, filepath.Dir(filepath.Dir(d.Path))); len(got) != 1 {
		t.Errorf("left in the cache: %q", got)
	}
}

// TestExpectOfChangesWithAnswers: what a changing operation reads counts from
// position from on, after all changes before it.
func TestExpectOfChangesWithAnswers(t *testing.T) {
	d := account(t)
	op := assay.Operation{Name: "insert", Changes: true, Steps: []assay.Step{
		{SQL: "INSERT INTO account (id, balance) VALUES (? + 100, 7) RETURNING id, name", Query: true, Args: next, Rows: 1},
		{SQL: "SELECT count(*) FROM account", Query: true, Rows: 1},
	}}
	all := sha256.Sum256([]byte(digestOf(t, "int text?", []any{int64(101), nil}, []any{int64(102), nil}) +
		digestOf(t, "int", []any{int64(22)}, []any{int64(23)})))
	want := Expected{Rows: 4, Digest: hex.EncodeToString(all[:])}
	if got := expect(t, d, op, 10, 1, 2); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestExpectOfMix(t *testing.T) {
	d := account(t)
	reading := assay.Operation{Name: "read", Steps: []assay.Step{query("SELECT balance FROM account WHERE id = ? % 20", 1, "int")}}
	paying := assay.Operation{Name: "pay", Changes: true,
		Steps: []assay.Step{{SQL: "UPDATE account SET balance = balance + ? WHERE id = 0", Args: next, Rows: 1}}}
	mix := assay.Operation{Name: "app", Changes: true, Parts: []assay.Part{{Operation: reading, Weight: 1}, {Operation: paying, Weight: 1}},
		Check: &assay.Query{SQL: "SELECT balance FROM account WHERE id = 0", Returns: []assay.Type{"int"}}}
	trace := makeTrace(t, d, mix, 100)
	sum := int64(0)
	for _, row := range values(t, trace.Path)[:30] {
		if row[0] == int64(1) {
			sum += row[1].(int64)
		}
	}
	if sum == 0 {
		t.Fatal("no part of the mix pays")
	}
	got, err := d.Expect(t.Context(), mix, trace, 10, 20)
	if want := (Expected{State: digestOf(t, "int", []any{sum})}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	mix.Parts, mix.Changes = mix.Parts[:1], false
	if got := expect(t, d, mix, 10, 0, 5); got != (Expected{}) {
		t.Errorf("a mix that only reads: %+v", got)
	}
}

func TestExpectIsCached(t *testing.T) {
	d := account(t)
	op := assay.Operation{Name: "read", Steps: []assay.Step{query("SELECT balance FROM account WHERE id = ?", 1, "int")}}
	first := expect(t, d, op, 10, 0, 5)
	cached, err := filepath.Glob(filepath.Join(filepath.Dir(d.Path), "expect-*.json"))
	if err != nil || len(cached) != 1 {
		t.Fatalf("%q, %v", cached, err)
	}
	must(t, os.WriteFile(cached[0], []byte(`{"Digest":"from the cache"}`), 0o644))
	if got := expect(t, d, op, 10, 0, 5); got.Digest != "from the cache" {
		t.Errorf("computed again: %+v", got)
	}
	for name, other := range map[string]Expected{
		"count": expect(t, d, op, 10, 0, 4), "from": expect(t, d, op, 10, 1, 5), "trace": expect(t, d, op, 4, 0, 5),
	} {
		if other.Digest == "from the cache" || other.Digest == first.Digest {
			t.Errorf("another %s: %+v", name, other)
		}
	}
	must(t, os.WriteFile(cached[0], []byte(`{"Dig`), 0o644))
	if got := expect(t, d, op, 10, 0, 5); got != first {
		t.Errorf("after damage: %+v, want %+v", got, first)
	}
}

func TestExpectErrors(t *testing.T) {
	d := account(t)
	change := func(sql string, rows int) assay.Operation {
		return assay.Operation{Name: "op", Changes: true, Steps: []assay.Step{{SQL: sql, Args: next, Rows: rows}}}
	}
	reading := func(step assay.Step) assay.Operation { return assay.Operation{Name: "op", Steps: []assay.Step{step}} }
	cases := map[string]struct {
		op   assay.Operation
		want []string
	}{
		"rows answered": {reading(query("SELECT id FROM account WHERE id = ? + 18", 1, "int")),
			[]string{`operation "op", step 1 at position 2: 0 rows, the operation says 1`, "WHERE id = ? + 18"}},
		"rows changed": {change("DELETE FROM account WHERE id < ?", 0), []string{"step 1 at position 1: 1 rows, the operation says 0"}},
		"syntax":       {reading(query("SELEC ?", 1, "int")), []string{`operation "op": step 1:`, "syntax error", "SELEC ?"}},
		"type":         {reading(query("SELECT name FROM account WHERE id = ?", 1, "int")), []string{"row 1, column 1: string where int is declared"}},
		"NULL":         {reading(query("SELECT nullif(id, 1) FROM account WHERE id = ?", 1, "int")), []string{"position 1", "NULL where int is declared"}},
		"unknown type": {reading(query("SELECT 1 WHERE ?", -1, "integer")), []string{`type "integer"`}},
		"writes unsaid": {reading(assay.Step{SQL: "DELETE FROM account WHERE id = ?", Args: next}),
			[]string{"attempt to write a readonly database"}},
		"constraint": {change("INSERT INTO account (id, balance) VALUES (?, 1)", 1), []string{"UNIQUE constraint failed: account.id"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := d.Expect(t.Context(), c.op, makeTrace(t, d, c.op, 10), 0, 5)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v lacks %q", err, want)
				}
			}
		})
	}
	op := reading(query("SELECT id FROM account WHERE id = ?", 1, "int"))
	for _, position := range [][2]int{{-1, 1}, {0, -1}} {
		if _, err := d.Expect(t.Context(), op, makeTrace(t, d, op, 1), position[0], position[1]); err == nil {
			t.Errorf("position %d is accepted", position)
		}
	}
	if _, err := d.Expect(t.Context(), op, nil, 0, 1); err == nil {
		t.Error("no trace is accepted")
	}
	if _, err := d.Expect(t.Context(), op, makeTrace(t, d, op, 0), 0, 1); err == nil || !strings.Contains(err.Error(), "0 rows") {
		t.Errorf("an empty trace: %v", err)
	}
}

func TestExpectCancelled(t *testing.T) {
	d := account(t)
	op := assay.Operation{Name: "pay", Changes: true,
		Steps: []assay.Step{{SQL: "UPDATE account SET balance = balance + ?", Args: next, Rows: 20}}}
	trace := makeTrace(t, d, op, 10)
	before := fmt.Sprint(names(t, filepath.Dir(d.Path)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Expect(ctx, op, trace, 0, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if after := fmt.Sprint(names(t, filepath.Dir(d.Path))); after != before || len(names(t, filepath.Dir(filepath.Dir(d.Path)))) != 1 {
		t.Errorf("left behind: %s", after)
	}
}
