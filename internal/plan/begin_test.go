package plan

import (
	"slices"
	"strings"
	"testing"

	"assay"
)

const transfers = `name: p
drivers: [d]
begin: [deferred, exclusive]
workload: {schema: CREATE TABLE t (id INTEGER PRIMARY KEY)}
operations:
  read: {sql: SELECT id FROM t}
  many: {sql: INSERT INTO t VALUES (NULL), transaction: [none, 10]}
  one: {sql: INSERT INTO t VALUES (NULL), transaction: 1, begin: immediate}
  app: {mix: {read: 9, one: 1}}
`

// TestBegin: transactions that change data have a cell for each way to begin, and nothing else has.
func TestBegin(t *testing.T) {
	p, err := Decode("p.yaml", []byte(transfers))
	must(t, err)
	cases, err := p.Expand(nil)
	must(t, err)
	var got []string
	for _, c := range cases {
		got = append(got, strings.TrimSpace(c.Cell.Operation+" "+assay.TransactionString(c.Cell.Transaction)+" "+string(c.Cell.Begin)))
	}
	want := []string{"read none", "many none", "many 10 deferred", "many 10 exclusive", "one 1 immediate", "app none deferred", "app none exclusive"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for value, n := range map[string]int{"deferred": 2, "immediate": 1, "exclusive": 2} {
		if found, err := Select(cases, map[string][]string{"begin": {value}}); len(found) != n || err != nil {
			t.Errorf("begin=%s: %d cells, %v, want %d", value, len(found), err, n)
		}
	}
	p, err = Decode("p.yaml", []byte(strings.Replace(transfers, "begin: [deferred, exclusive]\n", "", 1)))
	must(t, err)
	if cases, err = p.Expand(nil); err != nil {
		t.Fatal(err)
	}
	if found, err := Select(cases, map[string][]string{"begin": {"immediate"}}); len(found) != 2 || err != nil {
		t.Errorf("begin=immediate, of a plan that does not say: %d cells, %v, want those of transactions, 2", len(found), err)
	}
}

func TestBeginMistakes(t *testing.T) {
	for change, want := range map[string]string{
		"begin: [deferred, defered]":  `unknown value of begin "defered" (did you mean "deferred"?)`,
		"begin: [deferred, deferred]": `"deferred" is listed twice`,
	} {
		if _, err := Decode("p.yaml", []byte(strings.Replace(transfers, "begin: [deferred, exclusive]", change, 1))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", change, err, want)
		}
	}
	text := strings.Replace(transfers, "  read: {sql: SELECT id FROM t}", "  read: {sql: SELECT id FROM t, begin: deferred}", 1)
	if _, err := Decode("p.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "p.yaml:6:") {
		t.Errorf("begin of an operation that only reads: got %v, want a mistake in line 6", err)
	}
}

// A part of weight 0 never comes, and the mix is still one that changes data, as with other weights.
func TestMixWithoutAPart(t *testing.T) {
	plan := strings.Replace(strings.Replace(transfers, "begin: [deferred, exclusive]\n", "", 1), "app: {mix: {read: 9, one: 1}}", `app: {mix: {read: 9, one: ":ones"}, params: {ones: [0, 1]}}`, 1)
	p, err := Decode("p.yaml", []byte(plan))
	must(t, err)
	cases, err := p.Expand(nil)
	must(t, err)
	cases, err = Select(cases, map[string][]string{"operation": {"app"}})
	must(t, err)
	slices.SortFunc(cases, func(a, b assay.Case) int { return len(a.Operation.Parts) - len(b.Operation.Parts) })
	if len(cases) != 2 || len(cases[0].Operation.Parts) != 1 || len(cases[1].Operation.Parts) != 2 || !cases[0].Operation.Changes || cases[0].Operation.Writers != 1 {
		t.Errorf("got %+v, want one part and two, both of a mix with a writer", cases)
	}
	if p, err = Decode("p.yaml", []byte(strings.Replace(transfers, "{read: 9, one: 1}", `{read: ":none", one: 0}, params: {none: [0]}`, 1))); err == nil {
		_, err = p.Expand(nil)
	}
	if err == nil || !strings.Contains(err.Error(), "weight above 0") {
		t.Errorf("a mix of nothing: %v, want it refused", err)
	}
}
