package lab

import (
	"context"
	"database/sql"
	"errors"
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
	"assay/internal/plan"
	"assay/internal/runner"
	"assay/internal/store"
	"assay/internal/sys/guard"
	"assay/kit"
	"assay/kit/sqldb"

	_ "modernc.org/sqlite"
)

// workerVariable, in the environment, makes this program a worker of that name.
const workerVariable = "LAB_TEST_WORKER"

// runVariable makes it one that starts or resumes the run in a folder.
const runVariable = "LAB_TEST_RUN"

func TestMain(m *testing.M) {
	name := os.Getenv(workerVariable)
	if dir := os.Getenv(runVariable); name == "" && dir != "" {
		if err := runIn(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if name == "" {
		os.Exit(m.Run())
	}
	driver := sqldb.Driver{Name: name, SQLName: "sqlite",
		Key:  func(name, value string) string { return "_pragma=" + name + "(" + value + ")" },
		Busy: func(err error) bool { return strings.Contains(err.Error(), "(SQLITE_BUSY)") }}
	if err := kit.Serve(sqldb.New(driver), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const small = `name: small
launches: 2
budget: 4s
precision: 50%
drivers: [one, two]
workload:
  name: monster
  schema: CREATE TABLE monster (id INTEGER PRIMARY KEY, hp INTEGER NOT NULL);
  data:
    monster: SELECT value, random(1, 99) FROM generate_series(1, 100)
operations:
  insert:
    sql: INSERT INTO monster (id, hp) VALUES (?, ?)
    args: SELECT 100 + :i, random(1, 99)
    rows: 1
    count: 20
`

// watcher does something when it is told.
type watcher struct {
	build func()
	trial func()
	notes []string
	note  func()
}

func (w *watcher) Build(build.Event)            { w.call(w.build) }
func (w *watcher) Trial(assay.Run, assay.Trial) { w.call(w.trial) }
func (w *watcher) Note(text string) {
	w.notes = append(w.notes, text)
	w.call(w.note)
}
func (w *watcher) Data(string, int, int) {}
func (w *watcher) Measure(runner.Event)  {}
func (w *watcher) call(do func()) {
	if do != nil {
		do()
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bench is a lab of its own with two workers, and a store.
func bench(t *testing.T, w *watcher) (*Lab, *store.Store, Request) {
	t.Helper()
	dir := t.TempDir()
	program, err := os.Executable()
	must(t, err)
	files := fstest.MapFS{"kit/go.mod": {Data: []byte("module assay/kit\n")}}
	for _, name := range []string{"one", "two"} {
		files["workers/"+name+"/worker"] = &fstest.MapFile{Data: []byte("#!/bin/sh\n" + workerVariable + "=" + name + " exec '" + program + "'\n"), Mode: 0o755}
		files["workers/"+name+"/README"] = &fstest.MapFile{Data: []byte("Worker " + name + "\n")}
	}
	must(t, os.CopyFS(filepath.Join(dir, "source"), files))
	s, err := store.Open(t.Context(), filepath.Join(dir, "assay.db"))
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	l, request, err := labIn(dir, w)
	must(t, err)
	return l, s, request
}

func labIn(dir string, w Watcher) (*Lab, Request, error) {
	p, err := plan.Decode("small.yaml", []byte(small))
	l := &Lab{Cache: filepath.Join(dir, "cache"), Source: build.Source{Dir: filepath.Join(dir, "source")}, Watcher: w}
	return l, Request{Plan: p, PlanFile: "/small.yaml"}, err
}

// runIn resumes the run in a folder, or starts it.
func runIn(dir string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(dir, "assay.db"))
	if err != nil {
		return err
	}
	l, request, err := labIn(dir, &watcher{})
	if err != nil {
		return err
	}
	runs, err := s.Runs(ctx)
	if err != nil {
		return err
	}
	if len(runs) > 0 && runs[0].Status == assay.Finished { // it was killed behind its end
		return s.Close()
	}
	request.Resume = len(runs) > 0
	_, err = l.Run(ctx, s, request)
	return errors.Join(err, s.Close())
}

// planted is a fault of assay itself.
func planted() { panic("planted") }

func checkPanic(t *testing.T, err error) {
	t.Helper()
	var p *guard.Panic
	if !errors.As(err, &p) || !strings.Contains(string(p.Stack), "lab.planted") {
		t.Fatalf("got %v, want the planted panic with its stack", err)
	}
}

// A panic in the middle of a run is an error. The run can be resumed: no trial is
// lost and none is there twice.
func TestPanicInARun(t *testing.T) {
	trials := 0
	w := &watcher{trial: func() {
		if trials++; trials == 3 {
			planted()
		}
	}}
	l, s, request := bench(t, w)
	request.Budget = time.Minute // more than three launches, however busy the machine is
	result, err := l.Run(t.Context(), s, request)
	checkPanic(t, err)
	found, err := s.Run(t.Context(), result.ID)
	if err != nil || found.Status != assay.Interrupted {
		t.Fatalf("got a run that is %q, %v; want it interrupted", found.Status, err)
	}
	if left, err := filepath.Glob(filepath.Join(l.Cache, "runs", "run-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	request.Resume, request.Budget = true, result.Took+4*time.Second
	told := trials
	resumed, err := l.Run(t.Context(), s, request)
	if err != nil || resumed.ID != result.ID {
		t.Fatalf("resumed: got run %q, %v; want %q", resumed.ID, err, result.ID)
	}
	if got, want := result.Took+resumed.Took, resumed.Spent.Total(); got != want {
		t.Errorf("the launches of both parts took %s, and what was spent on the run is %s", got, want)
	}
	complete, stored := map[string]int{}, 0
	for trial, err := range s.Trials(t.Context(), result.ID) {
		must(t, err)
		stored++
		if trial.Outcome != assay.OK {
			t.Errorf("got %s: %s", trial.Outcome, trial.Reason)
		}
		complete[fmt.Sprint(trial.Cell.Driver, trial.Twin)]++
	}
	if got := trials - told; got != stored {
		t.Errorf("the watcher of the resumed run is told of %d trials, want all %d", got, stored)
	}
	if complete["onefalse"] < 1 || complete["onetrue"] < 1 || complete["twofalse"] < 1 {
		t.Errorf("got trials %v, want one or more of each", complete)
	}
}

// A panic in one of several goroutines does not end the program.
func TestPanicInAGoroutine(t *testing.T) {
	l, s, request := bench(t, &watcher{build: planted})
	result, err := l.Run(t.Context(), s, request)
	checkPanic(t, err)
	if result.ID != "" {
		t.Errorf("got run %s, want none: nothing was measured", result.ID)
	}
}

// lockedStore is a file that another program writes to, and the error that writing
// gets meanwhile.
func lockedStore(t *testing.T) (write func(context.Context) error, unlock func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	open := func() *sql.Conn {
		db, err := sql.Open("sqlite", path)
		must(t, err)
		t.Cleanup(func() { _ = db.Close() })
		conn, err := db.Conn(t.Context())
		must(t, err)
		return conn
	}
	other, own := open(), open()
	if _, err := other.ExecContext(t.Context(), "CREATE TABLE t (a); BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	write = func(ctx context.Context) error {
		_, err := own.ExecContext(ctx, "INSERT INTO t VALUES (1)")
		return err
	}
	return write, func() {
		if _, err := other.ExecContext(t.Context(), "COMMIT"); err != nil {
			t.Error(err)
		}
	}
}

// What was measured waits for a store that another program keeps locked, and is
// written once.
func TestStoreThatIsLocked(t *testing.T) {
	write, unlock := lockedStore(t)
	w := &watcher{}
	w.note = func() {
		if len(w.notes) == 2 {
			unlock()
		}
	}
	tries := 0
	r := &run{lab: &Lab{Watcher: w}, store: new(store.Store)}
	err := r.lab.whenUnlocked(t.Context(), func(ctx context.Context) error { tries++; return write(ctx) })
	if err != nil || tries != 3 {
		t.Errorf("got %v after %d tries, want success at the third", err, tries)
	}
	if want := "another program keeps the store locked: waiting for it"; len(w.notes) != 2 || !strings.Contains(w.notes[0], want) {
		t.Errorf("got notes %q, want two that say %s", w.notes, want)
	}
}

// Who does not want to wait interrupts the run.
func TestStoreThatStaysLocked(t *testing.T) {
	write, _ := lockedStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	r := &run{lab: &Lab{Watcher: &watcher{note: cancel}}, store: new(store.Store)}
	if err := r.lab.whenUnlocked(ctx, write); !store.IsLocked(err) {
		t.Errorf("got %v, want that the store is locked", err)
	}
}

// The reference that is asked for is the run's, also after it was interrupted, and
// the plan's profile of it does not count.
func TestReferenceThatIsAskedFor(t *testing.T) {
	trials := 0
	l, s, request := bench(t, &watcher{trial: func() {
		if trials++; trials == 3 {
			planted()
		}
	}})
	request.Baseline = assay.ParseBaseline("two")
	result, err := l.Run(t.Context(), s, request)
	checkPanic(t, err)
	request.Baseline, request.Resume = assay.Baseline{}, true
	if result, err = l.Run(t.Context(), s, request); err != nil {
		t.Fatal(err)
	}
	found, err := s.Run(t.Context(), result.ID)
	if err != nil || found.Baseline.Driver.Name != "two" || found.Baseline.Driver.Version == "" {
		t.Errorf("got the reference %q, %v; want two", found.Baseline, err)
	}
	for trial, err := range s.Trials(t.Context(), result.ID) {
		if err != nil || trial.Twin && trial.Cell.Driver != "two" {
			t.Errorf("got an A/A test of %s, %v; want only of two", trial.Cell.Driver, err)
		}
	}
}

// A run measures the cells of some sides alone, where it is asked for these; in turn, where they are
// measured in different launches (TestInTurnLeavesNothingOut of package runner).
func TestRunOfSides(t *testing.T) {
	p, err := plan.Decode("p.yaml", []byte("name: p\ndrivers: [mattn, modernc]\nworkload: {schema: CREATE TABLE t (id)}\noperations: {one: {sql: SELECT 1}, two: {sql: SELECT 2}, write: {sql: INSERT INTO t VALUES (1)}}\n"))
	must(t, err)
	side := func(driver, operation string) map[string][]string {
		return map[string][]string{"driver": {driver}, "operation": {operation}}
	}
	for other, inTurn := range map[string]bool{"two": false, "write": true} {
		r := &run{lab: &Lab{}}
		must(t, r.choose(t.Context(), Request{Plan: p, Sides: []map[string][]string{side("mattn", "one"), side("modernc", other)}}))
		var got []string
		for _, c := range r.chosen.cases {
			got = append(got, c.Cell.Driver+" "+c.Cell.Operation)
		}
		slices.Sort(got)
		if want := []string{"mattn one", "modernc " + other}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := r.request.InTurn(r.chosen.cases); got != inTurn {
			t.Errorf("%s: got in turn %t, want %t", other, got, inTurn)
		}
	}
}
