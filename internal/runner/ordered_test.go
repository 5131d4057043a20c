//go:build unix

package runner

import (
	"context"
	"strings"
	"testing"
	"time"

	"assay"
)

// orders are changes whose checks depend on the order of commits, and one that does not.
const orders = `name: orders
drivers: [honest]
profiles: {unsynced: {journal_mode: wal, synchronous: off}}
workload:
  name: bank
  schema: |
    CREATE TABLE account (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE entry (id INTEGER PRIMARY KEY, account INTEGER NOT NULL, text TEXT);
  data:
    account: SELECT value, text(8) FROM generate_series(1, 5)
    entry: SELECT value, random(1, 5), text(8) FROM generate_series(1, 10)
operations:
  any-order: {sql: "INSERT INTO entry (account, text) VALUES (?, ?)", args: "SELECT random(1, 5), text(8)", rows: 1, count: 400, busy: retry, check: "SELECT account, text FROM entry WHERE id > 10 ORDER BY account, text"}
  numbered: {sql: "INSERT INTO entry (account, text) VALUES (?, ?)", args: "SELECT random(1, 5), text(8)", rows: 1, count: 400, busy: retry, check: "SELECT id, account, text FROM entry WHERE id > 10 ORDER BY id"}
  rename: {sql: UPDATE account SET name = ?2 WHERE id = ?1, args: "SELECT random(1, 5), text(8)", rows: 1, count: 400, busy: retry, check: "SELECT id, name FROM account ORDER BY id"}
`

// Where there was no time to learn whether the order matters, no driver is blamed for it, and the
// trial says what is not compared.
func TestUnknownOrderOfCommits(t *testing.T) {
	b := newBench(t, strings.Replace(orders, "drivers: [honest]", "drivers: [honest]\nclients: 2\npool: 2", 1))
	r, err := Prepare(t.Context(), b.Config)
	must(t, err)
	for key := range r.prepared.anyOrder {
		r.prepared.anyOrder[key] = nil
	}
	for _, ready := range r.ready {
		j := ready.job
		j.state, j.rows = "", nil
		must(t, r.expectState(t.Context(), j))
		if j.state != "" || j.rows != nil || len(j.uncompared()) != 1 {
			t.Errorf("%s: got the state %q, rows %v and the doubts %v, want none and that it is not compared", j.Operation.Name, j.state, j.rows, j.uncompared())
		}
	}
}

// What is found one after the other ends within the time of all.
func TestHalfLeft(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	inner, cancelInner := context.WithTimeout(ctx, halfLeft(ctx))
	defer cancelInner()
	if outer, inner := halfLeft(ctx), halfLeft(inner); outer > 30*time.Minute || inner > 15*time.Minute || inner < 10*time.Minute {
		t.Errorf("got %s of an hour, and %s of that, want 30 and 15 minutes", outer, inner)
	}
}

// A right driver is not blamed for the order in which its clients commit, and one that
// loses a row is found with any number of clients.
func TestOrderOfCommits(t *testing.T) {
	for _, clients := range []string{"1", "2"} {
		for driver, want := range map[string]assay.Outcome{"honest": assay.OK, drops: assay.WrongAnswer, forgetsLast: assay.WrongAnswer} {
			t.Run(driver+" with "+clients, func(t *testing.T) {
				b := newBench(t, strings.Replace(orders, "drivers: [honest]", "drivers: ["+driver+"]\nclients: "+clients+"\npool: "+clients, 1))
				launchOnce(t, &b.Config)
				seen := map[string]bool{}
				for _, trial := range b.trials {
					name := trial.Cell.Operation
					seen[name] = true
					if clients == "2" && name == "rename" && driver == forgetsLast {
						continue // another client may write the same row later
					}
					if trial.Outcome != want {
						t.Errorf("%s: got %s, %s; want %s", name, trial.Outcome, trial.Reason, want)
					}
					whole := clients == "1" || name == "any-order"
					if want == assay.OK && (trial.Checked == assay.CheckState) != whole {
						t.Errorf("%s: checked %q", name, trial.Checked)
					}
					hint := strings.Contains(trial.Reason, "; 2 clients commit in any order")
					if want == assay.WrongAnswer && hint != (clients == "2" && whole) {
						t.Errorf("%s: the reason is %q", name, trial.Reason)
					}
				}
				if len(seen) != 3 {
					t.Errorf("measured were %v, want 3 operations", seen)
				}
			})
		}
	}
}
