//go:build unix

package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/dataset"
	"assay/kit/process"
	"assay/kit/wire"
)

// open are operations whose SQL leaves the order of rows open, or which rows there are.
const open = `  some: {sql: "SELECT id, hp FROM monster WHERE hp > ?", args: "SELECT random(1, 50)", returns: [int, int]}
  ties: {sql: "SELECT id FROM monster ORDER BY hp / 10", rows: 100, returns: [int]}
  few: {sql: "SELECT id, hp FROM monster LIMIT 5", rows: 5, returns: [int, int]}
  many: {sql: "SELECT id, hp FROM monster", rows: 100, returns: [int, int], clients: 4, pool: 4, count: 40}
  write: {sql: "UPDATE monster SET hp = ? WHERE id = ?", args: "SELECT random(1, 99), random(1, 100)", rows: 1, count: 100, check: {sql: "SELECT id, hp FROM monster", returns: [int, int]}}
  insert: {sql: "INSERT INTO monster (id, hp) VALUES (?, ?)", args: "SELECT 100 + :i, random(1, 99)", rows: 1, only: mix}
  mixed: {mix: {some: 80, insert: 20}, count: 200}
`

// Rows whose order the SQL leaves open are right in any order, and only these rows.
func TestRowsInAnyOrder(t *testing.T) {
	for driver, want := range map[string]assay.Outcome{"honest": assay.OK, "lies-digest": assay.WrongAnswer} {
		t.Run(driver, func(t *testing.T) {
			text := strings.Replace(header, "honest, second", driver, 1)
			b := newBench(t, strings.Replace(text, "cache_size: -4096", "reverse_unordered_selects: on", 1)+open)
			launchOnce(t, &b.Config)
			seen := map[string]bool{}
			for _, trial := range b.trials {
				seen[trial.Cell.Operation] = true
				if trial.Outcome != want {
					t.Errorf("%s: got %s (%s), want %s", trial.Cell.Operation, trial.Outcome, trial.Reason, want)
				}
			}
			if len(seen) != 6 {
				t.Errorf("measured were %d operations, want 6", len(seen))
			}
		})
	}
}

// Clients of the measured part that answer other rows than one client are wrong, in whatever
// order.
func TestWrongRowsInAnyOrder(t *testing.T) {
	b := newBench(t, strings.Replace(strings.Replace(header, "honest, second", wrongInside, 1), "cache_size: -4096", "reverse_unordered_selects: on", 1)+
		`  many: {sql: "SELECT id, hp FROM monster", rows: 100, returns: [int, int], clients: 4, pool: 4, count: 40}`+"\n")
	launchOnce(t, &b.Config)
	for _, trial := range b.trials {
		if trial.Outcome != assay.WrongAnswer || !strings.Contains(trial.Reason, "after measuring") {
			t.Errorf("got %s (%s), want a wrong answer after measuring", trial.Outcome, trial.Reason)
		}
	}
}

// Beside changes, nobody knows the rows of an answer in an open order: that of a driver that is
// right, whose order is another one, and that of one whose rows are wrong. The trial says so.
func TestOpenOrderBesideChanges(t *testing.T) {
	for driver, unordered := range map[string]string{"honest": "on", wrongInside: "off"} {
		text := strings.NewReplacer("honest, second", driver, "cache_size: -4096", "reverse_unordered_selects: "+unordered).Replace(header)
		b := newBench(t, text+open)
		b.Cases = slices.DeleteFunc(b.Cases, func(c assay.Case) bool { return c.Cell.Operation != "mixed" })
		launchOnce(t, &b.Config)
		for _, trial := range b.trials {
			if trial.Outcome != assay.OK || !strings.Contains(uncompared(trial), "of 20 are not)") {
				t.Errorf("%s: got %s (%s) with the doubt %q, want ok and how many answers are not compared", driver, trial.Outcome, trial.Reason, uncompared(trial))
			}
		}
		if len(b.trials) == 0 {
			t.Errorf("%s: no trial", driver)
		}
	}
}

// The first wrong column of a row is named; what somebody keeps in a database is not told.
func TestWrongColumnIsNamed(t *testing.T) {
	step := assay.Step{Returns: []assay.Type{"int", "real", "text?"}}
	right := []any{int64(1), 2.0, "c"}
	for _, c := range []struct {
		got     []any
		private bool
		want    string
	}{
		{[]any{int64(1), int64(2), []byte("c")}, false, ""},
		{[]any{int64(1), 2.5, "c"}, false, "column 2 is 2.5, want 2"},
		{[]any{int64(1), 2.0, nil}, false, `column 3 is NULL, want "c"`},
		{[]any{"1", 2.0, "c"}, false, `column 1 is "1", want 1`},
		{[]any{int64(1), 2.0, "secret"}, true, "column 3 is another text?"},
		{[]any{int64(1)}, false, "it has 1 columns, want 3"},
	} {
		if got := wrongValue(step, c.got, right, c.private); got != c.want {
			t.Errorf("%v: got %q, want %q", c.got, got, c.want)
		}
	}
}

// askedRows is an instance of a shell script that has a database open and has prepared the operation "read", and then is
// asked for its rows.
func askedRows(t *testing.T, script string) *instance {
	t.Helper()
	program := filepath.Join(t.TempDir(), "worker")
	before := `#!/bin/sh
echo '{"type":"hello","protocol":1,"target":{"driver":"script"},"capabilities":["sql","query"]}'
read request && echo '{"type":"ok","id":1}'
read request && echo '{"type":"ok","id":2,"body":{"query_plan":"SCAN CONSTANT ROW"}}'
`
	must(t, os.WriteFile(program, []byte(before+script), 0o700))
	w, err := process.Start(t.Context(), program, process.Options{Dir: t.TempDir()})
	must(t, err)
	t.Cleanup(w.Kill)
	read := wire.Operation{Name: "read", Steps: []wire.Step{{SQL: "SELECT 1", Query: true, Returns: []string{"int"}}}}
	must(t, w.Call(t.Context(), wire.TypeOpen, wire.Open{Readers: 1}, nil))
	must(t, w.Call(t.Context(), wire.TypePrepare, wire.Prepare{Operation: read, Clients: 1}, nil))
	return &instance{worker: w, r: &Runner{config: Config{Timeout: time.Minute}}}
}

// A worker that does not tell its rows again is ended in time, and nothing is said of them.
func TestRowsThatAreNotTold(t *testing.T) {
	in := askedRows(t, "while read request; do :; done\n")
	in.r.config.Timeout = 50 * time.Millisecond
	if said := in.difference(t.Context(), &job{}, "read", expectation{count: 1}); said != "" || in.worker.Alive() {
		t.Errorf("got %q, the worker lives: %t; want nothing of one that has ended", said, in.worker.Alive())
	}
}

// The first wrong row is told; of what somebody keeps in a file, or has recorded, no value.
func TestWrongRowIsTold(t *testing.T) {
	const five = `read request
path=${request##*'"rows":"'}
printf '\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\1\5\0\0\0\0\0\0\0' >"${path%%'"'*}"
echo '{"type":"ok","id":3}'
read request
`
	data, err := dataset.Cache{Dir: t.TempDir()}.Prepare(t.Context(), assay.Dataset{Schema: "CREATE TABLE t (n INTEGER)"})
	must(t, err)
	op := assay.Operation{Name: "read", Steps: []assay.Step{{SQL: "SELECT 1", Query: true, Rows: 1, Returns: []assay.Type{"int"}}}}
	trace, err := data.Trace(t.Context(), op, 1)
	must(t, err)
	for _, c := range []struct {
		of   assay.Dataset
		want string
	}{
		{assay.Dataset{}, "is 5, want 1"},
		{assay.Dataset{File: "own.db"}, "is another int"},
		{assay.Dataset{Recorded: "log.db"}, "is another int"},
	} {
		j := &job{Case: assay.Case{Dataset: c.of}, data: data}
		want := "; at position 0, row 1 is the first that differs: column 1 " + c.want
		if said := askedRows(t, five).difference(t.Context(), j, "read", expectation{operation: op, trace: trace, count: 1}); said != want {
			t.Errorf("file %q, recorded %q: got %q, want %q", c.of.File, c.of.Recorded, said, want)
		}
	}
}
