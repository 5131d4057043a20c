//go:build unix

package runner

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/runner/host"
	"assay/kit/wire"
)

// The names of workers with a fault.
const (
	stumbles = "stumbles" // the first operation outside of verifying and of filling caches fails
	misses   = "misses"   // it answers another number of rows
	early    = "early"    // the first that fills caches fails
	compiles = "compiles" // it refuses the statement policy never, as it may
	repents  = "repents"  // cache_size is wrong at the first read, right later
	weakens  = "weakens"  // writer-2 does not sync any more at the second read
	forgets  = "forgets"  // the last connection is not read back
	dies     = "dies"     // it ends at open
	quits    = "quits"    // it ends after some windows
	clings   = "clings"   // its database cannot be closed
	retries  = "retries"  // its first process cannot open the database, the others can
	stalls   = "stalls"   // every 200th operation sleeps for a millisecond
	full     = "full"     // its disk is full at open
	// fewFilesName may open few files.
	fewFilesName = "few-files"
	drops        = "drops" // operations that change data say that they did, and do nothing
	// neverCommits leaves its changes in a transaction, failsLast fails at the last one.
	neverCommits = "never-commits"
	failsLast    = "fails-last"
	// forgetsLast does not do the last change of a kind, stale makes each tenth
	// update the one before again: both say that they did as they were asked.
	forgetsLast = "forgets-last"
	stale       = "stale"
	forges      = "forges" // it writes one wrong value, and another one that balances it
	// What its clients read is right as long as one works alone, or where it is
	// verified; mute does not tell what they read.
	wrongBeside = "wrong-beside"
	wrongInside = "wrong-inside"
	mute        = "mute"
)

// pooled is insert with two connections that write.
var pooled = strings.Replace(insert, "    rows: 1\n", "    rows: 1\n    clients: 2\n    pool: 2\n    busy: retry\n", 1)

// faultyBench is a bench with a fault for its second driver.
func faultyBench(t *testing.T, fault, operations string) *bench {
	t.Helper()
	return newBench(t, strings.Replace(header, "second", fault, 1)+operations)
}

// of are the trials of a driver.
func (b *bench) of(driver string) []assay.Trial {
	return slices.DeleteFunc(slices.Clone(b.trials), func(t assay.Trial) bool { return t.Cell.Driver != driver })
}

// What goes wrong in a warm-up is an outcome, and nothing is measured after it.
func TestFaultInTheWarmUp(t *testing.T) {
	for _, c := range []struct {
		fault   string
		outcome assay.Outcome
		reason  string
	}{
		{stumbles, assay.Failed, "operations failed; the first: stumbled"},
		{misses, assay.WrongAnswer, "operations had the wrong number of rows; the first: 2 rows, expected are 1"},
	} {
		for mode, operation := range map[assay.Mode]string{assay.Windows: read, assay.Blocks: insert} {
			t.Run(c.fault+" in "+string(mode), func(t *testing.T) {
				b := faultyBench(t, c.fault, operation)
				b.Launches = 1
				b.run(t)
				trials := b.of(c.fault)
				if len(trials) != 1 || trials[0].Outcome != c.outcome || !strings.HasPrefix(trials[0].Reason, "1 of ") ||
					!strings.HasSuffix(trials[0].Reason, c.reason) || trials[0].Mode != mode || len(trials[0].Samples) > 0 {
					t.Errorf("trials %+v, want one that is %s: %s", trials, c.outcome, c.reason)
				}
			})
		}
	}
}

// Where an instance cannot fill its caches, that is the outcome of all its reads, and says so.
func TestFaultWhileCachesAreFilled(t *testing.T) {
	b := faultyBench(t, early, read+strings.Replace(read, "read:", "again:", 1))
	b.Launches = 1
	b.run(t)
	want := "read all of the data before windows: 1 of 1 operations failed; the first: stumbled"
	trials := b.of(early)
	for _, trial := range trials {
		if trial.Outcome != assay.Failed || trial.Reason != want || len(trial.Samples) > 0 {
			t.Errorf("got %s (%s), want failed: %s", trial.Outcome, trial.Reason, want)
		}
	}
	if len(trials) != 2 || len(b.of("honest")) == 0 {
		t.Errorf("got %d trials of two operations, and %d of the honest driver", len(trials), len(b.of("honest")))
	}
}

// What a run asks of a worker beside its operations is nothing that the worker may refuse.
func TestWorkerThatCompilesAll(t *testing.T) {
	b := faultyBench(t, compiles, read)
	b.Launches = 1
	b.run(t)
	trials := b.of(compiles)
	if len(trials) == 0 || trials[0].Outcome != assay.OK {
		t.Errorf("got %+v, want a trial that is ok", trials)
	}
}

// A wrong value in one row, and another one that balances it, are a wrong answer,
// although the numbers of rows and the sum are right.
func TestWrongValue(t *testing.T) {
	b := faultyBench(t, forges, insert)
	b.Launches = 1
	b.run(t)
	for driver, want := range map[string]assay.Outcome{"honest": assay.OK, forges: assay.WrongAnswer} {
		trials := b.of(driver)
		if len(trials) == 0 {
			t.Errorf("%s: got no trials", driver)
		}
		for _, trial := range trials {
			if trial.Outcome != want || want == assay.WrongAnswer && (len(trial.Figures) > 0 || !strings.Contains(trial.Reason, "after the block")) {
				t.Errorf("%s: got %s (%s) with %d figures, want %s", driver, trial.Outcome, trial.Reason, len(trial.Figures), want)
			}
		}
	}
}

// In a warm-up, an operation that was busy and done in the end is right, and
// so is one that was not completed while all clients were at work.
func TestWrong(t *testing.T) {
	for _, m := range []wire.Measured{{Executed: 4, Nanos: 1}, {Operations: 4, Executed: 4, Nanos: 1, Busy: 9}} {
		if err := wrong(m); err != nil {
			t.Errorf("wrong(%+v) = %v", m, err)
		}
	}
}

// A setting that was not effective at open stays so, with the values that show
// it.
func TestSettingThatIsEffectiveOnlyLater(t *testing.T) {
	for mode, operation := range map[assay.Mode]string{assay.Windows: read, assay.Blocks: insert} {
		t.Run(string(mode), func(t *testing.T) {
			b := faultyBench(t, repents, operation)
			b.run(t)
			trials := b.of(repents)
			for _, trial := range trials {
				if trial.Outcome != assay.NotApplied || !strings.Contains(trial.Reason, "cache_size=-4096 was requested, effective is 7 on") ||
					!slices.ContainsFunc(trial.Settings, func(s assay.Setting) bool { return s.Name == "cache_size" && s.Effective == "7" }) {
					t.Errorf("trial %+v", trial)
				}
			}
			if len(trials) < b.Launches {
				t.Errorf("%d trials", len(trials))
			}
		})
	}
}

// Each connection that an instance opens is to be read back: of the readers
// in windows, of the writers in blocks.
func TestConnectionThatIsForgotten(t *testing.T) {
	for reason, operation := range map[string]string{
		"reader-2 was not read back": strings.Replace(read, "{sql:", "{pool: 2, sql:", 1),
		"writer-2 was not read back": pooled,
	} {
		b := faultyBench(t, forgets, operation)
		b.Launches = 1
		b.run(t)
		trials := b.of(forgets)
		if len(trials) == 0 || trials[0].Outcome != assay.NotApplied || trials[0].Reason != reason {
			t.Errorf("trials %+v, want %s", trials, reason)
		}
	}
}

// The weakest of the writers' connections counts, after the block too.
func TestDurabilityAfterTheBlock(t *testing.T) {
	b := faultyBench(t, weakens, pooled)
	b.Launches = 1
	b.run(t)
	for driver, want := range map[string]assay.Durability{"honest": assay.Consistent, weakens: assay.Process} {
		trials := b.of(driver)
		for _, trial := range trials {
			if trial.Durability != want {
				t.Errorf("%s: durability %q, want %q: %+v", driver, trial.Durability, want, trial)
			}
		}
		if len(trials) == 0 {
			t.Errorf("no trial of %s", driver)
		}
	}
}

// The CPU time of a worker that ended in a launch stays ours.
func TestCPUOfAnEndedWorker(t *testing.T) {
	b := newBench(t, header+read)
	r, err := Prepare(t.Context(), b.Config)
	must(t, err)
	in, err := r.start(t.Context(), r.groups[0].members[0], 1, connections{readers: 1, idle: 1})
	must(t, err)
	in.kill()
	l := &jointLaunch{r: r, instances: []*instance{in}}
	before := host.SelfCPU()
	got := l.cpu()
	after := host.SelfCPU()
	if used := in.worker.Usage(); used <= 0 || got < before+used || got > after+used {
		t.Errorf("%s, want the worker's %s and between %s and %s of this process", got, used, before, after)
	}
}

// A path that a URI must escape is escaped where a DSN is one, and shows
// nowhere in the trial.
func TestPathThatIsEscaped(t *testing.T) {
	in := &instance{member: &member{}, place: place{path: "/a b/it's 5%/data.db"}}
	for raw, want := range map[string]string{
		"file:{{path}}?mode=ro":      "file:/a%20b/it%27s%205%25/data.db?mode=ro",
		"{{path}}?mode=ro":           "/a b/it's 5%/data.db?mode=ro",
		"sqlite:{{path}}#{{path}}":   "sqlite:/a b/it's 5%/data.db#/a b/it's 5%/data.db",
		"file::memory:?cache=shared": "file::memory:?cache=shared",
	} {
		got := in.rawDSN(raw)
		if got != want {
			t.Errorf("DSN of %s: %s, want %s", raw, got, want)
		}
		in.opened = wire.Opened{DSN: got, Each: in.withPath([]string{"ATTACH '{{path}}' AS a"})}
		trial := in.trial(at(assay.Windows, "read a p"), 1)
		if trial.DSN != raw || !slices.Equal(trial.Each, []string{"ATTACH '{{path}}' AS a"}) {
			t.Errorf("the trial has %s and %q, want %s", trial.DSN, trial.Each, raw)
		}
	}
}

// A folder with such a path can be measured in, with settings and with a raw
// profile.
func TestFolderThatIsEscaped(t *testing.T) {
	raw := strings.Replace(header, "web: {journal_mode: wal, synchronous: normal, cache_size: -4096}",
		`web: {raw: {honest: "file:{{path}}?_pragma=cache_size(9)", second: "file:{{path}}?_pragma=cache_size(9)"}, requests: {cache_size: 9}}`, 1)
	for text, dsn := range map[string]string{header: "file:{{path}}?_pragma=journal_mode(WAL)", raw: "file:{{path}}?_pragma=cache_size(9)"} {
		b := newBench(t, text+read)
		var err error
		if b.Work, err = NewWorkspace(filepath.Join(t.TempDir(), "a b?5%"), "test"); err != nil {
			t.Fatal(err)
		}
		defer b.Work.Close()
		r, err := Prepare(t.Context(), b.Config)
		must(t, err)
		trial, err := r.Inspect(t.Context())
		if err != nil || trial.Outcome != assay.OK || !strings.HasPrefix(trial.DSN, dsn) {
			t.Errorf("%v, outcome %s (%s), DSN %s, want %s", err, trial.Outcome, trial.Reason, trial.DSN, dsn)
		}
	}
}

// A DSN that says how transactions begin is told to be in vain, where there are transactions.
func TestBeginWarning(t *testing.T) {
	of := func(dsn string, transaction int) assay.Case {
		return assay.Case{Cell: assay.Cell{Driver: "a"}, Profile: assay.Profile{Raw: map[string]string{"a": dsn}},
			Operation: assay.Operation{Changes: true, Transaction: transaction}}
	}
	inMix := of("file:x?_TXLOCK=immediate", 0)
	inMix.Operation.Parts = []assay.Part{{Operation: assay.Operation{Changes: true, Transaction: 1}}}
	asked := of("file:x?_txlock=deferred", 1)
	asked.Cell.Begin = assay.Deferred
	for _, test := range []struct {
		c    assay.Case
		want bool
	}{
		{of("file:x?_pragma=a&_txlock=deferred", 1), true},
		{asked, false},
		{inMix, true},
		{of("file:x?transaction_mode=IMMEDIATE", 1), true},
		{of("sqlite:///x?isolation_level=exclusive", 1), true},
		{of("file:x?default_transaction_mode=deferred", 1), true},
		{of("file:x?other_transaction=deferred", 1), false},
		{of("file:x?_txlock=deferred", 0), false},
		{of("file:x?_busy_timeout=5", 1), false},
	} {
		if got := len(BeginWarning(test.c)) > 0; got != test.want {
			t.Errorf("%s, %d operations in a transaction: got a warning %t, want %t", test.c.Profile.Raw["a"], test.c.Operation.Transaction, got, test.want)
		}
	}
}
