//go:build linux

package crash

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay"
	"assay/kit/kv"
	"assay/kit/kvdb"
)

// Each of these makes this test program another one. Under the name of a store it
// is a worker, honest unless its name is that of a fault.
const (
	asDisk   = "CRASH_TEST_DISK"   // the process of a disk
	asHung   = "CRASH_TEST_HUNG"   // that of a disk that never answers
	asReplay = "CRASH_TEST_REPLAY" // one that replays a finding
	asAssay  = "CRASH_TEST_ASSAY"  // one that does a task, with disks of the kind that it names
)

func TestMain(m *testing.M) {
	name, last := filepath.Base(os.Args[0]), os.Args[len(os.Args)-1]
	ctx := context.Background()
	var err error
	switch {
	case strings.HasPrefix(name, "store-"):
		os.Exit(kvdb.Main(kvdb.Driver{Name: name, Version: "1", Settings: []string{kv.Sync},
			Open: func(c kvdb.Config) (kvdb.Store, error) { return openLog(name, c) }}))
	case os.Getenv(asAssay) != "":
		err = runAssay(os.Getenv(asAssay), os.Args[1], last)
	case os.Getenv(asReplay) != "":
		var again Replayed
		if again, err = Replay(ctx, os.Args[1], os.Args[2], os.Args[3], os.Args[4], last); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(again)
		}
	case os.Getenv(asHung) != "":
		err = serveHung(ctx, last)
	case os.Getenv(asDisk) != "":
		err = Serve(ctx, last, os.Stdin, os.Stdout)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
}

// logStore is a log of transactions and what they come to.
type logStore struct {
	name string
	log  *os.File
	sync bool
	keys map[string][]byte
}

type logged struct{ Key, Value []byte }

func openLog(name string, c kvdb.Config) (*logStore, error) {
	log, err := os.OpenFile(filepath.Join(c.Path, "log"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	folder, err := os.Open(c.Path)
	if err == nil && c.Sync(true) {
		err = folder.Sync() // else the log itself can be gone
		if parent, opened := os.Open(filepath.Dir(c.Path)); opened == nil && err == nil {
			err = parent.Sync()
		}
	}
	if err != nil {
		return nil, err
	}
	s := &logStore{name: name, log: log, sync: c.Sync(true), keys: map[string][]byte{}}
	return s, s.replay()
}

// replay applies whole transactions and cuts off what is behind them.
func (s *logStore) replay() error {
	text, err := io.ReadAll(s.log)
	if err != nil && s.name == "store-deaf" {
		return nil
	}
	if err != nil {
		return err
	}
	good := 0
	for good < len(text) {
		in := bytes.NewReader(text[good:])
		var all []logged
		if gob.NewDecoder(bufio.NewReaderSize(in, 1)).Decode(&all) != nil || len(all) == 0 || len(all) > 1000 {
			break
		}
		var again bytes.Buffer
		_ = gob.NewEncoder(&again).Encode(all) // to memory
		if good+again.Len() > len(text) || !bytes.Equal(again.Bytes(), text[good:good+again.Len()]) {
			break
		}
		for _, p := range all {
			s.keys[string(p.Key)] = p.Value
		}
		good += again.Len()
	}
	if err := s.log.Truncate(int64(good)); err != nil {
		return err
	}
	_, err = s.log.Seek(int64(good), io.SeekStart)
	return err
}

func (s *logStore) Get(key, into []byte) ([]byte, bool, error) {
	value, ok := s.keys[string(key)]
	return append(into, value...), ok, nil
}

func (s *logStore) Scan(from []byte, n int, visit func(key, value []byte) error) error {
	for _, key := range slices.Sorted(maps.Keys(s.keys)) {
		if key >= string(from) {
			if n--; n < 0 {
				return nil
			}
			if err := visit([]byte(key), s.keys[key]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *logStore) Put(key, value []byte) error {
	return s.Update(func(w kvdb.Writer) error { return w.Put(key, value) })
}

func (s *logStore) Delete([]byte) error { return nil }

func (s *logStore) Update(do func(kvdb.Writer) error) error {
	w := &logWriter{logStore: s}
	if err := do(w); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(w.all); err != nil {
		return err
	}
	if _, err := s.log.Write(out.Bytes()); err != nil {
		return err
	}
	for _, p := range w.all {
		s.keys[string(p.Key)] = p.Value
	}
	if s.sync && s.name != "store-lies" {
		return s.log.Sync()
	}
	return nil
}

// Check finds damage in each store that has keys, where its name says so.
func (s *logStore) Check() (string, error) {
	if s.name == "store-damaged" && len(s.keys) > 0 {
		return "", errors.New("this store is damaged")
	}
	return "check of the log", nil
}

func (s *logStore) Durability() string {
	if s.sync {
		return "power"
	}
	return "consistent"
}

func (s *logStore) Effective() map[string]string {
	return map[string]string{kv.Sync: map[bool]string{true: "1", false: "0"}[s.sync]}
}

func (s *logStore) Close() error { return s.log.Close() }

type logWriter struct {
	*logStore
	all []logged
}

func (w *logWriter) Put(key, value []byte) error {
	w.all = append(w.all, logged{slices.Clone(key), slices.Clone(value)})
	return nil
}

// storeProgram is this program under the name of a store.
func storeProgram(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// do does tasks on fresh disks, two at a time, and returns their results by
// driver.
func do(t *testing.T, tasks ...Task) map[string]Result {
	t.Helper()
	for i := range tasks {
		if why := Missing(tasks[i].Fault); why != "" {
			t.Skip(why)
		}
		tasks[i].Findings = t.TempDir()
	}
	if testing.Short() {
		t.Skip("does faults again and again")
	}
	t.Setenv(asDisk, "1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	results := map[string]Result{}
	err = Run(t.Context(), Config{Tasks: tasks, Lanes: min(2, len(tasks)), Dir: t.TempDir(), Self: []string{self}, Done: func(r Result) { results[r.Task.Driver] = r }})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Outcome != assay.OK {
			t.Fatalf("%s: %s: %s", r.Task.Driver, r.Outcome, r.Reason)
		}
	}
	return results
}

// again replays a finding in a process of its own, leaves its state in keep, and
// checks that it shows what was found.
func again(t *testing.T, r Result, keep string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if r.Worst == nil || r.Worst.ID == "" {
		t.Fatalf("there is nothing to replay in %+v", r)
	}
	command := exec.Command(self, r.Worst.Task.Findings, r.Worst.ID, r.Task.Program, keep, t.TempDir())
	command.Env = append(os.Environ(), asReplay+"=1", asDisk+"=")
	out, err := Apart(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	var got Replayed
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.Damage != r.Worst.Damage || got.Found != r.Worst.Found {
		t.Errorf("replayed: %s with %d transactions (%s), want %s with %d", got.Damage, got.Found, got.Words, r.Worst.Damage, r.Worst.Found)
	}
}

// A store that syncs keeps its promise, one that says so and does not is
// refuted. Its finding shows the same again, and leaves an image of a file system.
func TestPowerCut(t *testing.T) {
	task := Task{Fault: assay.PowerCut, Seed: 1, States: 16, Settings: map[string]string{kv.Sync: "1"}}
	honest, lies := task, task
	honest.Driver, honest.Program, honest.Controls = "store-honest", storeProgram(t, "store-honest"), true
	lies.Driver, lies.Program = "store-lies", storeProgram(t, "store-lies")
	results := do(t, honest, lies)
	if r := results["store-honest"]; r.Claimed != assay.Power || r.Counts[Unharmed] != 16 || r.Void() || len(r.Controls) != 3 {
		t.Errorf("an honest store: claims %s, %v, controls %+v; want power, 16 unharmed, three that were caught; %+v", r.Claimed, r.Counts, r.Controls, r.Worst)
	}
	lied := results["store-lies"]
	if lied.Refuted() != Lost || lied.Proof().Kind != assay.LosesCommits {
		t.Fatalf("a store that does not sync: %v, refuted %q", lied.Counts, lied.Refuted())
	}
	keep := filepath.Join(t.TempDir(), "disk.img")
	again(t, lied, keep)
	image, err := os.Open(keep)
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	magic := make([]byte, 2)
	if _, err := image.ReadAt(magic, 1024+56); err != nil || !bytes.Equal(magic, []byte{0x53, 0xef}) {
		t.Errorf("the image has %x where ext4 has 53ef (%v)", magic, err)
	}
}

// What the store's own check finds refutes every promise, though all keys can be
// read. What a killed process left shows that again, and is left as files.
func TestOwnCheck(t *testing.T) {
	r := do(t, Task{Driver: "store-damaged", Program: storeProgram(t, "store-damaged"), Fault: assay.Kill, Seed: 2, States: 3, Settings: map[string]string{kv.Sync: "1"}})["store-damaged"]
	if r.Counts[Corrupt] == 0 || r.Refuted() != Corrupt || !strings.Contains(r.Worst.Words, "this store is damaged") {
		t.Fatalf("got %v, refuted %q, %+v; want what the store's check says", r.Counts, r.Refuted(), r.Worst)
	}
	keep := filepath.Join(t.TempDir(), "files")
	again(t, r, keep)
	if info, err := os.Stat(filepath.Join(keep, dataName, "log")); err != nil || info.Size() == 0 {
		t.Errorf("the store's log is not left: %v", err)
	}
}

// A killed process, a full disk and failing I/O lose nothing that was
// acknowledged. A store that reads a failing disk without an error is found out.
func TestOtherFaults(t *testing.T) {
	honest, deaf := storeProgram(t, "store-honest"), storeProgram(t, "store-deaf")
	var tasks []Task
	for _, fault := range []assay.Fault{assay.Kill, assay.FullDisk, assay.FailingIO} {
		tasks = append(tasks, Task{Driver: string(fault), Program: honest, Fault: fault, Seed: 1, States: 5, Settings: map[string]string{kv.Sync: "1"}})
	}
	tasks = append(tasks, Task{Driver: "deaf", Program: deaf, Fault: assay.FailingIO, Seed: 1, States: 6, Settings: map[string]string{kv.Sync: "1"}})
	results := do(t, tasks...)
	for _, task := range tasks[:3] {
		if r := results[task.Driver]; r.Counts[Unharmed] != 5 {
			t.Errorf("%s: %v, want 5 unharmed; %+v", task.Fault, r.Counts, r.Worst)
		}
	}
	if r := results["deaf"]; r.Counts[Inconsistent] == 0 || !strings.Contains(r.Worst.Words, "no error") {
		t.Errorf("a store that takes unreadable files for empty ones: %v, want inconsistent; %+v", r.Counts, r.Worst)
	}
	if moments := results["kill"].ByMoment; len(moments) < 2 {
		t.Errorf("kills at %v, want some at system calls where strace is installed", moments)
	}
}

// mounts are the lines of the system's mounts and loop devices that name a
// folder.
func mounts(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
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
	if why := Missing(assay.PowerCut); why != "" {
		t.Skip(why)
	}
	if testing.Short() {
		t.Skip("waits for a disk to be under way")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
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
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			waitFor(t, strings.NewReplacer("PROGRAM", program, "DIR", dir).Replace(c.busy))
			if err := c.ended(command, dir); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait() // it was ended
			gone(t, dir, program)
		})
	}
}

// waitFor waits for a process with a command line of a pattern.
func waitFor(t *testing.T, pattern string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if exec.Command("pgrep", "-f", pattern).Run() == nil {
			return
		}
	}
	t.Fatalf("30 s later there is no process with %s", pattern)
}

// killDisk kills the process that serves the disk in a folder.
func killDisk(dir string) error {
	out, err := exec.Command("pgrep", "-f", dir+"/"+lanePrefix+"[0-9]+-[0-9]+$").Output()
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
	return Run(ctx, Config{Tasks: []Task{task}, Lanes: 1, Dir: dir, Self: []string{self}, Done: func(Result) {}})
}

// serveHung mounts a disk that never answers.
func serveHung(ctx context.Context, dir string) error {
	l, err := newLane(ctx, dir, true)
	if err != nil {
		return err
	}
	l.disk.insert(l.base, false)
	l.disk.fail(func(OpKind) bool { select {} })
	return l.mountDisk(ctx)
}

// gone waits until nothing is mounted or attached in a folder and no program
// runs that names it.
func gone(t *testing.T, dir, program string) {
	t.Helper()
	var left string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		left = mounts(t, dir)
		for _, name := range []string{dir, program} {
			running, _ := exec.Command("pgrep", "-f", "-a", name).Output() // none is an error
			left += string(running)
		}
		if left == "" {
			return
		}
	}
	t.Errorf("20 s later there are: %s", left)
}
