//go:build unix

package runner

import (
	"maps"
	"strings"
	"testing"
	"time"
)

// unprepared are the outcomes of the cells that could not be prepared, by operation
// and driver, and the operations that could.
func unprepared(t *testing.T, b *bench) (outcomes map[string]string, prepared []string) {
	t.Helper()
	r, err := Prepare(t.Context(), b.Config)
	must(t, err)
	outcomes = map[string]string{}
	for _, trial := range r.unmeasured {
		outcomes[trial.Cell.Operation+" "+trial.Cell.Driver] = string(trial.Outcome) + ": " + trial.Reason
	}
	for _, g := range r.groups {
		for _, m := range g.members {
			for _, j := range m.jobs {
				if !m.twin {
					prepared = append(prepared, j.Cell.Operation+" "+j.Cell.Driver)
				}
			}
		}
	}
	return outcomes, prepared
}

const circle = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) AS n FROM c"

// A query or a check that never ends costs its own cells only, and says which it
// is.
func TestPreparingThatDoesNotEnd(t *testing.T) {
	unchecked := strings.NewReplacer("  insert:", "  unchecked:", "SELECT id, hp FROM monster ORDER BY id", circle, "returns: [int, int]", "returns: [int]").Replace(insert)
	b := newBench(t, header+read+"  endless: {sql: \""+circle+"\", rows: 1, returns: [int]}\n"+unchecked+"  app: {mix: {read: 1, endless: 1}, count: 10}\n")
	b.Timeout = 5 * time.Second
	began := time.Now()
	got, prepared := unprepared(t, b)
	if took := time.Since(began); took >= 4*b.Timeout {
		t.Errorf("it took %s: the time limit of %s was waited for more than once each", took, b.Timeout)
	}
	want := map[string]string{}
	for _, operation := range []string{"endless", "unchecked"} {
		reason := "not-run: its expected answers took longer than 5s to find"
		want[operation+" honest"], want[operation+" second"] = reason, reason
	}
	want["app honest"], want["app second"] = "not-run: its part endless is left out", "not-run: its part endless is left out"
	if !maps.Equal(got, want) {
		t.Errorf("not prepared: got %v, want %v", got, want)
	}
	same(t, "prepared", prepared, []string{"read honest", "read second"})
}

// A schema that never ends costs the cells of its workload.
func TestSchemaThatDoesNotEnd(t *testing.T) {
	b := newBench(t, strings.Replace(header, "CREATE TABLE", "CREATE VIEW circle AS "+circle+"; CREATE TABLE ends AS SELECT n FROM circle; CREATE TABLE", 1)+read)
	b.Timeout = 5 * time.Second
	began := time.Now()
	got, prepared := unprepared(t, b)
	if took := time.Since(began); took > 2*b.Timeout {
		t.Errorf("it took %s: the time limit of %s was waited for more than once", took, b.Timeout)
	}
	for _, cell := range []string{"read honest", "read second"} {
		if !strings.HasPrefix(got[cell], "timed-out: to prepare the data of monster/read") || !strings.Contains(got[cell], "schema: the statement took longer than the time limit (5s)") {
			t.Errorf("%s: got %q, want that its schema took too long", cell, got[cell])
		}
	}
	same(t, "prepared", prepared, nil)
}
