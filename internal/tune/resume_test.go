package tune

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"assay"
	"assay/internal/build"
	"assay/internal/lab"
	"assay/internal/plan"
	"assay/internal/runner"
	"assay/internal/serve/browser"
	"assay/internal/store"
	"assay/kit"
	"assay/kit/column"
	"assay/kit/sqldb"
	"assay/kit/wire"

	_ "modernc.org/sqlite"
)

// workerVariable, in the environment, makes this program a worker.
const workerVariable = "TUNING_TEST_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(workerVariable) == "" {
		os.Exit(browser.Main(m))
	}
	driver := sqldb.Driver{Name: "tunable", SQLName: "sqlite",
		Key:  func(name, value string) string { return "_pragma=" + name + "(" + value + ")" },
		Busy: func(err error) bool { return strings.Contains(err.Error(), "(SQLITE_BUSY)") }}
	if err := kit.Serve(tunable{sqldb.New(driver)}, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// tunable is an engine with two settings that make it faster, and no others: each costs launches.
type tunable struct{ kit.Engine }

func (e tunable) Open(r wire.Open) (kit.Database, wire.Opened, error) {
	pause := 4 * time.Millisecond
	for name, value := range map[string]string{"temp_store": "2", "journal_size_limit": "67108864"} {
		if r.Settings[name] == value {
			pause /= 2
		}
	}
	for name, value := range map[string]string{"journal_mode": "wal", "synchronous": "1", "wal_autocheckpoint": "10000"} {
		if r.Settings[name] != "" {
			r.Settings[name] = value // no other one can be had
		}
	}
	db, opened, err := e.Engine.Open(r)
	return slowDatabase{db, pause}, opened, err
}

type slowDatabase struct {
	kit.Database
	pause time.Duration
}

func (d slowDatabase) Prepare(op wire.Operation, trace *column.File) (kit.Operation, error) {
	prepared, err := d.Database.Prepare(op, trace)
	return slowOperation{prepared, d.pause}, err
}

func (d slowDatabase) Pool() wire.Pool { return d.Database.(kit.Pooled).Pool() }

type slowOperation struct {
	kit.Operation
	pause time.Duration
}

func (o slowOperation) Client() (kit.Client, error) {
	client, err := o.Operation.Client()
	return slowClient{client, o.pause}, err
}

type slowClient struct {
	kit.Client
	pause time.Duration
}

func (c slowClient) Do(position int) (int, error) {
	time.Sleep(c.pause)
	return c.Client.Do(position)
}

const tunablePlan = `name: app
precision: 50%
timeout: 10s
drivers: [tunable]
profiles:
  web: {journal_mode: wal, synchronous: normal, busy_timeout: 5s, cache_size: 32768, mmap_size: 134217728, wal_autocheckpoint: 10000}
workload:
  name: monster
  schema: CREATE TABLE monster (id INTEGER PRIMARY KEY, hp INTEGER NOT NULL); CREATE INDEX monster_hp ON monster (hp);
  data:
    monster: SELECT value, random(1, 99) FROM generate_series(1, 100)
operations:
  insert:
    sql: INSERT INTO monster (id, hp) VALUES (?, ?)
    args: SELECT (SELECT max(id) FROM monster) + :i, random(1, 99)
    rows: 1
    count: 5
`

// silent is a watcher that calls a function at each trial.
type silent struct{ trial func() }

func (silent) Build(build.Event)              {}
func (silent) Note(string)                    {}
func (silent) Data(string, int, int)          {}
func (silent) Measure(runner.Event)           {}
func (w silent) Trial(assay.Run, assay.Trial) { w.trial() }

// bench is where a tuning of the plan is run, stopped and resumed.
type bench struct {
	t       *testing.T
	dir     string
	store   *store.Store
	request Request
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	program, err := os.Executable()
	must(t, err)
	err = os.CopyFS(filepath.Join(dir, "source"), fstest.MapFS{
		"kit/go.mod":             {Data: []byte("module assay/kit\n")},
		"workers/tunable/worker": {Data: []byte("#!/bin/sh\n" + workerVariable + "=1 exec '" + program + "'\n"), Mode: 0o755},
		"workers/tunable/README": {Data: []byte("Worker tunable\n")},
	})
	must(t, err)
	s, err := store.Open(t.Context(), filepath.Join(dir, "assay.db"))
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	p, err := plan.Decode("app.yaml", []byte(tunablePlan))
	must(t, err)
	memory, _ := ParseBytes("256M")
	return &bench{t, dir, s, Request{Plan: p, PlanFile: "/app.yaml", Memory: memory, Budget: time.Hour, Again: "assay tune app.yaml --resume"}}
}

// run tunes until its end, or until one of the stages has kept so many trials.
func (b *bench) run(trials int, until ...Stage) (*Report, *Tuning, error) {
	b.t.Helper()
	ctx, stop := context.WithCancel(b.t.Context())
	defer stop()
	stage, kept := "", 0
	request := b.request
	request.Step = func(what string) {
		if now, _, _ := strings.Cut(what, ", block"); now != stage {
			stage, kept = now, 0
		}
	}
	watcher := silent{func() {
		if kept++; slices.Contains(until, Stage(stage)) && kept == trials {
			stop()
		}
	}}
	l := &lab.Lab{Cache: filepath.Join(b.dir, "cache"), Source: build.Source{Dir: filepath.Join(b.dir, "source")}, Watcher: watcher}
	t := New(l, b.store, request)
	r, err := t.Run(ctx)
	return r, t, err
}

// kept are the store's runs by plan, and its trials, each named by what it is of.
func (b *bench) kept() (runs map[string]assay.Status, trials []string) {
	b.t.Helper()
	all, err := b.store.Runs(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	runs = map[string]assay.Status{}
	for _, run := range all {
		if _, twice := runs[run.Plan]; twice {
			b.t.Errorf("there are two runs of %s", run.Plan)
		}
		runs[run.Plan] = run.Status
		for trial, err := range b.store.Trials(b.t.Context(), run.ID) {
			if err != nil {
				b.t.Fatal(err)
			}
			trials = append(trials, fmt.Sprint(run.Plan, " launch ", trial.Launch, " of ", trial.Cell.Key(), " ", trial.Twin))
		}
	}
	slices.Sort(trials)
	return runs, trials
}

// A tuning that is stopped in the middle of a launch of each of its stages, and resumed
// each time, ends as one that was not stopped: everything that was measured is there
// once, and the answer can be printed again.
func TestResumedInEachStage(t *testing.T) {
	if testing.Short() {
		t.Skip("it tunes")
	}
	b := newBench(t)
	var before []string
	for _, stop := range []struct {
		trials int     // the stage has by then: in the first launch, or in a later one
		stages []Stage // more than one where the first is not always needed
	}{{1, []Stage{Indexes}}, {8, []Stage{Indexes}}, {1, []Stage{"search-1"}}, {9, []Stage{"search-1"}},
		{1, []Stage{Confirmation}}, {16, []Stage{Confirmation}}, {1, []Stage{"four-times-data"}}, {4, []Stage{"quarter-data"}}} {
		_, tuning, err := b.run(stop.trials, stop.stages...)
		if err == nil {
			t.Fatalf("the tuning ended without %d trials of %v", stop.trials, stop.stages)
		}
		if !tuning.Begun() {
			t.Errorf("%v: got %v and nothing begun", stop.stages, err)
		}
		runs, now := b.kept()
		if !slices.ContainsFunc(stop.stages, func(s Stage) bool { return runs["app."+string(s)] == assay.Interrupted }) {
			t.Errorf("stopped in %v: the runs are %v, want one interrupted", stop.stages, runs)
		}
		checkKept(t, fmt.Sprint(stop.stages), before, now)
		before = now
		b.request.Resume = true
	}
	report, _, err := b.run(0)
	must(t, err)
	if o := report.Outcome; o.Chosen == nil || report.Profile.Settings["temp_store"] != "2" || report.Profile.Settings["journal_size_limit"] != "67108864" {
		t.Errorf("got the proposal %v, want the two settings that help", report.Profile.Settings)
	}
	runs, after := b.kept()
	checkKept(t, "the end", before, after)
	for plan, status := range runs {
		if status != assay.Finished {
			t.Errorf("%s is %s at the end", plan, status)
		}
	}
	again, _, err := b.run(0)
	must(t, err)
	if got, want := printed(t, again), printed(t, report); got != want {
		t.Errorf("the same again: got %s\nwant %s", got, want)
	}
	if _, last := b.kept(); !slices.Equal(last, after) {
		t.Errorf("printing the answer again measured something: %d trials, then %d", len(after), len(last))
	}
}

// A tuning within other constraints is another one, also where its first stage is alike:
// each is resumed by its own flags.
func TestResumedWithinItsConstraints(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	b := newBench(t)
	begun := map[Bytes]string{}
	for _, resume := range []bool{false, true} {
		for _, memory := range []Bytes{256 << 20, 128 << 20} {
			b.request.Memory, b.request.Resume = memory, resume
			_, tuning, err := b.run(1, Indexes)
			if err == nil || !tuning.Begun() {
				t.Fatalf("--memory %s: got %v, want an interruption after the first trial", memory, err)
			}
			if got := tuning.runs[0].ID; resume && got != begun[memory] {
				t.Errorf("--memory %s: resumed %s, want %s", memory, got, begun[memory])
			} else if !resume {
				begun[memory] = got
			}
		}
	}
}

// checkKept demands that nothing measured is lost, and that nothing is there twice.
func checkKept(t *testing.T, when string, before, now []string) {
	t.Helper()
	for i, name := range now {
		if i > 0 && now[i-1] == name {
			t.Errorf("%s: measured twice: %s", when, name)
		}
	}
	for _, name := range before {
		if _, found := slices.BinarySearch(now, name); !found {
			t.Errorf("%s: lost: %s", when, name)
		}
	}
}

func printed(t *testing.T, r *Report) string {
	t.Helper()
	f, err := Formats().Named("json")
	must(t, err)
	var out bytes.Buffer
	must(t, f.Write(&out, r))
	return out.String()
}
