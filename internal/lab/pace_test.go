package lab

import (
	"testing"
	"time"

	"assay"
	"assay/internal/dataset"
	"assay/internal/runner"
)

// What there was no time for takes as long as what was timed on the same data.
func TestGuessPaces(t *testing.T) {
	on := func(workload, operation, rows string) assay.Case {
		return assay.Case{Cell: assay.Cell{Workload: workload, Operation: operation, Params: map[string]string{"rows": rows}}}
	}
	const ms = time.Millisecond
	wanted := []struct {
		c             assay.Case
		before, after time.Duration
	}{
		{on("forum", "by-id", "10"), 1 * ms, 1 * ms}, {on("forum", "feed", "10"), 30 * ms, 30 * ms}, {on("forum", "search", "10"), 40 * ms, 40 * ms},
		{on("forum", "mix", "10"), 0, 30 * ms},
		{on("forum", "mix", "1000"), 0, 0}, // nothing was timed on these data
		{on("shop", "mix", "10"), 0, 0},
	}
	var cases []assay.Case
	paces := map[string]pace{}
	for _, w := range wanted {
		cases = append(cases, w.c, w.c) // of two profiles
		paces[paceKey(w.c)] = pace{Pace: runner.Pace{Each: w.before}}
	}
	guessPaces(paces, cases)
	for _, w := range wanted {
		if got := paces[paceKey(w.c)].Each; got != w.after {
			t.Errorf("%s: got %s, want %s", paceKey(w.c), got, w.after)
		}
	}
}

// What is checked of new rows has values, and so types, only behind them.
func TestCheckOfNewRows(t *testing.T) {
	data, err := dataset.Cache{Dir: t.TempDir()}.Prepare(t.Context(), assay.Dataset{Schema: "CREATE TABLE t (id INTEGER PRIMARY KEY, x)"})
	if err != nil {
		t.Fatal(err)
	}
	for check, wrong := range map[string]bool{"SELECT x FROM t WHERE id > 0": false, "SELECT y FROM t": true} {
		insert := assay.Operation{Name: "insert", Changes: true, Steps: []assay.Step{{SQL: "INSERT INTO t (x) VALUES (?)", Args: []assay.Values{{Kind: assay.Uniform, From: 1, To: 9}}, Rows: 1}}, Check: &assay.Query{SQL: check}}
		if found, err := timed(t.Context(), data, insert); (err != nil) != wrong || !wrong && found.Check == 0 {
			t.Errorf("%s: got %+v, %v, want an error: %t", check, found, err, wrong)
		}
	}
}
