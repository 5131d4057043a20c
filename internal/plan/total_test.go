package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const totals = `name: totals
drivers: [mattn, modernc]
clients: [1, 2]
profiles: {plain: {}, web: {journal_mode: wal}}
workload:
  params: {size: [10, 20]}
  schema: CREATE TABLE t (id INTEGER PRIMARY KEY)
  data: {t: "SELECT value FROM generate_series(1, 10)"}
operations:
  read: {sql: SELECT 1}
  insert: {sql: INSERT INTO t VALUES (?), args: SELECT 10 + :i, transaction: 10, clients: 1}
  both: {sql: SELECT 2, transaction: [none, 2], params: {k: [1, 2]}}
  rows: {sql: SELECT 2, rows: 1, per: row}
  part: {sql: SELECT 3, only: mix}
  mixed: {mix: {part: 1}}
  total: {sum: `

// A sum has, for each operation, the cell that is alike in all that the sum says; it is
// selected together with these, which are marked.
func TestTotal(t *testing.T) {
	p, err := Decode("totals.yaml", []byte(totals+`{insert: ":size", read: 3}, clients: 1}`))
	must(t, err)
	cases, err := p.Expand(nil)
	must(t, err)
	selected, err := SelectToMeasure(cases, map[string][]string{"operation": {"total"}, "size": {"20"}, "driver": {"modernc"}, "profile": {"web"}})
	must(t, err)
	var got []string
	for _, c := range selected {
		got = append(got, strings.Join([]string{c.Cell.Operation, c.Cell.Driver, c.Cell.Profile, c.Cell.ParamString(), fmt.Sprint(c.ForSum)}, " "))
	}
	want := []string{"read modernc web size=20 true", "insert modernc web size=20 true", "total modernc web size=20 false"}
	if !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	total := selected[2].Operation
	if !total.Changes || len(total.Terms) != 2 || total.Terms[0].Times != 20 || total.Terms[1].Times != 3 ||
		total.Terms[0].Peer != selected[1].Cell.Peer() || total.Terms[1].Peer != selected[0].Cell.Peer() {
		t.Errorf("got %+v, want 20 times insert and 3 times read, which changes data", total)
	}
}

func TestTotalMistakes(t *testing.T) {
	for sum, want := range map[string]string{
		`{}, clients: 1`:                     "sum is empty: leave it out",
		`{insrt: 1}, clients: 1`:             `unknown operation "insrt" (did you mean "insert"?)`,
		`{part: 1}`:                          "part is measured in a mix only, and a sum needs its own time",
		`{rows: 1}`:                          "rows is measured per row: a sum needs the time of the operation",
		`{total: 1}`:                         "total is a sum, a call or served: a sum has other operations",
		`{read: 0}`:                          "how many times the operation is done must be 1 to 1000000000, not 0",
		`{insert: 1}`:                        "the sum needs a cell of insert with 2 clients, pool 2, profile plain and its params, and there is none: give both the same clients, pool, profiles and params",
		`{both: 1}`:                          "the sum has several cells of both to choose from: give the sum the same params, and both one statement, one transaction and one begin",
		`{read: 1}, transaction: 1`:          "transaction does not go with sum",
		`{read: 1}, params: {size: [1, 20]}`: `the workload's size has no value 1: an operation takes some of 10, 20`,
		`callss`:                             `unknown value of sum "callss" (did you mean "calls"?)`,
	} {
		_, err := Decode("totals.yaml", []byte(totals+sum+"}\n"))
		var found Errors
		if !errors.As(err, &found) || !strings.Contains(err.Error(), want) {
			t.Errorf("sum: %s: got %v, want %q", sum, err, want)
		}
	}
}
