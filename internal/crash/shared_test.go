//go:build linux

package crash

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"assay"
	"assay/kit"
	"assay/kit/kv"
	"assay/kit/process"
	"assay/kit/sqldb"
	"assay/kit/wire"
)

// The names of workers of SQLite whose second process does something else than to checkpoint.
const (
	failsBeside = "sqlite-fails" // all of it fails
	addsBeside  = "sqlite-adds"  // it adds keys that nobody wrote
	endsBeside  = "sqlite-ends"  // it ends by itself
)

const (
	failing = "SELECT abs(-9223372036854775807 - 1), 0, 0" // overflows
	adding  = "INSERT INTO kv (key, value) VALUES (randomblob(9), 'x') RETURNING 1, 1, 1"
)

// serveSQLite is a worker of SQLite, honest unless its name is that of a fault.
func serveSQLite(name string) error {
	in, out := io.Pipe()
	sql := map[string]string{failsBeside: failing, addsBeside: adding}[name]
	go func() {
		for lines := bufio.NewReader(os.Stdin); ; {
			line, err := lines.ReadBytes('\n')
			if name == endsBeside && bytes.Contains(line, []byte(wire.TypeMeasure)) && bytes.Contains(line, []byte(`"`+checkpointName+`"`)) {
				os.Exit(3)
			}
			if sql != "" {
				for _, step := range checkpointSteps {
					line = bytes.ReplaceAll(line, []byte(step.SQL), []byte(sql))
				}
			}
			if _, failed := out.Write(line); err != nil || failed != nil {
				out.CloseWithError(err)
				return
			}
		}
	}()
	return kit.Serve(sqldb.New(sqldb.Driver{Name: name, SQLName: "sqlite",
		Key:  func(name, value string) string { return "_pragma=" + name + "(" + value + ")" },
		Busy: func(err error) bool { return strings.Contains(err.Error(), "database is locked") }}), in, os.Stdout)
}

// Two processes on a file of SQLite lose nothing, neither in many short lives nor in a long one,
// and a control is caught. One that adds keys is found out, and what it left can be looked at
// again.
func TestShared(t *testing.T) {
	settings := map[string]string{"journal_mode": "wal", "synchronous": "normal"}
	for _, fault := range []assay.Fault{assay.KillShared, assay.PowerShared} {
		t.Run(string(fault), func(t *testing.T) {
			task := Task{Fault: fault, Seed: 1, States: 8, Settings: settings}
			if fault == assay.KillShared {
				task.Time = 2 * time.Second // for a race
			}
			honest, adds := task, task
			honest.Driver, honest.Program, honest.Controls = "sqlite-honest", storeProgram(t, "sqlite-honest"), true
			adds.Driver, adds.Program = addsBeside, storeProgram(t, addsBeside)
			adds.Settings = map[string]string{"journal_mode": "wal", "synchronous": "full"} // what it adds is on the disk at once
			results := do(t, honest, adds)
			if r := results[honest.Driver]; r.Outcome != assay.OK || r.States == 0 || r.Refuted() != Unharmed || r.Void() || len(r.Controls) == 0 {
				t.Errorf("an honest worker: got %s, %d states, refuted %q, controls %+v; %+v", r.Outcome, r.States, r.Refuted(), r.Controls, r.Worst)
			} else if fault == assay.KillShared && (r.ByMoment[raceMoment] == 0 || r.Counts[Unharmed] != r.States) {
				t.Errorf("got %v of %v, want a race, and nothing lost", r.Counts, r.ByMoment)
			}
			r := results[addsBeside]
			// On a busy machine its process may have no turn before the workload ends.
			for adds.Seed = 2; r.Outcome == assay.OK && r.Refuted() == Unharmed && adds.Seed <= 8; adds.Seed++ {
				r = do(t, adds)[addsBeside]
			}
			if r.Outcome != assay.OK || r.Refuted() != Inconsistent {
				t.Fatalf("a worker that adds keys: got %s (%s), refuted %q, want %q", r.Outcome, r.Reason, r.Refuted(), Inconsistent)
			}
			if fault == assay.KillShared {
				again(t, r, "")
			}
		})
	}
}

// A second process that ends by itself is an error, though it was to be killed later. An error
// of the writer is none where the other one's damage explains it.
func TestSecondProcess(t *testing.T) {
	share := func(name string, write func(tried *trial, db *database, other *checkpointer) error) (observation, error) {
		tried := newKill(t, name)
		tried.task.Settings = map[string]string{"journal_mode": "wal", "busy_timeout": "10000"}
		_, found, err := tried.share(t.Context(), Finding{}, func(db *database, other *checkpointer, marks string) (bool, error) {
			if err := db.write(t.Context(), 0, 3, marks); err != nil {
				return false, err
			}
			return false, write(tried, db, other)
		})
		return found, err
	}
	ended := (*process.ExitError)(nil)
	_, err := share(endsBeside, func(_ *trial, _ *database, other *checkpointer) error { <-other.ended; return nil })
	if !errors.As(err, &ended) || ended.Code != 3 {
		t.Errorf("got %v, want the second process's status 3", err)
	}
	found, err := share(addsBeside, func(tried *trial, db *database, _ *checkpointer) error {
		for there := (wire.Verified{}); there.Rows <= int64(tried.history.rows(3)); {
			var err error
			if there, err = db.all(t.Context()); err != nil {
				return err
			}
		}
		return errors.New("the writer fails")
	})
	if err != nil || found.damage != Inconsistent {
		t.Errorf("got %v, %q, want %q", err, found.damage, Inconsistent)
	}
}

// A second process that fails has tried nothing, and a store has nothing to try.
func TestSharedIsNotTried(t *testing.T) {
	for name, c := range map[string]struct {
		settings map[string]string
		outcome  assay.Outcome
		reasons  []string
	}{
		failsBeside:     {map[string]string{"journal_mode": "wal"}, assay.Failed, []string{"none of ", "overflow"}},
		"sqlite-honest": {map[string]string{"journal_mode": "delete"}, assay.Unsupported, []string{"no write-ahead log"}},
		"store-honest":  {map[string]string{kv.Sync: "1"}, assay.Unsupported, []string{"no write-ahead log"}},
	} {
		task := Task{Driver: name, Program: storeProgram(t, name), Fault: assay.KillShared, Seed: 1, States: 1, Settings: c.settings, Findings: t.TempDir()}
		if r := doOne(t, task); r.Outcome != c.outcome || slices.ContainsFunc(c.reasons, func(part string) bool { return !strings.Contains(r.Reason, part) }) {
			t.Errorf("%s: got %s (%s), want %s and %q", name, r.Outcome, r.Reason, c.outcome, c.reasons)
		}
	}
}
