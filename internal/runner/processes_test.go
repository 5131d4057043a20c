//go:build unix

package runner

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/kit/wire"
)

// The names of workers that are at fault, or differ, in the second of two processes.
const (
	diesSecond  = "dies-second"  // its client panics in the block
	liesSecond  = "lies-second"  // it claims CPU time that it did not have
	busySecond  = "busy-second"  // it got busy answers
	errsSecond  = "errs-second"  // an operation failed
	wrongSecond = "wrong-second" // it reads other values
)

// inSecond is a position of the second process in a block of 20 operations behind 2 others.
const inSecond = 15

var seconds = map[string]lie{
	liesSecond: {from: 10, measured: func(m *wire.Measured) { m.Counters.CPU += 1e12 }},
	busySecond: {from: 10, measured: func(m *wire.Measured) { m.Busy += 7 }},
	errsSecond: {from: 10, measured: func(m *wire.Measured) {
		m.Errors, m.Error, m.Operations = 1, "no luck", m.Operations-1
		m.Histogram = [][2]int64{{wire.Bucket(m.Nanos / max(1, m.Operations)), m.Operations}}
	}},
}

// several is a bench of two processes.
func several(t *testing.T, text string) *bench {
	t.Helper()
	return newBench(t, strings.Replace(text, "profiles:", "processes: 2\nprofiles:", 1))
}

// inProcesses is insert, whose first key is at position 0.
var inProcesses = strings.Replace(insert, "    rows: 1\n", "    rows: 1\n    busy: retry\n", 1)

// Several processes are ready before one of them measures, and share the positions; each
// reads the right values before and after.
func TestProcesses(t *testing.T) {
	b := several(t, header+read+inProcesses+mix)
	b.Launches = 1
	all := b.run(t)
	for _, trial := range b.trials {
		if trial.Outcome != assay.OK || trial.Mode != assay.Blocks || len(trial.Samples) != 1 || trial.Figures[assay.OpPerS] <= 0 || trial.Cell.Processes != 2 {
			t.Errorf("%s: got %s (%s), %d processes, %g op/s, want a block of two processes that is ok",
				trial.Cell.Operation, trial.Outcome, trial.Reason, trial.Cell.Processes, trial.Figures[assay.OpPerS])
		}
	}
	if len(b.trials) == 0 {
		t.Fatal("no trials")
	}
	var block []asked // of the insert of the first launch's honest driver
	for _, a := range all {
		if a.Worker == "honest" && strings.Contains(a.Of, "insert") && a.Start+a.Count > 2 {
			block = append(block, a)
		}
	}
	if len(block) < 2 {
		t.Fatalf("got %+v, want the two parts of a block", block)
	}
	block = block[:2]
	slices.SortFunc(block, func(x, y asked) int { return int(x.Start - y.Start) })
	for i, a := range block {
		if start := int64(2 + 10*i); a.Start != start || a.Count != 10 {
			t.Errorf("part %d: got %d operations from position %d, want 10 from %d", i+1, a.Count, a.Start, start)
		}
	}
	if block[0].PID == block[1].PID {
		t.Error("one process measured both parts")
	}
	for _, pid := range []int{block[0].PID, block[1].PID} {
		begins := slices.IndexFunc(all, func(a asked) bool { return a.PID == block[0].PID && a.Start == block[0].Start && a.Count == 10 })
		for _, kind := range []string{"open", "settings", "prepare"} {
			if i := slices.IndexFunc(all, func(a asked) bool { return a.PID == pid && a.Kind == kind }); i < 0 || i > begins {
				t.Errorf("process %d: its %s is request %d, and the block begins at %d", pid, kind, i, begins)
			}
		}
	}
}

// One process of several costs the cell its figures, and the outcome says which one.
func TestFaultInOneProcess(t *testing.T) {
	for name, want := range map[string]struct {
		operation string
		outcome   assay.Outcome
		reasons   []string
	}{
		diesSecond:  {inProcesses, assay.Failed, []string{"process 2 of 2: measure: worker ended", "panic: the second process"}},
		liesSecond:  {inProcesses, assay.Failed, []string{"process 2 of 2: the worker's answer to measure cannot be true: it reports 16m4", "of CPU time"}},
		errsSecond:  {inProcesses, assay.Failed, []string{"1 of 20 operations failed; the first: process 2 of 2: no luck"}},
		wrongSecond: {read, assay.WrongAnswer, []string{"process 2 of 2: the answers to the first"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := several(t, strings.Replace(header, "second", name, 1)+want.operation)
			b.Launches = 1
			b.run(t)
			trials := b.of(name)
			if len(trials) == 0 || len(b.of("honest")) == 0 || b.of("honest")[0].Outcome != assay.OK {
				t.Fatalf("got %d trials, and %+v, want trials of both, and one that is ok", len(trials), b.of("honest"))
			}
			for _, reason := range want.reasons {
				if trials[0].Outcome != want.outcome || !strings.Contains(trials[0].Reason, reason) || len(trials[0].Figures) > 0 {
					t.Errorf("got %s (%s) with %d figures, want %s (%s)", trials[0].Outcome, trials[0].Reason, len(trials[0].Figures), want.outcome, reason)
				}
			}
		})
	}
}

// What only some processes had is said of each.
func TestBusyInOneProcess(t *testing.T) {
	b := several(t, strings.Replace(header, "second", busySecond, 1)+inProcesses)
	b.Launches = 1
	b.run(t)
	trials := b.of(busySecond)
	if len(trials) == 0 || trials[0].Outcome != assay.OK || trials[0].Figures[assay.BusyOp] < 7.0/20 {
		t.Fatalf("got %+v, want one with 7 or more busy answers to 20 operations", trials)
	}
	for _, w := range trials[0].Warnings {
		if w.Code == "processes-differ" && strings.Contains(w.Evidence, "busy answers ") {
			return
		}
	}
	t.Errorf("got %+v, want the busy answers of each process", trials[0].Warnings)
}

// Ranges are whole transactions and cover all positions once.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		start, operations, unit int64
		n                       int
		want                    [][2]int64
	}{
		{0, 10, 1, 3, [][2]int64{{0, 3}, {3, 3}, {6, 4}}},
		{40, 40, 10, 3, [][2]int64{{40, 10}, {50, 10}, {60, 20}}},
		{5, 1, 1, 2, [][2]int64{{5, 0}, {5, 1}}},
	} {
		var got [][2]int64
		for _, part := range split(wire.Measure{Operation: "a", Start: c.start, Operations: c.operations, Latency: true}, c.unit, c.n) {
			got = append(got, [2]int64{part.Start, part.Operations})
			if !part.Latency || part.Operation != "a" {
				t.Errorf("got %+v, want what else was asked for", part)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %v, want %v", c, got, c.want)
		}
	}
}

// The time of several processes is from the first one's beginning to the last one's end. One
// that does not say when it began, or says what cannot be, has measured during its call.
func TestSpan(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond) }
	of := func(sent, nanos, replied, began int) processShare {
		s := processShare{Measured: wire.Measured{Nanos: int64(nanos) * int64(time.Millisecond), Began: at(began).UnixNano()}, began: at(sent), ended: at(replied)}
		if began < 0 {
			s.Began = 0
		}
		s.place()
		return s
	}
	for name, c := range map[string]struct {
		shares          []processShare
		whole, together int
	}{
		"alike":              {[]processShare{of(0, 80, 100, 10), of(0, 80, 100, 10)}, 80, 80},
		"one behind another": {[]processShare{of(0, 40, 100, 0), of(0, 40, 100, 50)}, 90, 0},
		"one begins late":    {[]processShare{of(0, 50, 100, 0), of(0, 50, 100, 30)}, 80, 20},
		"one does not say":   {[]processShare{of(0, 50, 100, 20), of(0, 50, 100, -1)}, 100, 50},
		"before its call":    {[]processShare{of(10, 50, 100, 0), of(10, 50, 100, 10)}, 50, 50},
		"behind its call":    {[]processShare{of(0, 50, 100, 50), of(0, 50, 100, 900)}, 50, 50},
	} {
		whole, together := span(c.shares)
		if whole != time.Duration(c.whole)*time.Millisecond || together != time.Duration(c.together)*time.Millisecond {
			t.Errorf("%s: got %s, together for %s, want %d and %d ms", name, whole, together, c.whole, c.together)
		}
	}
}

// A store runs in several processes only where its worker says so; other engines do, but with
// settings that keep others out.
func TestProcessesOfEngines(t *testing.T) {
	plain := assay.Profile{Name: "plain", Settings: map[string]string{"journal_mode": "wal"}}
	for name, c := range map[string]struct {
		capabilities []string
		profile      assay.Profile
		processes    int
		refused      bool
	}{
		"SQLite":           {[]string{wire.CapSQL}, plain, 4, false},
		"in memory":        {[]string{wire.CapSQL}, assay.Profile{Settings: map[string]string{"memory": "1"}}, 4, true},
		"in memory, alone": {[]string{wire.CapSQL}, assay.Profile{Settings: map[string]string{"memory": "1"}}, 1, false},
		"exclusive":        {[]string{wire.CapSQL}, assay.Profile{Settings: map[string]string{"locking_mode": "exclusive"}}, 2, true},
		"PostgreSQL":       {[]string{wire.CapSQL, wire.CapPostgreSQL}, assay.Profile{}, 4, false},
		"DuckDB":           {[]string{wire.CapSQL, wire.CapDuckDB}, assay.Profile{}, 2, true},
		"DuckDB, alone":    {[]string{wire.CapSQL, wire.CapDuckDB}, assay.Profile{}, 1, false},
		"store":            {[]string{wire.CapKV}, assay.Profile{}, 4, true},
		"store, alone":     {[]string{wire.CapKV}, assay.Profile{}, 1, false},
		"shared store":     {[]string{wire.CapKV, wire.CapProcesses}, assay.Profile{}, 4, false},
	} {
		one := assay.Case{Cell: assay.Cell{Driver: "driver-of-one", Processes: c.processes}, Profile: c.profile}
		if slices.Contains(c.capabilities, wire.CapKV) {
			one.Operation.Steps = []assay.Step{{KV: wire.Get}}
		}
		err := fits(one, c.capabilities)
		if err == nil {
			_, err = engineOf(c.capabilities).adapt(one)
		}
		if f, is := err.(*failure); (err != nil) != c.refused || is && (f.outcome != assay.Unsupported || one.Operation.Steps != nil && !strings.Contains(f.reason, "driver-of-one")) {
			t.Errorf("%s: got %v, want it refused: %t", name, err, c.refused)
		}
	}
}

// Of the stores that there are, LMDB alone is for several processes, in Go as in Rust.
func TestProcessesOfStores(t *testing.T) {
	declared := regexp.MustCompile(`\bProcesses:\s+true|PROCESSES: bool = true`)
	sources, err := filepath.Glob("../../workers/*/*.[gr][os]")
	must(t, err)
	shared := map[string]bool{}
	for _, path := range sources {
		text, err := os.ReadFile(path)
		must(t, err)
		if declared.Match(text) {
			shared[filepath.Base(filepath.Dir(path))] = true
		}
	}
	if want := map[string]bool{"heed": true, "lmdb": true}; !maps.Equal(shared, want) {
		t.Errorf("several processes may open %v, want %v", shared, want)
	}
}

// Eight processes that wait for no lock fail where they meet, and with 5 s none does. All of it
// takes less, so that none can wait in vain on a busy machine.
func TestBusyTimeoutOfProcesses(t *testing.T) {
	text := `name: meet
drivers: [honest]
processes: 8
profiles:
  impatient: {journal_mode: wal, synchronous: "off", busy_timeout: 0}
  patient: {journal_mode: wal, synchronous: "off", busy_timeout: 5000}
workload: {schema: "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)", data: {t: "SELECT value, 0 FROM generate_series(1, 100)"}}
operations:
  add: {sql: UPDATE t SET n = n + 1 WHERE id = ?, args: "SELECT random(1, 100)", rows: 1, count: 10000, transaction: 5}
`
	b := newBench(t, text)
	b.Launches = 1
	b.run(t)
	for _, trial := range b.trials {
		busy := trial.Outcome == assay.Failed && strings.Contains(trial.Reason, "SQLITE_BUSY")
		if patient := trial.Cell.Profile == "patient"; busy == patient || patient && trial.Outcome != assay.OK {
			t.Errorf("%s: got %s (%s)", trial.Cell.Profile, trial.Outcome, trial.Reason)
		}
	}
	if len(b.trials) == 0 {
		t.Error("no trials")
	}
}

// Transactions of eight clients in two processes that read and then write come too late where they begin
// deferred, however long they would wait, and never where they begin immediate.
func TestBeginOfProcesses(t *testing.T) {
	text := `name: begin
drivers: [honest]
processes: 2
clients: 4
begin: [deferred, immediate]
profiles:
  web: {journal_mode: wal, synchronous: "off", busy_timeout: 30000}
workload: {schema: "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)", data: {t: "SELECT value, 0 FROM generate_series(1, 100)"}}
operations:
  change:
    transaction: 1
    busy: retry
    count: 4000
    steps:
      - {sql: SELECT n FROM t WHERE id = ?, args: "SELECT random(1, 100)", rows: 1, returns: [int]}
      - {sql: UPDATE t SET n = n + 1 WHERE id = ?, args: "SELECT random(1, 100)", rows: 1}
`
	b := newBench(t, text)
	b.Launches = 1
	b.run(t)
	seen := map[assay.Begin]bool{}
	for _, trial := range b.trials {
		seen[trial.Cell.Begin] = true
		if stale := trial.Figures[assay.StaleOp]; trial.Outcome != assay.OK || (stale > 0) != (trial.Cell.Begin == assay.Deferred) {
			t.Errorf("%s: got %s (%s), %g of an operation too late", trial.Cell.Begin, trial.Outcome, trial.Reason, stale)
		}
	}
	if len(seen) != 2 {
		t.Error(fmt.Sprint("got trials of ", seen, ", want both ways to begin"))
	}
}
