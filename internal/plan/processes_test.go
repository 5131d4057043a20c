package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const sharing = `name: p
drivers: [d]
processes: [1, 4]
workload: {schema: CREATE TABLE t (id INTEGER PRIMARY KEY)}
operations:
  read: {sql: SELECT id FROM t, clients: [1, 2], processes: 3}
  add: {sql: INSERT INTO t VALUES (NULL), transaction: 100}
  web: {sql: SELECT id FROM t, serve: http, processes: 1}
`

// TestProcesses: each operation has a cell for each number of processes, with enough
// transactions for all clients.
func TestProcesses(t *testing.T) {
	p, err := Decode("p.yaml", []byte(sharing))
	must(t, err)
	cases, err := p.Expand(nil)
	must(t, err)
	var got []string
	for _, c := range cases {
		got = append(got, fmt.Sprint(c.Cell.Operation, " ", c.Cell.Clients, "x", c.Cell.Processes, " pool ", c.Cell.Pool, " count ", c.Operation.Count))
	}
	want := []string{"read 1x3 pool 1 count 10000", "read 2x3 pool 2 count 10000", "add 1x1 pool 1 count 1000", "add 1x4 pool 1 count 4000", "web 1x1 pool 1 count 10000"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for value, n := range map[string]int{"1": 2, "3": 2, "4": 1} {
		if found, err := Select(cases, map[string][]string{"processes": {value}}); len(found) != n || err != nil {
			t.Errorf("processes=%s: %d cells, %v, want %d", value, len(found), err, n)
		}
	}
	if cases, err = p.Scaled(Scale{Clients: 2}).Expand(nil); err != nil || cases[0].Cell.Processes != 3 || cases[0].Unscaled.Processes != 3 {
		t.Errorf("scaled: got %+v, %v, want 3 processes before and after", cases[0].Cell, err)
	}
}

func TestProcessesMistakes(t *testing.T) {
	for change, want := range map[string]string{
		"processes: [1, 4]\nprocesses: 0":        "p.yaml:3:12: processes must be 1 to 1000, not 0",
		"processes: [1, 4]\nprocesses: [2, 2]":   "p.yaml:3:16: processes 2 is listed twice",
		"serve: http, processes: 1\nserve: http": "p.yaml:8:8: one process serves an operation over HTTP: give the operation processes: 1",
		"{sql: INSERT INTO t VALUES (NULL), transaction: 100}\n{sql: INSERT INTO t VALUES (NULL), transaction: whole}":                                             "a whole transaction is of one client, and there are 4",
		"  web: {sql: SELECT id FROM t, serve: http, processes: 1}\n  web: {call: insert, changes: true, params: {n: 1}, answer: {sql: SELECT 1, returns: [int]}}": "a call is made in one process: give the operation processes: 1",
	} {
		old, text, _ := strings.Cut(change, "\n")
		p, err := Decode("p.yaml", []byte(strings.Replace(sharing, old, text, 1)))
		if err == nil {
			_, err = p.Expand(nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
