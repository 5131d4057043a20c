//go:build unix

package runner

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"assay"

	"github.com/google/go-cmp/cmp"
)

const header = `name: test
drivers: [honest, second]
profiles:
  web: {journal_mode: wal, synchronous: normal, cache_size: -4096}
workload:
  name: monster
  schema: CREATE TABLE monster (id INTEGER PRIMARY KEY, hp INTEGER NOT NULL);
  data:
    monster: SELECT value, random(1, 99) FROM generate_series(1, 100)
operations:
`

const read = `  read: {sql: "SELECT id, hp FROM monster WHERE id = ?", args: "SELECT random(1, 100)", rows: 1, returns: [int, int]}
`

const insert = `  insert:
    sql: INSERT INTO monster (id, hp) VALUES (?, ?)
    args: SELECT 100 + :i, random(1, 99)
    rows: 1
    count: 20
    check: {sql: "SELECT id, hp FROM monster ORDER BY id", returns: [int, int]}
`

const mix = `  mix: {mix: {read: 80, insert: 20}, clients: 4, busy: retry, count: 40}
`

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
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: (-want +got)\n%s", what, diff)
	}
}

func TestWindows(t *testing.T) {
	t.Setenv(besideVariable, "yes")
	b := newBench(t, header+read)
	all := b.run(t)
	b.lived(t, all, "open settings prepare measure prepare verify measure settings measure close")
	for _, trial := range b.trials {
		if trial.Outcome != assay.OK || trial.Mode != assay.Windows || len(trial.Samples) == 0 || trial.Figures[assay.NsPerOp] <= 0 {
			t.Errorf("trial %+v", trial)
		}
	}
	rounds := roundsOf(all)
	t.Run("alternate", func(t *testing.T) {
		whole := 0
		for _, round := range rounds {
			slices.Sort(round.workers)
			if len(slices.Compact(slices.Clone(round.workers))) != len(round.workers) {
				t.Errorf("a round of windows has the instances %v, want different ones", round.workers)
			}
			if len(round.workers) == 3 {
				whole++
			}
		}
		// One whose warm-up was disturbed counts operations instead.
		if whole < len(rounds)/2 || whole < b.launches() {
			t.Errorf("%d of %d rounds of windows in %d launches have three instances", whole, len(rounds), b.launches())
		}
	})
	t.Run("the sequence of arguments is used up", func(t *testing.T) {
		for i := 1; i < len(rounds); i++ {
			if rounds[i].start <= rounds[i-1].start {
				t.Fatalf("round %d enters the sequence at %d, the round before at %d", i, rounds[i].start, rounds[i-1].start)
			}
		}
	})
	t.Run("others are stopped", func(t *testing.T) {
		if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid())); err != nil {
			t.Skip("there is no /proc to look at processes")
		}
		for _, a := range all {
			if a.window() && (a.Awake > 0 || a.Beside != 2) {
				t.Errorf("at %s of %s, %d others are there and %d of them are awake", a.Kind, a.Worker, a.Beside, a.Awake)
			}
		}
	})
}

// All operations of a launch are verified before the first window: a scan fills caches, and
// what the others find in them must not depend on the order of the operations.
func TestAllAreVerifiedBeforeTheFirstWindow(t *testing.T) {
	b := newBench(t, header+read+`  scan: {sql: "SELECT count(*), sum(hp) FROM monster WHERE id > ?", args: "SELECT random(1, 99)", rows: 1, returns: [int, int]}
`)
	type operation struct {
		worker int
		name   string
	}
	verified, begun := map[operation]bool{}, map[int]bool{}
	for _, a := range b.run(t) {
		switch {
		case a.Kind == "verify" && begun[a.PID]:
			t.Errorf("worker %d is verified behind its first window", a.PID)
		case a.Kind == "verify":
			verified[operation{a.PID, a.Of}] = true
		case a.window() && !verified[operation{a.PID, a.Of}]:
			t.Errorf("worker %d measures %s, which it has not verified", a.PID, a.Of)
		case a.window():
			begun[a.PID] = true
		}
	}
	if want := 3 * b.launches(); len(begun) != want {
		t.Errorf("got windows of %d workers, want %d", len(begun), want)
	}
	// The launches behind the first two have what is undecided or was disturbed only.
	if least := 2 * 2 * 3; len(verified) < least {
		t.Errorf("got %d operations of workers verified, want at least %d", len(verified), least)
	}
}

// Windows of an operation's variants alternate, so that they may be compared: what
// changes within a launch is alike for all. A variant of a few long windows has them
// among those of the others.
func TestVariantsAlternate(t *testing.T) {
	b := newBench(t, header+strings.Replace(read, ", rows: 1", ", statement: [never, once], rows: 1", 1)+`  sort:
    sql: "SELECT m.id, m.hp FROM monster m, monster n, monster o WHERE n.id <= ? AND o.id <= 10 ORDER BY m.hp, m.id LIMIT 1"
    args: SELECT :n
    params: {n: [1, 20]}
    rows: 1
    returns: [int, int]
`)
	var order []string // of the operations that rounds are of
	for _, a := range b.run(t) {
		if (a.window() || a.short()) && (len(order) == 0 || order[len(order)-1] != a.Of) {
			order = append(order, a.Of)
		}
	}
	changes, others := 0, map[string]bool{}
	for i, of := range order {
		if i > 0 && strings.Split(of, "|")[1] == strings.Split(order[i-1], "|")[1] {
			changes++
		}
		others[of] = true
	}
	// Rounds are in random order: half of those of two variants are followed by the other.
	if least := b.launches() * windowsPerLaunch / 4; len(others) != 4 || changes < least {
		t.Errorf("of %d operations, rounds of one variant are followed by another's %d times in %d launches, want 4 operations and at least %d times: %v",
			len(others), changes, b.launches(), least, order)
	}
}

// Where an instance ends in a window of one variant, each cell has one trial of the
// launch: another variant has begun.
func TestInstanceEndsAmongVariants(t *testing.T) {
	b := newBench(t, strings.Replace(header, "second", quits, 1)+strings.Replace(read, ", rows: 1", ", statement: [never, once], rows: 1", 1))
	b.run(t)
	trials := map[string]int{}
	for _, trial := range b.trials {
		if trial.Cell.Driver == quits {
			trials[trial.Cell.Statement+" "+string(trial.Outcome)]++
		}
	}
	if want := map[string]int{"never failed": 1, "once failed": 1}; !maps.Equal(trials, want) {
		t.Errorf("trials %v, want %v", trials, want)
	}
}

// What an instance measured that cannot be closed is kept. The failure is of the launch
// behind it, which is not tried.
func TestInstanceThatCannotBeClosed(t *testing.T) {
	b := newBench(t, strings.Replace(header, "second", clings, 1)+read)
	b.run(t)
	trials := map[string]string{}
	for _, trial := range b.trials {
		if trial.Cell.Driver == clings {
			trials[fmt.Sprint(trial.Launch, " ", trial.Outcome)] = trial.Reason
		}
	}
	if len(trials) != 2 || trials["1 ok"] != "" || !strings.Contains(trials["2 failed"], "it clings") {
		t.Errorf("got trials %q, want one of the first launch that is ok, and one of the second with the error", trials)
	}
}

func (d *faultyDatabase) Close() error {
	if d.name == clings {
		return errors.New("it clings")
	}
	return d.Database.Close()
}

func TestLifeOfAnInstanceInABlock(t *testing.T) {
	t.Setenv(besideVariable, "yes")
	b := newBench(t, header+insert)
	all := b.run(t)
	b.lived(t, all, "open settings prepare measure settings verify close")
	parts := map[int][]asked{}
	for _, a := range all {
		if a.Kind == "measure" {
			parts[a.PID] = append(parts[a.PID], a)
		}
	}
	// The warm-up is a tenth, and the block goes on behind it, in parts. The others are there
	// and sleep.
	for pid, measured := range parts {
		next := int64(0)
		for i, a := range measured {
			if a.Start != next || (i == 0) != (a.Count == 2 && a.Start == 0) {
				t.Errorf("worker %d: part %d has %d operations from %d, want the next from %d", pid, i, a.Count, a.Start, next)
			}
			if i > 0 && (a.Beside != 2 || a.Awake > 0) {
				t.Errorf("worker %d: beside part %d are %d, %d of them awake; want 2 that sleep", pid, i, a.Beside, a.Awake)
			}
			next += a.Count
		}
		if next != 22 {
			t.Errorf("worker %d did %d operations, want 22", pid, next)
		}
	}
	if want := 3 * b.launches(); len(parts) != want {
		t.Errorf("got %d workers that measured, want %d", len(parts), want)
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

// round are the workers whose windows enter the sequence of arguments at start, one after
// the other.
type round struct {
	start   int64
	workers []int
}

func roundsOf(all []asked) []round {
	var rounds []round
	for _, a := range all {
		if !a.window() {
			continue
		}
		if len(rounds) == 0 || rounds[len(rounds)-1].start != a.Start {
			rounds = append(rounds, round{start: a.Start})
		}
		last := &rounds[len(rounds)-1]
		last.workers = append(last.workers, a.PID)
	}
	return rounds
}

// inOrder are the workers in the order in which their blocks began, behind so many operations.
func inOrder(all []asked, warm int64) []string {
	var order []string
	for _, a := range all {
		if a.Kind == "measure" && a.Start == warm {
			order = append(order, a.Worker)
		}
	}
	return order
}

func TestOrderIsSeeded(t *testing.T) {
	order := func(seed uint64) []string {
		b := newBench(t, header+insert)
		b.Seed, b.Launches = seed, 3
		return inOrder(b.run(t), 2)[:3*3]
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

// A pool that closes connections and opens them again is reported in process,
// as it is over HTTP: in blocks, and in windows, which have few clients.
func TestPoolThatReopens(t *testing.T) {
	for clients, mode := range map[int]assay.Mode{16: assay.Blocks, 1: assay.Windows} {
		b := newBench(t, header+strings.Replace(read, "{sql:", fmt.Sprintf("{clients: %d, pool: {open: 16, idle: 1}, count: 400, sql:", clients), 1))
		b.Launches = 1
		b.run(t)
		for _, trial := range b.trials {
			reopens, known := trial.Figures[assay.ReopensOp]
			warned := slices.ContainsFunc(trial.Warnings, func(w assay.Warning) bool { return w.Code == "reopens" })
			for name := range trial.Figures {
				if m, _ := assay.MetricByName(name); m.Of == assay.OfRequest {
					t.Errorf("%d clients in process: got a figure of %s, want none of requests: a report would say that the cell was served", clients, name)
				}
			}
			if trial.Mode != mode || !known || warned != (reopens > 0) {
				t.Errorf("%d clients: mode %v, reopens/op %g, known %v, warned %v: want mode %v, a figure, and the warning where it is above 0: %+v", clients, trial.Mode, reopens, known, warned, mode, trial)
			}
		}
	}
}
