//go:build unix

package runner

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"assay"
	"assay/internal/dataset/recording"
)

// recordUnits records what clients did.
func recordUnits(t *testing.T, path string, units []recording.Unit) {
	t.Helper()
	w, err := recording.Create(t.Context(), path)
	must(t, err)
	for _, u := range units {
		_, err := w.Add(t.Context(), u)
		must(t, err)
	}
	_, err = w.Close(t.Context(), "")
	must(t, err)
}

// takings are what clients did with stock, each behind the one before: they take one, write that
// down within a savepoint and look.
func takings(clients int64) (units []recording.Unit) {
	for i := range int64(60) {
		u := recording.Unit{Asked: 10 * i, Began: 10 * i, Ended: 10*i + 9, Connection: i % clients, Transaction: i%3 == 0}
		switch i % 3 {
		case 0:
			u.Statements = []recording.Statement{{SQL: "UPDATE stock SET n = n - 1 WHERE id = ?", Args: []any{i%4 + 1}, Rows: 1}, {SQL: "SAVEPOINT s1", Rows: -1},
				{SQL: "INSERT INTO taken VALUES (?, ?)", Args: []any{i, []any{nil, 0.5}[i%2]}, Rows: 1}, {SQL: "RELEASE s1", Rows: -1}}
		case 1:
			u.Statements = []recording.Statement{{SQL: "SELECT n, (SELECT sum(half) FROM taken) FROM stock WHERE id = ?", Args: []any{(i-1)%4 + 1}, Rows: 1}}
		default:
			u.Statements = []recording.Statement{{SQL: "SELECT count(*) FROM taken", Rows: 1}}
		}
		units = append(units, u)
	}
	return units
}

// following is what clients did at the same time: one takes, another finds that it did, and one
// looks. It is right in the order of the log alone.
func following() (units []recording.Unit) {
	for i := range int64(60) {
		u := recording.Unit{Asked: 10 * (i / 3), Began: 10*(i/3) + i%3, Ended: 10*(i/3) + 9, Connection: i % 3}
		u.Statements = []recording.Statement{{SQL: "INSERT INTO taken VALUES (?, NULL)", Args: []any{i}, Rows: 1}, {SQL: "UPDATE taken SET half = 0.5 WHERE id = ?", Args: []any{i - 1}, Rows: 1},
			{SQL: "SELECT count(*) FROM taken", Rows: 1}}[i%3:][:1]
		units = append(units, u)
	}
	return units
}

// replay is a bench that does what was recorded.
func replay(t *testing.T, driver string, units []recording.Unit, clients int64, stock string) *bench {
	t.Helper()
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, "start.db"))
	must(t, err)
	_, err = db.Exec("CREATE TABLE stock (id INTEGER PRIMARY KEY, n INTEGER); CREATE TABLE taken (id INTEGER PRIMARY KEY, half REAL); " + stock)
	must(t, errors.Join(err, db.Close()))
	path := filepath.Join(dir, "app.recorded.db")
	recordUnits(t, path, units)
	b := newBench(t, fmt.Sprintf("name: replayed\ndrivers: [%s]\nprofiles: {unsynced: {journal_mode: wal, synchronous: off, busy_timeout: 5s}}\nworkload: {file: %s, recorded: %s}\noperations: {read: {sql: SELECT 1}}\n", driver, filepath.Join(dir, "start.db"), path))
	r, err := recording.Read(t.Context(), path)
	must(t, err)
	if r.Clients != int(clients) || r.Operation.Count != 60 {
		t.Errorf("got %d clients and %d units, want %d and 60", r.Clients, r.Operation.Count, clients)
	}
	c := &b.Cases[0]
	c.Operation, c.Cell.Operation, c.Cell.Clients, c.Cell.Pool, c.Cell.Idle = r.Operation, "replay", r.Clients, r.Clients, r.Clients
	b.Launches = 1
	return b
}

// A replay does all units, as often as they came, and its answers and rows are checked.
func TestReplay(t *testing.T) {
	const stock = "INSERT INTO stock VALUES (1, 100), (2, 100), (3, 100), (4, 100)"
	for _, clients := range []int64{1, 3} {
		for driver, want := range map[string]assay.Outcome{"honest": assay.OK, drops: assay.WrongAnswer, forgetsLast: assay.WrongAnswer} {
			b := replay(t, driver, takings(clients), clients, stock)
			b.run(t)
			trial := b.trials[0]
			if trial.Outcome != want || want == assay.OK && (trial.Checked != assay.CheckKeys || uncompared(trial) != "") {
				t.Errorf("%s, %d clients: got %s, checked %q: %s; want %s", driver, clients, trial.Outcome, trial.Checked, trial.Reason, want)
			}
		}
	}
	for what, stock := range map[string]string{
		"a row that is not there yet":   "INSERT INTO stock VALUES (1, 100), (2, 100)",
		"a row that is there already":   stock + "; INSERT INTO taken VALUES (30, 1)",
		"a table that is not there yet": "DROP TABLE taken",
	} {
		_, err := Prepare(t.Context(), replay(t, "honest", takings(1), 1, stock).Config)
		if !errors.As(err, new(*MistakeError)) {
			t.Errorf("%s: got %v, want that it is a mistake of the user's", what, err)
		}
	}
}

// The instance that tells the answers before the measured one is none of other programs.
func TestCPUOfAReplaysVerification(t *testing.T) {
	b := replay(t, "honest", takings(1), 1, "INSERT INTO stock VALUES (1, 100), (2, 100), (3, 100), (4, 100)")
	in, j, trial := b.started(t)
	must(t, in.runReplay(t.Context(), j, &trial))
	if in.besideUsed <= 0 {
		t.Errorf("got %s of CPU time beside the instance's own, want that of another", in.besideUsed)
	}
}

// A worker that does not tell its answers has none compared in a replay, and the trial says so.
func TestReplayWithoutAnswers(t *testing.T) {
	b := replay(t, mute, takings(1), 1, "INSERT INTO stock VALUES (1, 100), (2, 100), (3, 100), (4, 100)")
	b.run(t)
	if trial := b.trials[0]; trial.Outcome != assay.OK || !strings.HasPrefix(uncompared(trial), "no answer that it reads") {
		t.Errorf("got %s (%s) with the doubt %q, want ok and that no answer is compared", trial.Outcome, trial.Reason, uncompared(trial))
	}
}

// Where no unit overlaps another, a driver's own counts of rows are checked too: its answers, and
// what it leaves, may be right all the same.
func TestRowsOfAReplay(t *testing.T) {
	var units []recording.Unit
	for i := range int64(60) {
		one := recording.Statement{SQL: "UPDATE stock SET n = n - 1 WHERE id = ?", Args: []any{int64(1)}, Rows: 1}
		units = append(units, recording.Unit{Asked: 10 * i, Began: 10 * i, Ended: 10*i + 9, Statements: []recording.Statement{one}})
	}
	b := replay(t, misses, units, 1, "INSERT INTO stock VALUES (1, 100)")
	b.run(t)
	if trial := b.trials[0]; trial.Outcome != assay.WrongAnswer || !strings.Contains(trial.Reason, "2 rows, expected are 1") {
		t.Errorf("got %s: %s; want %s, as a row too many was counted", trial.Outcome, trial.Reason, assay.WrongAnswer)
	}
}

// uncompared is what a trial says is not compared.
func uncompared(t assay.Trial) string {
	for _, w := range t.Warnings {
		if w.Code == "not-compared" {
			return w.Evidence
		}
	}
	return ""
}

// Where the SQL is right in the order of the log alone, and clients may do it in another one,
// no answer is compared, and the trial says so: that of a driver that is right, and that of one
// whose answers are wrong.
func TestReplayInNoOtherOrder(t *testing.T) {
	for _, driver := range []string{"honest", "lies-late"} {
		b := replay(t, driver, following(), 3, "INSERT INTO stock VALUES (1, 100)")
		b.run(t)
		if trial := b.trials[0]; trial.Outcome != assay.OK || !strings.HasPrefix(uncompared(trial), "no answer that it reads") {
			t.Errorf("%s: got %s (%s) with the doubt %q, want ok and that no answer is compared", driver, trial.Outcome, trial.Reason, uncompared(trial))
		}
	}
}
