//go:build unix

package runner

import (
	"fmt"
	"strings"
	"testing"

	"assay"
)

// scripted changes rows by several statements that one call executes, and within
// savepoints.
const scripted = `name: scripted
drivers: [DRIVER]
profiles: {unsynced: {journal_mode: wal, synchronous: off}}
workload:
  name: bank
  schema: |
    CREATE TABLE account (id INTEGER PRIMARY KEY, sum INTEGER NOT NULL);
    CREATE TABLE entry (id INTEGER PRIMARY KEY, account INTEGER NOT NULL);
  data:
    account: SELECT value, random(1, 99) FROM generate_series(1, 20)
operations:
  script:
    sql: |
      INSERT INTO entry (account) VALUES (3); -- one; and another
      UPDATE account SET sum = sum + 1 WHERE id = 3;
    transaction: [none, 10]
    count: 50
  checked:
    sql: INSERT INTO entry (account) VALUES (4); INSERT INTO entry (account) VALUES (5)
    count: 50
    check: SELECT count(*), sum(account) FROM entry
  savepoints:
    steps:
      - sql: INSERT INTO entry VALUES (?, 7)
        args: SELECT :i
        rows: 1
      - sql: SAVEPOINT inner
      - sql: UPDATE account SET sum = sum + 1000 WHERE id = ?
        args: SELECT random(1, 20)
        rows: 1
      - sql: ROLLBACK TO inner
      - sql: UPDATE account SET sum = sum + 1 WHERE id = 9; RELEASE inner
    transaction: [1, 10]
    count: 50
`

// What a script and what savepoints leave is compared with what SQLite leaves, in
// transactions of one, of several and of none.
func TestScriptsAndSavepoints(t *testing.T) {
	for driver, want := range map[string]assay.Outcome{"honest": assay.OK, drops: assay.WrongAnswer} {
		b := newBench(t, strings.Replace(scripted, "DRIVER", driver, 1))
		launchOnce(t, &b.Config)
		seen := map[string]bool{}
		for _, trial := range b.trials {
			seen[fmt.Sprint(trial.Cell.Operation, trial.Cell.Transaction)] = true
			if trial.Outcome != want || want == assay.OK && trial.Checked != assay.CheckKeys && trial.Checked != assay.CheckState {
				t.Errorf("%s, %s: got %s, checked %q, %s; want %s", driver, trial.Cell.Operation, trial.Outcome, trial.Checked, trial.Reason, want)
			}
		}
		if len(seen) != 5 {
			t.Errorf("%s: measured were %v, want 5 cells", driver, seen)
		}
	}
}
