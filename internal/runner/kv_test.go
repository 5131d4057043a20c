//go:build unix

package runner

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/kit/wire"
)

// A store and a SQL driver run the same plan, with the same answers.
func TestStores(t *testing.T) {
	b := newBench(t, stores)
	b.Strace, _ = exec.LookPath("strace")
	b.run(t)
	seen := map[string]int{}
	digests := map[string]string{}
	for _, trial := range b.trials {
		c := trial.Cell
		if trial.Outcome != assay.OK || !(trial.Figures[assay.NsPerOp] > 0) {
			t.Errorf("%s of %s: %s, %s", c.Operation, c.Driver, trial.Outcome, trial.Reason)
			continue
		}
		seen[c.Driver+" "+c.Operation]++
		if known := digests[c.Peer()]; known != "" && known != trial.Digest {
			t.Errorf("%s: digests %s and %s", c.Operation, known, trial.Digest)
		}
		digests[c.Peer()] = trial.Digest
		if trial.Digest == "" {
			t.Errorf("%s of %s was not compared with anything", c.Operation, c.Driver)
		}
		if c.Operation == "mix" && b.Strace != "" {
			proved(t, trial)
		}
		if c.Operation != "put" {
			continue
		}
		if trial.Durability != assay.Power || !(trial.Figures["disk-B"] > 0) {
			t.Errorf("put of %s: durability %s, %g bytes", c.Driver, trial.Durability, trial.Figures["disk-B"])
		}
		if b.Strace != "" {
			proved(t, trial)
		}
	}
	if len(seen) != 2*7 {
		t.Errorf("measured were %v", seen)
	}
}

// proved demands that the commits of a put were seen to be synced.
func proved(t *testing.T, trial assay.Trial) {
	t.Helper()
	i := slices.IndexFunc(trial.Settings, func(s assay.Setting) bool { return s.Name == "sync-before-ack" })
	if i < 0 || trial.Settings[i].Effective != "yes" {
		t.Errorf("settings of %s: %v", trial.Cell.Driver, trial.Settings)
	}
	if want := 1 / float64(max(1, trial.Cell.Transaction)); trial.Figures["syncs/op"] < want && trial.Cell.Operation != "mix" {
		t.Errorf("%s: %g syncs an operation, want %g at least", trial.Cell.Driver, trial.Figures["syncs/op"], want)
	}
}

// What a store does wrong is an outcome or a warning.
func TestFaultyStores(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace: ", err)
	}
	for driver, want := range map[string]struct {
		outcome assay.Outcome
		reason  string
		warning string
	}{
		"store-loses":  {assay.WrongAnswer, "after the block", ""},
		"store-lies":   {assay.OK, "", "acknowledged-unsynced"},
		"store-deaf":   {assay.NotApplied, "sync=ON was requested, effective is OFF on writer-1", "acknowledged-unsynced"},
		"store-splits": {assay.OK, "", "split-transaction"},
	} {
		t.Run(driver, func(t *testing.T) {
			b := newBench(t, strings.Replace(stores, "[store, honest]", "["+driver+"]", 1))
			b.Strace = strace
			b.Cases = slices.DeleteFunc(b.Cases, func(c assay.Case) bool { return c.Cell.Operation != "put" || c.Cell.Transaction != 0 })
			launchOnce(t, &b.Config)
			trial := b.trials[0]
			if trial.Outcome != want.outcome || !strings.Contains(trial.Reason, want.reason) {
				t.Errorf("%s, %s; want %s, %s", trial.Outcome, trial.Reason, want.outcome, want.reason)
			}
			has := slices.ContainsFunc(trial.Warnings, func(w assay.Warning) bool { return w.Code == want.warning })
			if want.warning != "" && !has {
				t.Errorf("warnings %v, want %s", trial.Warnings, want.warning)
			}
		})
	}
}

// A store that does not get through loading costs its own cells, and is waited
// for once.
func TestStoresThatDoNotLoad(t *testing.T) {
	for driver, want := range map[string]string{
		"store-dies":    "failed: load records: worker ended (exit status 7)",
		"store-hangs":   "timed-out: to prepare the records in store-hangs took longer than 18s; the plan's timeout is 6s",
		"store-refuses": "failed: load records: load the records from 0 on: no more keys",
	} {
		t.Run(driver, func(t *testing.T) {
			b := newBench(t, strings.Replace(stores, "[store, honest]", "["+driver+", honest]", 1))
			b.Cases = slices.DeleteFunc(b.Cases, func(c assay.Case) bool { return c.Cell.Operation != "put" && c.Cell.Operation != "remove" })
			if driver == "store-hangs" {
				usual := loadTimeouts
				t.Cleanup(func() { loadTimeouts = usual })
				b.Timeout, loadTimeouts = 6*time.Second, 3 // time enough to start the other worker
			}
			began := time.Now()
			got, prepared := unprepared(t, b)
			if took := time.Since(began); took > 2*loadTimeouts*b.Timeout {
				t.Errorf("it took %s: the time limit of %s was waited for more than once", took, loadTimeouts*b.Timeout)
			}
			for _, operation := range []string{"put", "remove"} {
				if cell := operation + " " + driver; !strings.HasPrefix(got[cell], want) {
					t.Errorf("%s: got %q, want %q", cell, got[cell], want)
				}
				if !slices.Contains(prepared, operation+" honest") {
					t.Errorf("%s of the other driver is not prepared: %v", operation, got)
				}
			}
		})
	}
}

// A disk that is full while records are loaded is no store's fault: the run ends.
func TestDiskThatIsFullWhileLoading(t *testing.T) {
	b := newBench(t, strings.Replace(stores, "[store, honest]", "[store-full, honest]", 1))
	var environment *EnvironmentError
	if _, err := Prepare(t.Context(), b.Config); !errors.As(err, &environment) || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("got %v, want that the disk is full", err)
	}
}

// Gets in read transactions are measured in windows, and in a block where it is
// one: all of it, twice. A SQL driver has none, and says so.
func TestReadTransactions(t *testing.T) {
	b := newBench(t, strings.Replace(stores, "get: {kv: get, draw: zipfian}", "get: {kv: get, draw: in-order, count: 1000, transaction: [none, 10, whole]}", 1))
	b.Cases = slices.DeleteFunc(b.Cases, func(c assay.Case) bool { return c.Cell.Operation != "get" })
	b.Launches = 1
	var windows, blocks int
	for _, a := range b.run(t) {
		switch {
		case a.window():
			windows++
		case a.Kind == "measure" && a.Count == 1000 && !a.Tells:
			blocks++
		}
	}
	if windows == 0 || blocks == 0 || blocks%2 != 0 {
		t.Errorf("got %d windows and %d blocks of 1000 gets, want windows, and pairs of blocks: a warm-up and a measured one", windows, blocks)
	}
	var told []string
	for _, trial := range b.trials {
		told = append(told, fmt.Sprintf("%s %d %s %s", trial.Cell.Driver, trial.Cell.Transaction, trial.Mode, trial.Outcome))
		if (trial.Figures[assay.NsPerOp] > 0) != (trial.Outcome == assay.OK) {
			t.Errorf("%s: got %g ns/op", told[len(told)-1], trial.Figures[assay.NsPerOp])
		}
	}
	slices.Sort(told)
	same(t, "trials", slices.Compact(told), []string{"honest 0 windows ok", "honest 10 windows unsupported", "honest 1000 blocks unsupported",
		"store 0 windows ok", "store 10 windows ok", "store 1000 blocks ok"})
}

// A store runs no SQL, and says so.
func TestStoreWithoutSQL(t *testing.T) {
	b := newBench(t, strings.Replace(header, "[honest, second]", "[honest, store]", 1)+read)
	b.run(t)
	var told []string
	for _, trial := range b.trials {
		if trial.Cell.Driver == "store" {
			told = append(told, string(trial.Outcome)+": "+trial.Reason)
		}
	}
	same(t, "trials of the store", told, []string{"unsupported: store is a key-value store: it runs no SQL"})
}

// contested is what several clients do to the same keys.
const contested = `name: contested
precision: 50%
drivers: [store, honest]
clients: 4
pool: 4
profiles: {unsynced: {sync: off}}
workload: {name: kv, records: {n: 100, key: "printf('%016x', hash(:i))", value: blob(20)}}
operations:
  get: {kv: get, draw: zipfian, only: mix}
  update: {kv: put, draw: zipfian, only: mix}
  change: {kv: rmw, draw: zipfian, only: mix}
  add: {kv: put, only: mix}
  remove: {kv: delete, only: mix}
  updates: {mix: {get: 50, update: 50}, count: 300, busy: retry}
  changes: {mix: {get: 50, change: 50}, count: 300, busy: retry}
  all: {mix: {get: 20, update: 40, add: 20, remove: 20}, count: 300, busy: retry}
  alone: {kv: put, draw: uniform, count: 300, busy: retry}
`

// After several clients have changed the same keys, each key holds a value that
// was written to it: what does not keep its values is found, be it a store or a
// SQL driver.
func TestKeysThatSeveralClientsChange(t *testing.T) {
	// A get may find no key that another client has removed.
	plan := strings.Replace(contested, "all: {mix: {get: 20, update: 40,", "all: {mix: {update: 60,", 1)
	testContested(t, plan, 4)
}

// Of values with fields, each field holds what was written to it. Steps without
// a transaction around them are held to the same.
func TestFieldsThatSeveralClientsChange(t *testing.T) {
	testContested(t, strings.NewReplacer("value: blob(20)", "value: blob(5), fields: 4",
		"update: {kv: put,", "update: {kv: update,",
		"change: {kv: rmw,", "change: {kv: read-update,",
		"  all: {mix: {get: 20, update: 40,", "  all: {mix: {put: 20, update: 40,",
		"remove: {kv: delete,", "put: {kv: put, draw: zipfian,").Replace(strings.Replace(contested, ", remove: 20}", "}", 1)), 4)
}

// testContested runs a plan of so many operations with drivers that keep what is
// written, and with others.
func testContested(t *testing.T, plan string, operations int) {
	for driver, want := range map[string]assay.Outcome{
		"store": assay.OK, "honest": assay.OK, "store-drops": assay.WrongAnswer, "store-older": assay.WrongAnswer, "store-mixes": assay.WrongAnswer, drops: assay.WrongAnswer,
	} {
		t.Run(driver, func(t *testing.T) {
			b := newBench(t, strings.Replace(plan, "[store, honest]", "["+driver+"]", 1))
			launchOnce(t, &b.Config)
			seen := map[string]bool{}
			for _, trial := range b.trials {
				seen[trial.Cell.Operation] = true
				if trial.Outcome != want || want != assay.OK && !strings.HasPrefix(trial.Reason, "after the block, ") {
					t.Errorf("%s: got %s, %s; want %s", trial.Cell.Operation, trial.Outcome, trial.Reason, want)
				}
				if trial.Checked != assay.CheckKeys {
					t.Errorf("%s: checked %q, want %q", trial.Cell.Operation, trial.Checked, assay.CheckKeys)
				}
			}
			if len(seen) != operations {
				t.Errorf("measured were %v, want %d operations", seen, operations)
			}
		})
	}
}

// A profile that means nothing to an engine is unsupported there, and not measured as
// the defaults: what prepares a file of SQLite, and settings of stores only.
func TestProfilesOfOtherEngines(t *testing.T) {
	prepared := assay.Case{Cell: assay.Cell{Profile: "indexed"}, Dataset: assay.Dataset{Prepare: []string{"ANALYZE"}}}
	for _, capability := range []string{wire.CapKV, wire.CapPostgreSQL, wire.CapDuckDB} {
		if err := fits(prepared, []string{capability}); err == nil || !strings.Contains(err.Error(), "prepares an SQLite file") {
			t.Errorf("%s: got %v, want that it opens no SQLite file", capability, err)
		}
	}
	if err := fits(prepared, []string{wire.CapSQL}); err != nil {
		t.Errorf("got %v of a driver of SQLite, want no error", err)
	}
	put := assay.Case{Operation: assay.Operation{Changes: true, Steps: []assay.Step{{KV: wire.Put}}}}
	for _, c := range []struct {
		settings map[string]string
		refused  bool
	}{{map[string]string{"memtable_size": "1048576"}, true}, {map[string]string{"memtable_size": "1048576", "sync": "1"}, false}, {nil, false}} {
		put.Profile.Settings = c.settings
		if _, err := (sqliteFile{}).adapt(put); (err != nil) != c.refused {
			t.Errorf("%v: got %v, want refused %t", c.settings, err, c.refused)
		}
	}
}
