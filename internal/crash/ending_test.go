//go:build linux

package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay"
	"assay/internal/crash/powercut"
	"assay/internal/sys/guard"
	"assay/kit/kv"
	"assay/kit/kvdb"
)

// Each of these makes this test program another one. Under the name of a store it
// is a worker, honest unless its name is that of a fault.
const (
	asDisk   = "CRASH_TEST_DISK"   // the process of a disk
	asHung   = "CRASH_TEST_HUNG"   // that of a disk that never answers
	asFaulty = "CRASH_TEST_FAULTY" // one with a fault of assay itself, in the part that it names
	asUser   = "CRASH_TEST_USER"   // one that an ordinary user started
	asAssay  = "CRASH_TEST_ASSAY"  // one that does a task, with disks of the kind that it names
	asFiles  = "CRASH_TEST_FILES"  // one that serves a file system of files until it is killed

	faultOfAssay = "CRASH_TEST_FAULT" // what asAssay does to a server; empty: it cuts the power of a store
)

func TestMain(m *testing.M) {
	name, last := filepath.Base(os.Args[0]), os.Args[len(os.Args)-1]
	ctx := context.Background()
	var err error
	switch {
	case len(os.Args) == 5 && os.Args[1] == HostCommand:
		err = Host(ctx, os.Args[2], os.Args[3], os.Args[4], os.Stdin, os.Stdout)
	case strings.HasPrefix(name, "store-"):
		os.Exit(kvdb.Main(kvdb.Driver{Name: name, Version: "1", Settings: []string{kv.Sync},
			Open: func(c kvdb.Config) (kvdb.Store, error) { return openLog(name, c) }}))
	case strings.HasPrefix(name, "sqlite-"):
		err = serveSQLite(name)
	case os.Getenv(asAssay) != "":
		err = runAssay(os.Getenv(asAssay), os.Args[1], last)
	case os.Getenv(asFiles) != "":
		if _, err = powercut.ServeFiles(last); err == nil {
			select {}
		}
	case os.Getenv(asUser) != "":
		err = runUser(os.Args[1], last)
	case os.Getenv(asHung) != "":
		err = serveHung(ctx, last)
	case os.Getenv(asFaulty) != "":
		err = serveFaulty(os.Getenv(asFaulty), last)
	case os.Getenv(asDisk) != "":
		err = Serve(ctx, last, os.Stdin, os.Stdout)
	default:
		status := m.Run()
		if os.RemoveAll(builtFolder) != nil {
			status = 1
		}
		os.Exit(status)
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
}

// runUser does a few tasks, of a server all faults, and prints their results.
func runUser(dir, program string) error {
	if err := errors.Join(os.Unsetenv(asUser), os.Setenv(asDisk, "1")); err != nil {
		return err
	}
	task := Task{Driver: "store-honest", Program: program, Seed: 1, States: 5, Findings: dir, Settings: map[string]string{kv.Sync: "1"}}
	faults := []assay.Fault{assay.PowerCut, assay.FileCut, assay.FullDisk}
	if filepath.Base(program) == serverDriver {
		task.Driver, task.States, faults = serverDriver, 1, Faults()
	}
	var tasks []Task
	for _, fault := range faults {
		task.Fault, task.FileSystem = fault, available(fault)
		tasks = append(tasks, task)
	}
	var results []Result
	err := Run(context.Background(), Config{Tasks: tasks, Lanes: 1, Dir: dir, Self: []string{os.Args[0]}, Done: func(r Result) error { results = append(results, r); return nil }})
	return errors.Join(err, json.NewEncoder(os.Stdout).Encode(results))
}

// mounts are the lines of the system's mounts and loop devices that name a
// folder.
func mounts(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	must(t, err)
	loops, _ := exec.Command("losetup", "-l", "-n", "-O", "BACK-FILE").Output() // where it is not installed there are none
	var found []string
	for line := range strings.Lines(string(text) + string(loops)) {
		if strings.Contains(line, dir) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}

// However assay or the process of a disk ends in the middle of its work, nothing
// stays mounted, attached or running.
func TestNothingIsLeft(t *testing.T) {
	if why := Missing(assay.PowerCut, assay.Ext4); why != "" {
		t.Skip(why)
	}
	if testing.Short() {
		t.Skip("waits for a disk to be under way")
	}
	self, err := os.Executable()
	must(t, err)
	for name, c := range map[string]struct {
		mode  string // of the disk's process
		busy  string // command line of a process that runs in the middle of the work
		ended func(assay *exec.Cmd, dir string) error
	}{
		"the disk is killed": {asDisk, "^PROGRAM$", func(_ *exec.Cmd, dir string) error { return killDisk(dir) }},
		"assay is killed":    {asDisk, "^PROGRAM$", func(assay *exec.Cmd, _ string) error { return assay.Process.Kill() }},
		"assay is interrupted": {asDisk, "^PROGRAM$", func(assay *exec.Cmd, _ string) error {
			return assay.Process.Signal(os.Interrupt)
		}},
		"the mount hangs": {asHung, "^mount -t ext4 .*DIR", func(assay *exec.Cmd, _ string) error { return assay.Process.Signal(os.Interrupt) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, program := t.TempDir(), storeProgram(t, "store-honest")
			command := exec.Command(self, dir, program)
			command.Env = append(os.Environ(), asAssay+"="+c.mode)
			must(t, command.Start())
			waitFor(t, strings.NewReplacer("PROGRAM", program, "DIR", dir).Replace(c.busy))
			must(t, c.ended(command, dir))
			_ = command.Wait() // it was ended
			gone(t, dir, program)
		})
	}
}

// However assay ends while a server runs, on a disk or in a folder, no process of the
// server is left, and nothing is mounted.
func TestNoServerIsLeft(t *testing.T) {
	program := serverProgram(t)
	if why := Missing(assay.PowerCut, assay.Ext4); why != "" {
		t.Skip(why)
	}
	for name, c := range map[string]struct { // without commas: those of a server's folder for its socket separate folders
		fault assay.Fault
		ended os.Signal
	}{
		"interrupted in a folder": {assay.Kill, os.Interrupt},
		"interrupted on a disk":   {assay.FullDisk, os.Interrupt},
		"killed on a disk":        {assay.FailingIO, os.Kill},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			command := exec.Command(os.Args[0], dir, program)
			command.Env, command.Stderr = append(os.Environ(), asAssay+"="+asDisk, faultOfAssay+"="+string(c.fault)), os.Stderr
			must(t, command.Start())
			waitFor(t, "postgres .*-D "+dir+"/.*"+dataName)
			must(t, command.Process.Signal(c.ended))
			_ = command.Wait() // it was ended
			gone(t, dir, dir)
		})
	}
}

// A file system of files that a killed process left mounted, as it does where users
// have no mount namespace, is taken down at the next start.
func TestSweepOfAMount(t *testing.T) {
	if _, err := exec.LookPath("fusermount3"); err != nil || missingFUSE() != "" {
		t.Skip("no fusermount3, or no FUSE: ", missingFUSE())
	}
	self, err := os.Executable()
	must(t, err)
	dir := t.TempDir()
	folder := filepath.Join(dir, lanePrefix+"999999999-0", filesName) // of a process that is gone
	must(t, os.MkdirAll(folder, 0o700))
	server := exec.Command(self, folder)
	server.Env = append(os.Environ(), asFiles+"=1")
	must(t, server.Start())
	for deadline := time.Now().Add(5 * time.Minute); mounts(t, dir) == "" && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	_ = server.Process.Kill() // and with it whoever answers for the files
	_ = server.Wait()
	if mounts(t, dir) == "" {
		t.Fatal("nothing was left mounted")
	}
	must(t, sweep(dir))
	if left := mounts(t, dir); left != "" {
		t.Errorf("left mounted: %s", left)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// waitFor waits for a process with a command line of a pattern.
func waitFor(t *testing.T, pattern string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if exec.Command("pgrep", "-f", pattern).Run() == nil {
			return
		}
	}
	t.Fatalf("5 min later there is no process with %s", pattern)
}

// killDisk kills the process that serves the disk in a folder.
func killDisk(dir string) error {
	// The oldest: a child that has not become another program yet has the same command line.
	out, err := exec.Command("pgrep", "-o", "-f", dir+"/"+lanePrefix+"[0-9]+-[0-9]+$").Output()
	if err != nil {
		return fmt.Errorf("find the process of the disk: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		return err
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// runAssay does a task that lasts, until it is interrupted.
func runAssay(mode, dir, program string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := errors.Join(os.Unsetenv(asAssay), os.Setenv(mode, "1")); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	task := Task{Driver: "store-honest", Program: program, Fault: assay.PowerCut, Seed: 1, States: 100000, Findings: dir}
	if fault := os.Getenv(faultOfAssay); fault != "" { // to a server, whose client waits once it has begun
		task.Driver, task.Fault, task.Once = serverDriver, assay.Fault(fault), []string{"SELECT pg_sleep(3600)"}
	}
	return Run(ctx, Config{Tasks: []Task{task}, Lanes: 1, Dir: dir, Self: []string{self}, Done: func(r Result) error {
		if r.Outcome == assay.OK {
			return nil
		}
		return errors.New(r.Reason)
	}})
}

// serveHung mounts a disk that never answers.
func serveHung(ctx context.Context, dir string) error {
	l, err := newLane(ctx, dir, true)
	if err != nil {
		return err
	}
	if err := l.format(ctx); err != nil {
		return err
	}
	l.disk.Insert(l.base, false)
	l.disk.Fail(func(powercut.OpKind) bool { select {} })
	return l.mountDisk(ctx)
}

// planted is a fault of assay itself.
func planted() { panic("planted") }

// faultyContext is a context in which a task comes to a fault while the disk is
// mounted and the worker runs.
type faultyContext struct {
	context.Context
	left *int
}

func (c faultyContext) Deadline() (time.Time, bool) {
	if *c.left--; *c.left < 0 {
		planted()
	}
	return c.Context.Deadline()
}

// serveFaulty serves a disk until there is a fault in a part of it.
func serveFaulty(part, dir string) error {
	left := 8 // mkfs, mount and a few requests to the worker
	if part == "task" {
		return Serve(faultyContext{context.Background(), &left}, dir, os.Stdin, os.Stdout)
	}
	l, err := newLane(context.Background(), dir, true)
	if err != nil {
		return err
	}
	if err := l.format(context.Background()); err != nil {
		return err
	}
	l.disk.Insert(l.base, false)
	l.disk.Fail(func(powercut.OpKind) bool { planted(); return false }) // in a goroutine of the FUSE server
	return l.mountDisk(context.Background())
}

// faultyRun does tasks whose results are handed to done, in processes of which
// one part has a fault.
func faultyRun(t *testing.T, part string, done func(Result) error) error {
	if why := Missing(assay.PowerCut, assay.Ext4); why != "" {
		t.Skip(why)
	}
	if testing.Short() {
		t.Skip("mounts disks")
	}
	t.Setenv(asDisk, "1")
	t.Setenv(asFaulty, part)
	self, err := os.Executable()
	must(t, err)
	dir, program := t.TempDir(), storeProgram(t, "store-honest")
	task := Task{Driver: "store-honest", Program: program, Fault: assay.PowerCut, Seed: 1, States: 3, Findings: t.TempDir(), Settings: map[string]string{kv.Sync: "1"}}
	err = guard.Error(func() error {
		return Run(t.Context(), Config{Tasks: []Task{task, task}, Lanes: 1, Dir: dir, Self: []string{self}, Done: done})
	})
	gone(t, dir, program)
	return err
}

// Of a task that is interrupted, the states that were tried are kept.
func TestInterruptedTask(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes")
	}
	t.Setenv(asDisk, "1")
	self, err := os.Executable()
	must(t, err)
	dir, program := t.TempDir(), storeProgram(t, "store-honest")
	task := Task{Driver: "store-honest", Program: program, Fault: assay.Kill, Seed: 1, States: 100000, Findings: t.TempDir(), Settings: map[string]string{kv.Sync: "1"}}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var results []Result
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{Tasks: []Task{task, task}, Lanes: 1, Dir: dir, Self: []string{self}, Done: func(r Result) error { results = append(results, r); return nil }})
	}()
	waitFor(t, program) // the lane is there, and does the task
	interrupt()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was interrupted", err)
	}
	if len(results) != 1 || results[0].Outcome != assay.OK || results[0].States < 1 || results[0].States >= task.States {
		t.Errorf("got %+v, want one result with some states", results)
	}
	gone(t, dir, program)
}

// A fault of assay in the process of a disk fails the task, with its stack, and
// the next task gets a new process. Nothing is left.
func TestPanicOfADisk(t *testing.T) {
	for _, part := range []string{"task", "disk"} {
		t.Run(part, func(t *testing.T) {
			var results []Result
			must(t, faultyRun(t, part, func(r Result) error { results = append(results, r); return nil }))
			if len(results) != 2 {
				t.Fatalf("got %d results, want 2", len(results))
			}
			for _, r := range results {
				if r.Outcome != assay.Failed || !strings.Contains(r.Reason, "planted") || !strings.Contains(r.Stack, "crash.planted") || !strings.Contains(r.Line(), "crash.planted") {
					t.Errorf("got %s, want that it failed, with the planted panic first and its stack below", r.Line())
				}
				if plain := r.Plain(); !strings.Contains(plain, "planted") || strings.Contains(plain, "\n") {
					t.Errorf("in the report: %q, want the panic without its stack", plain)
				}
			}
		})
	}
}

// A fault in a goroutine that hands tasks out is a panic of Run, an error of Done
// is one of Run: both end the other tasks, and nothing is left.
func TestPanicOfALane(t *testing.T) {
	for name, c := range map[string]struct {
		done func(Result) error
		want string
	}{
		"panic": {func(Result) error { planted(); return nil }, "internal error: planted"},
		"error": {func(Result) error { return errors.New("no store") }, "no store"},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			err := faultyRun(t, "", func(r Result) error { calls++; return c.done(r) })
			if err == nil || err.Error() != c.want || calls != 1 {
				t.Errorf("got %v after %d results, want %s after 1", err, calls, c.want)
			}
			if fault := (*guard.Panic)(nil); name == "panic" && (!errors.As(err, &fault) || !strings.Contains(string(fault.Stack), "crash.planted")) {
				t.Errorf("got %v, want the stack of the planted panic", err)
			}
		})
	}
}

// within are the processes that see something mounted in a folder. A server's own
// processes have no path in their command lines.
func within(dir string) string {
	found := ""
	files, _ := filepath.Glob("/proc/[0-9]*/mountinfo") // the pattern is right
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), dir) {
			name, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "comm")) // it may have just ended
			found += file + ": " + string(name)
		}
	}
	return found
}

// gone waits until nothing is mounted or attached in a folder, for no process, and no
// program runs that names it.
func gone(t *testing.T, dir, program string) {
	t.Helper()
	var left string
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		left = mounts(t, dir) + within(dir)
		for _, name := range []string{dir, program} {
			running, _ := exec.Command("pgrep", "-f", "-a", name).Output() // none is an error
			left += string(running)
		}
		if left == "" {
			return
		}
	}
	t.Errorf("2 min later there are: %s", left)
}
