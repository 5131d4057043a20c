//go:build unix

package runner

import (
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/kit/wire"
)

// changing is SQL that changes rows, without a check.
const changing = `name: changing
drivers: [honest]
profiles: {unsynced: {journal_mode: wal, synchronous: off}}
workload:
  name: bank
  schema: |
    CREATE TABLE account (id INTEGER PRIMARY KEY, name TEXT NOT NULL, sum INTEGER NOT NULL, rate REAL NOT NULL);
    CREATE TABLE entry (id INTEGER PRIMARY KEY, account INTEGER NOT NULL, text TEXT);
    CREATE TABLE note (text TEXT NOT NULL);
  data:
    account: SELECT value, text(8), random(1, 99), random(1, 9) FROM generate_series(1, 200)
    entry: SELECT value, random(1, 200), text(8) FROM generate_series(1, 10)
operations:
  see: {sql: SELECT name FROM account WHERE id = ?, args: "SELECT random(1, 200)", rows: 1, only: mix}
  rename: {sql: UPDATE account SET name = ?2 WHERE id = ?1, args: "SELECT random(1, 200), text(8)", rows: 1, only: mix}
  add: {sql: UPDATE account SET sum = sum + ?2 WHERE id = ?1, args: "SELECT random(1, 200), random(1, 9)", rows: 1, only: mix}
  grow: {sql: UPDATE account SET rate = rate * 1.1 WHERE id = ?, args: "SELECT random(1, 200)", rows: 1, only: mix}
  note: {sql: INSERT INTO note VALUES (?), args: SELECT text(8), rows: 1, only: mix}
  enter: {sql: "INSERT INTO entry VALUES (?, ?, ?)", args: "SELECT 10 + :i, random(1, 200), text(8)", rows: 1, only: mix}
  number: {sql: "INSERT INTO entry (account, text) VALUES (?, ?)", args: "SELECT random(1, 200), text(8)", rows: 1, only: mix}
  numbers: {mix: {see: 50, number: 50}, count: 100, busy: retry}
  renames: {mix: {see: 50, rename: 50}, count: 300, busy: retry}
  sums: {mix: {see: 50, add: 50}, count: 100, busy: retry}
  entries: {mix: {see: 50, enter: 50}, count: 100, busy: retry}
  notes: {mix: {see: 50, note: 50}, count: 100, busy: retry}
  all: {mix: {see: 20, rename: 20, add: 20, enter: 20, grow: 10, note: 10}, count: 300, busy: retry}
  alone: {sql: "INSERT INTO entry VALUES (?, ?, ?)", args: "SELECT 10 + :i, random(1, 200), text(8)", rows: 1, count: 100, busy: retry}
`

// SQL that no check of the plan reads is checked row by row, of one client and of
// several: a driver that drops what changes data, or only the last of it, has
// wrong answers.
func TestRowsWithoutCheck(t *testing.T) {
	for clients, drivers := range map[string]map[string]assay.Outcome{
		"1": {"honest": assay.OK, forgetsLast: assay.WrongAnswer},
		"4": {"honest": assay.OK, drops: assay.WrongAnswer, forgetsLast: assay.WrongAnswer, stale: assay.WrongAnswer},
	} {
		for driver, want := range drivers {
			t.Run(driver+" with "+clients, func(t *testing.T) {
				text := strings.Replace(changing, "drivers: [honest]", "drivers: ["+driver+"]\nclients: "+clients+"\npool: "+clients, 1)
				b := newBench(t, text)
				launchOnce(t, &b.Config)
				seen := map[string]bool{}
				for _, trial := range b.trials {
					name := trial.Cell.Operation
					seen[name] = true
					if trial.Checked != assay.CheckKeys || uncompared(trial) != "" {
						t.Errorf("%s: checked %q, want %q", name, trial.Checked, assay.CheckKeys)
					}
					want := want
					if driver == stale && (name == "entries" || name == "notes" || name == "alone" || name == "numbers") {
						want = assay.OK // it updates nothing
					}
					if trial.Outcome != want || want != assay.OK && !strings.HasPrefix(trial.Reason, "after the block, ") {
						t.Errorf("%s: got %s, %s; want %s", name, trial.Outcome, trial.Reason, want)
					}
				}
				if len(seen) != 7 {
					t.Errorf("measured were %v, want 7 operations", seen)
				}
			})
		}
	}
}

// other is SQL that does something else each time, or with a setting; and two
// operations with the same arguments, which leave other rows.
const other = `name: other
drivers: [honest]
profiles: {enforced: {journal_mode: wal, synchronous: off, foreign_keys: on}}
workload:
  name: bank
  schema: |
    CREATE TABLE entry (id INTEGER PRIMARY KEY, text TEXT, made TEXT DEFAULT (hex(randomblob(8))));
    CREATE TABLE dated (id TEXT PRIMARY KEY DEFAULT (hex(randomblob(8))), entry INTEGER NOT NULL);
    CREATE TABLE up (id INTEGER PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE under (id INTEGER PRIMARY KEY, up INTEGER NOT NULL REFERENCES up);
  data:
    entry: SELECT value, text(8), 'made' FROM generate_series(1, 100)
    up: SELECT value, 0 FROM generate_series(1, 100)
    under: SELECT value, value FROM generate_series(1, 100)
operations:
  defaults: {sql: "INSERT INTO entry (id, text) VALUES (?, ?)", args: "SELECT 100 + :i, text(8)", rows: 1, count: 40}
  keys: {sql: "INSERT INTO dated (entry) VALUES (?)", args: SELECT 100 + :i, rows: 1, count: 40}
  chance: {sql: "UPDATE entry SET text = hex(randomblob(4)) WHERE id = ?", args: "SELECT random(1, 100)", rows: 1, count: 40}
  more: {sql: "UPDATE up SET n = n + ?", args: SELECT 1, rows: 100, count: 40}
  less: {sql: "UPDATE up SET n = n - ?", args: SELECT 1, rows: 100, count: 40}
`

// No right driver is blamed for what is another answer each time or with another
// setting; nothing is said to be checked that is not.
func TestRowsThatDiffer(t *testing.T) {
	b := newBench(t, other)
	launchOnce(t, &b.Config)
	want := map[string]assay.Check{"defaults": assay.CheckKeys, "keys": assay.CheckKeys, "chance": assay.CheckRows, "more": assay.CheckKeys, "less": assay.CheckKeys}
	for _, trial := range b.trials {
		name := trial.Cell.Operation
		if trial.Outcome != assay.OK || trial.Checked != want[name] {
			t.Errorf("%s: got %s (%s), checked %q; want ok, %q", name, trial.Outcome, trial.Reason, trial.Checked, want[name])
		}
		if doubt := uncompared(trial); (doubt == "") != (want[name] == assay.CheckKeys) {
			t.Errorf("%s: checked %q, with the doubt %q", name, trial.Checked, doubt)
		}
	}
	if len(b.trials) < len(want) {
		t.Errorf("got %d trials, want %d or more", len(b.trials), len(want))
	}
}

// The answers of the parts of a mix that changes nothing are verified at random
// positions behind the block too.
func TestSampleOfAMix(t *testing.T) {
	text := strings.Replace(header, "honest, second", "honest, lies-late", 1) + read + "  reads: {mix: {read: 1}, clients: 2, count: 2000}\n"
	b := newBench(t, text)
	b.Cases = slices.DeleteFunc(b.Cases, func(c assay.Case) bool { return c.Cell.Operation != "reads" })
	launchOnce(t, &b.Config)
	for driver, want := range map[string]assay.Outcome{"honest": assay.OK, "lies-late": assay.WrongAnswer} {
		for _, trial := range b.of(driver) {
			if trial.Outcome != want || want != assay.OK && !strings.HasPrefix(trial.Reason, "after measuring, the answers at the positions ") {
				t.Errorf("%s: got %s (%s), want %s", driver, trial.Outcome, trial.Reason, want)
			}
		}
	}
	if len(b.trials) < 2 {
		t.Errorf("got %d trials, want one of each driver", len(b.trials))
	}
}

// alone is an operation without a check, beside insert with one.
const alone = `  alone: {sql: "INSERT INTO monster (id, hp) VALUES (?, ?)", args: "SELECT 100 + :i, random(1, 99)", rows: 1, count: 20}
`

// What changes leave is read over another connection than that which wrote it: one that never
// commits is wrong, with a check and without.
func TestChangesThatAreNeverCommitted(t *testing.T) {
	for _, journal := range []string{"wal", "delete"} {
		b := faultyBench(t, neverCommits, insert+alone)
		for i := range b.Cases {
			b.Cases[i].Profile.Settings["journal_mode"] = journal
		}
		launchOnce(t, &b.Config)
		for driver, want := range map[string]assay.Outcome{"honest": assay.OK, neverCommits: assay.WrongAnswer} {
			trials := b.of(driver)
			for _, trial := range trials {
				if trial.Outcome != want || uncompared(trial) != "" {
					t.Errorf("%s, %s, %s: got %s (%s), want %s", journal, driver, trial.Cell.Operation, trial.Outcome, trial.Reason, want)
				}
			}
			if len(trials) < 2 {
				t.Errorf("%s, %s: got %d trials, want those of two operations", journal, driver, len(trials))
			}
		}
	}
}

// sharing is an operation of several clients on one connection, whose check depends on their order.
const sharing = `  several: {sql: "UPDATE monster SET hp = ? WHERE id = ?", args: "SELECT random(1, 99), random(1, 5)", rows: 1, count: 100, clients: 2, pool: 1, check: {sql: "SELECT id, hp FROM monster ORDER BY id", returns: [int, int]}}
`

// A profile that lets only one connection use the database is measured with one, and what cannot
// be compared then is said.
func TestProfilesOfOneConnection(t *testing.T) {
	for _, setting := range []string{"locking_mode: exclusive", `each: ["PRAGMA locking_mode = EXCLUSIVE"]`, `once: ["PRAGMA main.locking_mode='exclusive'"]`} {
		text := strings.NewReplacer("honest, second", "honest", "journal_mode: wal, ", "", "cache_size: -4096", setting).Replace(header + insert + alone + sharing)
		b := newBench(t, text)
		launchOnce(t, &b.Config)
		for _, trial := range b.trials {
			if trial.Outcome != assay.OK || uncompared(trial) == "" {
				t.Errorf("%s, %s: got %s (%s), not compared is %q; want ok, and that", setting, trial.Cell.Operation, trial.Outcome, trial.Reason, uncompared(trial))
			}
			compared := trial.Cell.Operation == "insert"
			if compared != (trial.Checked == assay.CheckState) || compared != strings.Contains(uncompared(trial), "but over the connection that wrote it") {
				t.Errorf("%s, %s: checked is %s, not compared is %q", setting, trial.Cell.Operation, trial.Checked, uncompared(trial))
			}
			if other := slices.IndexFunc(trial.Settings, func(s assay.Setting) bool { return s.Connection != "writer-1" && s.Connection != "trace" }); other >= 0 {
				t.Errorf("%s, %s: got a setting of %s, want one connection, writer-1", setting, trial.Cell.Operation, trial.Settings[other].Connection)
			}
		}
		if len(b.trials) < 3 {
			t.Errorf("%s: got %d trials, want those of three operations", setting, len(b.trials))
		}
	}
}

// A DSN asks for the lock in the words of its driver; another driver's says nothing.
func TestSingleConnection(t *testing.T) {
	for dsn, want := range map[string]bool{
		"file:{{path}}?_locking=EXCLUSIVE":                     true,
		"file:{{path}}?_locking_mode=exclusive&_sync=1":        true,
		"file:{{path}}?_pragma=locking_mode(EXCLUSIVE)":        true,
		"file:{{path}}?_pragma=locking_mode%3DEXCLUSIVE":       true,
		"file:{{path}}?_locking_mode=NORMAL&_txlock=exclusive": false,
		"file:{{path}}?_pragma=locking_mode(normal)&mode=rw#x": false,
	} {
		j := &job{Case: assay.Case{Cell: assay.Cell{Driver: "d", Pool: 1}, Profile: assay.Profile{Raw: map[string]string{"d": dsn, "e": "_locking=EXCLUSIVE"}}}}
		if got := j.singleConnection(); got != want {
			t.Errorf("%s: got %t, want %t", dsn, got, want)
		}
	}
}

// Connections share a database in memory and a cache: what changes leave there is read over another
// one, and a driver that drops them is wrong.
func TestChangesOfSharedDatabases(t *testing.T) {
	for _, setting := range []string{"memory: on", "locking_mode: exclusive, shared_cache: on"} {
		text := strings.NewReplacer("honest, second", "honest, "+drops, "journal_mode: wal, ", "", "cache_size: -4096", setting).Replace(header + insert + alone + sharing)
		b := newBench(t, text)
		launchOnce(t, &b.Config)
		for driver, want := range map[string]assay.Outcome{"honest": assay.OK, drops: assay.WrongAnswer} {
			trials := b.of(driver)
			for _, trial := range trials {
				if trial.Outcome != want || uncompared(trial) != "" {
					t.Errorf("%s, %s, %s: got %s (%s), not compared is %q; want %s", setting, driver, trial.Cell.Operation, trial.Outcome, trial.Reason, uncompared(trial), want)
				}
			}
			if len(trials) < 3 {
				t.Errorf("%s, %s: got %d trials, want those of three operations", setting, driver, len(trials))
			}
		}
	}
}

// Where requests were not done, nobody knows what they would have left, and a trial claims no
// check of it.
func TestCheckOfAPartOfTheRequests(t *testing.T) {
	for partial, want := range map[bool]assay.Check{false: assay.CheckState, true: assay.CheckRows} {
		in, j, trial := newBench(t, header+insert).started(t)
		_, err := in.beginBlock(t.Context(), j, &trial)
		must(t, err)
		done := &tally{partial: partial}
		must(t, in.checkedMeasure(t.Context(), wire.Measure{Operation: j.Cell.Peer(), Start: int64(j.warm), Operations: int64(j.Operation.Count)}, &done.total))
		must(t, in.verifyBlock(t.Context(), j, &trial, done))
		if trial.Outcome != assay.OK || trial.Checked != want || (uncompared(trial) != "") != partial {
			t.Errorf("partial %v: got %s (%s), checked %q, not compared is %q; want ok, %q", partial, trial.Outcome, trial.Reason, trial.Checked, uncompared(trial), want)
		}
	}
}

// The bytes of a database are those of its journal and log, too.
func TestDiskOfAJournalThatStays(t *testing.T) {
	disk := map[string]float64{}
	for _, journal := range []string{"delete", "persist"} {
		b := newBench(t, strings.NewReplacer("honest, second", "honest", "journal_mode: wal", "journal_mode: "+journal).Replace(header+insert))
		launchOnce(t, &b.Config)
		disk[journal] = b.trials[0].Figures[assay.DiskBytes]
	}
	if disk["delete"] <= 0 || disk["persist"] <= disk["delete"] {
		t.Errorf("got %v, want more bytes where the journal is kept", disk)
	}
}
