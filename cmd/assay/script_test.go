//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"assay"
	"assay/internal/runner/host"
	"assay/kit/postgres/cluster"
	"assay/kit/process"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long anything may take that is waited for.
const patience = 10 * time.Minute

// The test program is also assay, which scripts see as a program of its own.
func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "4") // scripts wait for longer than they compute
	testscript.Main(tidied{m}, map[string]func(){"assay": scripted, "digests": digests})
}

// tidied are the tests, which leave no fake workers.
type tidied struct{ *testing.M }

func (t tidied) Run() int {
	defer func() { _ = os.RemoveAll(fakesFolder) }()
	return t.M.Run()
}

var fakesFolder string

// fakes builds the program of the fake workers once, and tells their names.
var fakes = sync.OnceValues(func() (names []string, err error) {
	if fakesFolder, err = os.MkdirTemp("", "fakes-"); err != nil {
		return nil, err
	}
	program := filepath.Join(fakesFolder, "fake-worker")
	if said, err := exec.Command("go", "build", "-o", program, "./internal/fakes").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the fake workers: %w: %s", err, said)
	}
	said, err := exec.Command(program).Output()
	return strings.Fields(string(said)), err
})

// scripted is assay, whose patience with workers and whose clock of a tuning a script
// may set: PATIENCE is a time, CHECK_TIME that of plan check, and TRIAL_TIME what each trial takes
// of a budget. Scripts do not wait for each other.
func scripted() {
	if patience, err := time.ParseDuration(os.Getenv("PATIENCE")); err == nil {
		process.Patience = patience
	}
	if patience, err := time.ParseDuration(os.Getenv("CHECK_TIME")); err == nil {
		checkPatience = patience
	}
	if one, err := time.ParseDuration(os.Getenv("TRIAL_TIME")); err == nil {
		tuneClock = func(trials []assay.Trial) time.Duration { return one * time.Duration(len(trials)) }
	}
	hostLock = filepath.Join(os.Getenv("WORK"), "host.lock")
	main()
}

// TestAlone runs testdata/alone/*.txtar, one after the other and beside nothing else:
// what they assert rests on measured figures.
func TestAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures, and builds drivers")
	}
	testscript.RunT(oneByOne{t}, scripts("testdata/alone"))
}

// TestRuns runs testdata/runs/*.txtar, several at a time: they measure, build drivers or
// start servers, and what they assert holds however fast the machine is.
func TestRuns(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it measures, builds drivers and starts servers")
	}
	testscript.Run(t, scripts("testdata/runs"))
}

// TestScripts runs testdata/*.txtar, several at a time: they do nothing of that.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scripts("testdata"))
}

// oneByOne is a test whose scripts do not run beside each other.
type oneByOne struct{ *testing.T }

func (oneByOne) Parallel()     {}
func (oneByOne) Verbose() bool { return testing.Verbose() }

func (o oneByOne) Run(name string, run func(testscript.T)) {
	o.T.Run(name, func(t *testing.T) { run(oneByOne{t}) })
}

// scripts are those of a folder. Each has folders of its own for results and caches,
// and a folder of workers, one for each of faults.
func scripts(folder string) testscript.Params {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // programs below nohup(1) would be deaf to it
	return testscript.Params{
		Dir:                folder,
		RequireUniqueNames: true,
		Setup:              setup,
		Condition:          condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":   status,
			"sql":      runSQL,
			"outcomes": outcomes,
			"reason":   reason,
			"agree":    agree,
			"runid":    runID,
			"trials":   trials,
			"lines":    lines,
			"start":    start,
			"gate":     waitForGate,
			"signal":   send,
			"finish":   finish,
			"workers":  countWorkers,
			"tidy":     tidy,
			"tmpfs":    tmpfs,
			"postgres": startPostgres,
			"workflow": workflow,
		},
	}
}

// state is what a script has started.
type state struct {
	background *background
	server     *privateServer
}

func stateOf(ts *testscript.TestScript) *state { return ts.Value(state{}).(*state) }

func setup(env *testscript.Env) error {
	env.Values[state{}] = &state{}
	env.Defer(func() { tellFailures(env) })
	for name, folder := range map[string]string{"XDG_DATA_HOME": "data", "XDG_CACHE_HOME": "cache", "ASSAY_SOURCE": "source"} {
		env.Setenv(name, filepath.Join(env.WorkDir, folder))
	}
	cache, err := os.UserCacheDir() // of the go command, which would compile the standard library anew
	if err != nil {
		return err
	}
	env.Setenv("GOCACHE", cmp.Or(os.Getenv("GOCACHE"), filepath.Join(cache, "go-build")))
	if err := useCheckout(env, cache); err != nil {
		return err
	}
	names, err := fakes()
	if err != nil {
		return err
	}
	env.Setenv("PATH", fakesFolder+string(filepath.ListSeparator)+env.Getenv("PATH"))
	source := filepath.Join(env.WorkDir, "source")
	files := fstest.MapFS{"kit/go.mod": {Data: []byte("module assay/kit\n")}}
	for _, name := range names {
		files["workers/"+name+"/worker"] = &fstest.MapFile{Data: []byte("#!/bin/sh\nexec fake-worker " + name + "\n"), Mode: 0o755}
		files["workers/"+name+"/README"] = &fstest.MapFile{Data: []byte("Fake worker " + name + "\n")}
	}
	if err := addCatalog(files, env.Getenv("CHECKOUT")); err != nil {
		return err
	}
	syscall.ForkLock.RLock() // a program that is being written by a child, too, does not start
	err = os.CopyFS(source, files)
	syscall.ForkLock.RUnlock()
	if err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(env.WorkDir, "plans"), os.DirFS("testdata/plans"))
}

// addCatalog adds what is known of the drivers of a checkout, without their workers.
func addCatalog(files fstest.MapFS, checkout string) error {
	var names []string
	for _, pattern := range []string{"driver.yaml", "emit.tmpl", "facts/*.json"} {
		found, err := filepath.Glob(filepath.Join(checkout, "workers", "*", pattern))
		if err != nil {
			return err
		}
		names = append(names, found...)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files[strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(name, checkout)), "/")] = &fstest.MapFile{Data: data}
	}
	return nil
}

// useCheckout names what scripts need that build real drivers: this checkout, the
// user's cache, where they may be built already, and Go's modules.
func useCheckout(env *testscript.Env, cache string) error {
	checkout, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	if err := noteSources(checkout); err != nil {
		return err
	}
	modules, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return err
	}
	env.Setenv("CHECKOUT", checkout)
	env.Setenv("USER_CACHE", cache)
	env.Setenv("GOMODCACHE", strings.TrimSpace(string(modules)))
	return nil
}

// noteSources opens the folders that only assay's own process reads, so that
// the go command knows them as inputs of this test: it would show a result of
// before a change of a worker as "(cached)".
func noteSources(checkout string) error {
	for _, folder := range []string{"cmd/assay/internal/fakes", "kit", "plans", "published", "workers"} {
		err := filepath.WalkDir(filepath.Join(checkout, folder), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			return err
		}
	}
	return nil
}

func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Getuid() == 0, nil
	case "disk":
		_, why := host.Persistence(os.TempDir())
		return why == "", nil
	case "server":
		_, err := cluster.Find(context.Background())
		return err == nil, nil
	case "proc":
		_, err := os.Stat("/proc/self/environ")
		return err == nil, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

func want(ts *testscript.TestScript, ok bool, synopsis string) {
	if !ok {
		ts.Fatalf("usage: %s", synopsis)
	}
}

// status N PROGRAM ARGS... runs a program that must exit with status N.
func status(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) >= 2 && !neg, "status N PROGRAM ARGS...")
	err := ts.Exec(args[1], args[2:]...)
	if got := exitStatus(err); got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// sql FILE TEXT runs SQL on a file.
func runSQL(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 2 && !neg, "sql FILE TEXT")
	ts.Check(execute(ts.MkAbs(args[0]), args[1]))
}

// execute runs SQL on a file.
func execute(path, text string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	_, err = db.Exec(text)
	return errors.Join(err, db.Close())
}

// exitStatus is the status of an ended program, or the signal that ended it.
func exitStatus(err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "0"
	case errors.As(err, &exit) && exit.Exited():
		return strconv.Itoa(exit.ExitCode())
	}
	return err.Error()
}

// output is what assay prints. Unlike that of ts.Exec it is not copied into the
// test's log.
func output(ts *testscript.TestScript, args ...string) []byte {
	command := command(ts, args...)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		ts.Fatalf("assay %s: %v\n%s", strings.Join(args, " "), err, complaints.String())
	}
	return out
}

// command is assay with the script's folder and variables.
func command(ts *testscript.TestScript, args ...string) *exec.Cmd {
	program, err := exec.LookPath("assay")
	ts.Check(err)
	command := exec.Command(program, args...)
	command.Dir = ts.MkAbs(".")
	for _, name := range passed {
		command.Env = append(command.Env, name+"="+ts.Getenv(name))
	}
	return command
}

// passed are the variables that the program gets.
var passed = []string{"PATH", "HOME", "TMPDIR", "WORK", "XDG_DATA_HOME", "XDG_CACHE_HOME", "ASSAY_SOURCE", "ASSAY_STORE", "PGPASSWORD", "GATE", "GATE_AT", "GATE_UNTIL", "PATIENCE", "TRIAL_TIME"}
