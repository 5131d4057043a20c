//go:build unix

package runner

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
)

const header = `name: test
drivers: [honest, second]
profiles:
  web: {journal_mode: wal, synchronous: normal, cache_size: -4096}
workload:
  name: monster
  schema: CREATE TABLE monster (id INTEGER PRIMARY KEY, hp INTEGER NOT NULL);
  data:
    monster: {rows: 100, columns: {id: seq, hp: {uniform: [1, 99]}}}
operations:
`

const read = `  read: {sql: "SELECT id, hp FROM monster WHERE id = ?", args: [{uniform: monster.id}], rows: 1, returns: [int, int]}
`

const insert = `  insert:
    sql: INSERT INTO monster (id, hp) VALUES (?, ?)
    args: [{next: monster.id}, {uniform: [1, 99]}]
    rows: 1
    count: 20
    check: {sql: "SELECT id, hp FROM monster ORDER BY id", returns: [int, int]}
`

const mix = `  mix: {mix: {read: 80, insert: 20}, clients: 4, busy: retry, count: 40}
`

// A launch that was disturbed from outside is measured again: a run has two
// launches or more, and the tests must hold for any number.

// launches is how many launches there were.
func (b *bench) launches() int {
	last := 0
	for _, trial := range b.trials {
		last = max(last, trial.Launch)
	}
	return last
}

// lived demands that every instance of every launch had the same life.
func (b *bench) lived(t *testing.T, all []asked, life string) {
	t.Helper()
	same(t, "lives", lives(all), slices.Repeat([]string{life}, 3*b.launches()))
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestWindows(t *testing.T) {
	b := newBench(t, header+read)
	all := b.run(t)
	b.lived(t, all, "open settings prepare verify measure settings measure close")
	for _, trial := range b.trials {
		if trial.Outcome != assay.OK || trial.Mode != assay.Windows || len(trial.Samples) == 0 || trial.Figures[assay.NsPerOp] <= 0 {
			t.Errorf("trial %+v", trial)
		}
	}
	t.Run("alternate", func(t *testing.T) {
		rounds := windowsOf(all, 3)
		if len(rounds) < b.launches() {
			t.Errorf("%d rounds of windows in %d launches", len(rounds), b.launches())
		}
		for _, round := range rounds {
			slices.Sort(round)
			if len(slices.Compact(round)) != 3 {
				t.Errorf("a round of windows has the instances %v, want three different ones", round)
			}
		}
	})
	t.Run("the sequence of arguments is used up", func(t *testing.T) {
		next := int64(-1)
		for i, a := range slices.DeleteFunc(slices.Clone(all), func(a asked) bool { return !a.window() }) {
			switch {
			case i%3 > 0 && a.Start != next:
				t.Fatalf("window %d enters the sequence at %d, the others of its round at %d", i, a.Start, next)
			case i%3 == 0 && a.Start <= next:
				t.Fatalf("window %d enters the sequence at %d, the round before at %d", i, a.Start, next)
			}
			next = a.Start
		}
	})
	t.Run("others are stopped", func(t *testing.T) {
		if _, err := os.Stat("/proc/self/stat"); err != nil {
			t.Skip("there is no /proc to look at processes")
		}
		for _, a := range all {
			if a.window() && (a.Awake > 0 || a.Beside != 2) {
				t.Errorf("at %s of %s, %d others are there and %d of them are awake", a.Kind, a.Worker, a.Beside, a.Awake)
			}
		}
	})
}

func TestLifeOfAnInstanceInABlock(t *testing.T) {
	b := newBench(t, header+insert)
	all := b.run(t)
	b.lived(t, all, "open settings prepare measure settings verify close")
	var measured []asked
	for _, a := range all {
		if a.Kind == "measure" {
			measured = append(measured, asked{Start: a.Start, Count: a.Count, Beside: a.Beside})
		}
	}
	// The warm-up is a tenth, the block is undivided and goes on behind it, and
	// nobody else is there.
	want := slices.Repeat([]asked{{Count: 2}, {Start: 2, Count: 20}}, 3*b.launches())
	if !slices.Equal(measured, want) {
		t.Errorf("measured %+v, want %+v", measured, want)
	}
}

func TestLifeOfAMix(t *testing.T) {
	b := newBench(t, header+read+insert+mix)
	b.Cases = slices.DeleteFunc(b.Cases, func(c assay.Case) bool { return c.Cell.Operation != "mix" })
	// The reading part is prepared alone too, to verify it. Behind the block all
	// clients go on and tell their answers, then one goes on alone, and the rows
	// that were inserted are read.
	b.lived(t, b.run(t), "open settings prepare verify measure settings measure prepare measure prepare verify close")
}

// windowsOf groups the windows of every launch by rounds of so many instances;
// warm-ups are no windows.
func windowsOf(all []asked, instances int) [][]int {
	var rounds [][]int
	for _, a := range all {
		if a.Kind != "measure" || a.Nanos != int64(windowLength) {
			continue
		}
		if len(rounds) == 0 || len(rounds[len(rounds)-1]) == instances {
			rounds = append(rounds, nil)
		}
		rounds[len(rounds)-1] = append(rounds[len(rounds)-1], a.PID)
	}
	return rounds
}

// opened are the workers in the order in which they were opened.
func opened(all []asked) []string {
	var order []string
	for _, a := range all {
		if a.Kind == "open" {
			order = append(order, a.Worker)
		}
	}
	return order
}

func TestOrderIsSeeded(t *testing.T) {
	order := func(seed uint64) []string {
		b := newBench(t, header+insert)
		b.Seed, b.Launches = seed, 3
		return opened(b.run(t))[:3*3]
	}
	first := order(1)
	same(t, "the order with the same seed", order(1), first)
	if slices.Equal(order(2), first) {
		t.Errorf("another seed gives the same order %v", first)
	}
	launches := slices.Collect(slices.Chunk(first, 3))
	if !slices.ContainsFunc(launches, func(l []string) bool { return !slices.Equal(l, launches[0]) }) {
		t.Errorf("every launch has the order %v", launches[0])
	}
}

// A launch is numbered, has the twin of the reference, and each of its trials
// has the same digest.
func TestTrialsOfLaunches(t *testing.T) {
	b := newBench(t, header+insert)
	b.run(t)
	var got []string
	digests := map[string]bool{}
	for _, trial := range b.trials {
		if trial.Launch > b.Launches {
			continue
		}
		name := trial.Cell.Driver
		if trial.Twin {
			name += " again"
		}
		got = append(got, string('0'+rune(trial.Launch))+" "+name)
		digests[trial.Digest] = true
		if trial.Durability != assay.Consistent || trial.Cell.Build != "build of "+trial.Cell.Driver || trial.Cell.Engine != "sqlite" {
			t.Errorf("trial %+v", trial)
		}
	}
	slices.Sort(got)
	same(t, "trials", got, []string{"1 honest", "1 honest again", "1 second", "2 honest", "2 honest again", "2 second"})
	if len(digests) != 1 || digests[""] {
		t.Errorf("digests %v, want one", digests)
	}
}

// Where the budget ends in the first round, the operation that is measured then
// is finished, no instance is started any more, and all other cells are not run.
func TestBudgetEndsInTheFirstRound(t *testing.T) {
	b := newBench(t, header+read+strings.ReplaceAll(read, "  read", "  again")+insert+mix)
	b.Budget = time.Hour
	r, err := New(t.Context(), b.Config)
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	r.config.Emit = func(trial assay.Trial) error {
		if len(b.trials) == 0 {
			opened = len(lives(b.asked(t)))
		}
		b.trials = append(b.trials, trial)
		r.spent += b.Budget
		return nil
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	outcomes, measured := map[string][]assay.Outcome{}, map[string]bool{}
	for _, trial := range b.trials {
		if !trial.Twin {
			outcomes[trial.Cell.Key()] = append(outcomes[trial.Cell.Key()], trial.Outcome)
		}
		if trial.Outcome == assay.OK {
			measured[trial.Cell.Operation] = true
		}
	}
	for key, all := range outcomes {
		if len(all) != 1 || all[0] != assay.OK && all[0] != assay.NotRun {
			t.Errorf("%s has the outcomes %v, want ok or not-run, once", key, all)
		}
	}
	if len(outcomes) != 8 || len(measured) != 1 {
		t.Errorf("%d cells have an outcome and the operations %v are measured, want 8 and one", len(outcomes), measured)
	}
	if got := len(lives(b.asked(t))); got != opened {
		t.Errorf("%d workers were opened, %d of them before the budget ended", got, opened)
	}
}

// A run that is cancelled ends with the context's error and leaves neither a
// worker nor a folder.
func TestCancel(t *testing.T) {
	b := newBench(t, header+read)
	ctx, cancel := context.WithCancel(t.Context())
	b.Progress = func(e Event) {
		if e.Phase == "measure" && e.Round == 2 {
			cancel()
		}
	}
	r, err := New(ctx, b.Config)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled run: %v", err)
	}
	if len(b.trials) != 3 {
		t.Errorf("%d trials, want the three of the first round", len(b.trials))
	}
	for _, a := range b.asked(t) {
		if alive(a.PID) {
			t.Errorf("worker %s is left", a.Worker)
		}
	}
	folders, err := filepath.Glob(filepath.Join(b.Work.Dir, "instance-*"))
	if err != nil || len(folders) > 0 {
		t.Errorf("folders %v are left, %v", folders, err)
	}
}

// What a resumed run has done already counts, a launch that was interrupted
// does not, and new launches get new numbers.
func TestResume(t *testing.T) {
	b := newBench(t, header+insert)
	b.run(t)
	b.Done = b.trials[:4] // the whole first launch, and a part of the second
	for i := range b.Done {
		b.Done[i].Disqualified = false
	}
	b.trials = nil
	b.run(t)
	var launches []int
	for _, trial := range b.trials {
		launches = append(launches, trial.Launch)
	}
	if len(launches) < 3 || !slices.Equal(launches[:3], []int{3, 3, 3}) {
		t.Fatalf("launches %v, want a third one", launches)
	}
	disturbed := slices.ContainsFunc(b.trials[:3], func(trial assay.Trial) bool { return trial.Disqualified })
	if len(launches) > 3 && !disturbed {
		t.Errorf("launches %v, want a third one alone", launches)
	}
}

// A worker that cannot be started is an outcome of its cells; where there is
// no other, it is an error.
func TestWorkerThatDoesNotStart(t *testing.T) {
	b := newBench(t, header+insert)
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho no library >&2\nexit 5\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.Programs["second"] = Program{Path: broken, Digest: "broken build"}
	b.run(t)
	outcomes := map[string]int{}
	for _, trial := range b.trials {
		outcomes[trial.Cell.Driver+" "+string(trial.Outcome)]++
		if trial.Cell.Driver == "second" && (!strings.Contains(trial.Reason, "exit status 5") || !strings.Contains(trial.Reason, "no library") || trial.Cell.Build != "broken build") {
			t.Errorf("trial %+v", trial)
		}
	}
	if len(outcomes) != 2 || outcomes["honest ok"] < 4 || outcomes["second failed"] != 1 {
		t.Errorf("outcomes %v", outcomes)
	}
	b.Programs["honest"] = b.Programs["second"]
	if _, err := New(t.Context(), b.Config); err == nil || !strings.Contains(err.Error(), "no worker can be measured; honest: ") {
		t.Errorf("without a worker: %v", err)
	}
}

// A worker that was killed while it was stopped, between two operations, has a
// trial that says so.
func TestWorkerKilledBetweenOperations(t *testing.T) {
	b := newBench(t, header+read+strings.ReplaceAll(read, "  read", "  again"))
	b.Launches = 1
	killed := false
	b.Emit = func(trial assay.Trial) error {
		b.trials = append(b.trials, trial)
		if !killed {
			killed = true
			b.killOne(t)
		}
		return nil
	}
	b.run(t)
	outcomes := map[assay.Outcome]int{}
	for _, trial := range b.trials {
		if trial.Launch > 1 {
			continue
		}
		outcomes[trial.Outcome]++
		if trial.Outcome == assay.Failed && !strings.Contains(trial.Reason, "killed") {
			t.Errorf("reason %q", trial.Reason)
		}
	}
	if outcomes[assay.OK] != 5 || outcomes[assay.Failed] != 1 {
		t.Errorf("outcomes %v, want five ok and one failed", outcomes)
	}
}

// killOne kills the worker second, and waits until the runner has seen it.
func (b *bench) killOne(t *testing.T) {
	for _, a := range b.asked(t) {
		if a.Worker == "second" && alive(a.PID) {
			kill(t, a.PID)
			for alive(a.PID) {
				time.Sleep(time.Millisecond)
			}
			return
		}
	}
	t.Fatal("no worker is there")
}

func TestRunTakesNoLongerThanItsTimeouts(t *testing.T) {
	b := newBench(t, header+insert)
	b.Timeout = time.Nanosecond
	if _, err := New(t.Context(), b.Config); err == nil || !strings.Contains(err.Error(), "no answer within the time limit") {
		t.Errorf("with no time to answer: %v", err)
	}
}

// An instance that cannot be opened costs its own cells only: the others of its
// group are measured, also when it was the baseline, and of several operations.
func TestBaselineThatDoesNotOpen(t *testing.T) {
	text := strings.Replace(header, "profiles:\n", "profiles:\n  broken: {once: [SELECT nothing FROM nowhere]}\n", 1)
	operations := read + strings.ReplaceAll(read, "  read", "  again")
	for name, c := range map[string]struct {
		plan       string
		ok, failed int // cells
	}{
		"the first profile's once fails":     {text + operations, 4, 4},
		"the baseline's worker dies at open": {strings.Replace(header, "honest", "dies", 1) + operations, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.plan)
			b.run(t)
			outcomes := map[assay.Outcome]map[string]int{assay.OK: {}, assay.Failed: {}}
			for _, trial := range b.trials {
				if trial.Twin {
					continue
				}
				if outcomes[trial.Outcome] == nil {
					t.Fatalf("trial %+v", trial)
				}
				outcomes[trial.Outcome][trial.Cell.Key()]++
			}
			if len(outcomes[assay.OK]) != c.ok || len(outcomes[assay.Failed]) != c.failed {
				t.Errorf("%d cells are ok and %d failed, want %d and %d: %v", len(outcomes[assay.OK]), len(outcomes[assay.Failed]), c.ok, c.failed, outcomes)
			}
			for key, n := range outcomes[assay.OK] {
				if n < b.Launches {
					t.Errorf("%s has %d trials, want %d", key, n, b.Launches)
				}
			}
		})
	}
}

// What the environment does ends the run, and is no outcome of a cell: resumed,
// everything is still to be measured.
func TestCacheThatIsGone(t *testing.T) {
	b := newBench(t, header+insert)
	r, err := New(t.Context(), b.Config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(b.Data.Dir); err != nil {
		t.Fatal(err)
	}
	var gone *EnvironmentError
	if err := r.Run(t.Context()); !errors.As(err, &gone) || !strings.Contains(err.Error(), "resume it with --resume") {
		t.Errorf("got %v, want that the run cannot go on and can be resumed", err)
	}
	if len(b.trials) > 0 {
		t.Errorf("cells have an outcome: %+v", b.trials)
	}
}

// A cell that fails because the disk is full has no outcome; the run ends.
func TestDiskThatIsFull(t *testing.T) {
	b := newBench(t, strings.Replace(header, "second", "full", 1)+read)
	r, err := New(t.Context(), b.Config)
	if err != nil {
		t.Fatal(err)
	}
	var full *EnvironmentError
	if err := r.Run(t.Context()); !errors.As(err, &full) || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("got %v, want that the disk is full", err)
	}
	for _, trial := range b.of("full") {
		t.Errorf("the cell has an outcome: %+v", trial)
	}
}

// unprepared are the outcomes of the cells that could not be prepared, by operation
// and driver, and the operations that could.
func unprepared(t *testing.T, b *bench) (outcomes map[string]string, prepared []string) {
	t.Helper()
	r, err := New(t.Context(), b.Config)
	if err != nil {
		t.Fatal(err)
	}
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
	b := newBench(t, header+read+"  endless: {sql: \""+circle+"\", rows: 1, returns: [int]}\n"+unchecked)
	b.Timeout = 5 * time.Second
	began := time.Now()
	got, prepared := unprepared(t, b)
	if took := time.Since(began); took > 3*b.Timeout {
		t.Errorf("it took %s: the time limit of %s was waited for more than once each", took, b.Timeout)
	}
	want := map[string]string{}
	for _, operation := range []string{"endless", "unchecked"} {
		reason := "timed-out: to prepare the expected answers of monster/" + operation + " took longer than 5s; the plan's timeout is 5s"
		want[operation+" honest"], want[operation+" second"] = reason, reason
	}
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

// A pool that closes connections and opens them again is reported in process,
// as it is over HTTP.
func TestPoolThatReopens(t *testing.T) {
	b := newBench(t, header+strings.Replace(read, "{sql:", "{clients: 16, pool: {open: 16, idle: 1}, count: 400, sql:", 1))
	b.Launches = 1
	b.run(t)
	for _, trial := range b.trials {
		reopens, known := trial.Figures[assay.ReopensOp]
		warned := slices.ContainsFunc(trial.Warnings, func(w assay.Warning) bool { return w.Code == "reopens" })
		if trial.Mode != assay.Blocks || !known || warned != (reopens > 0) {
			t.Errorf("reopens/op %g, known %v, warned %v: want a figure, and the warning where it is above 0: %+v", reopens, known, warned, trial)
		}
	}
}
