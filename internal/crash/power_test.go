//go:build linux

package crash

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay"
	"assay/kit/kv"
	"assay/kit/kvdb"
)

// asDisk makes this test program the process of a disk. Under the
// name of a store it is a worker, honest unless its name is that of a fault.
const asDisk = "CRASH_TEST_DISK"

func TestMain(m *testing.M) {
	name := filepath.Base(os.Args[0])
	switch {
	case strings.HasPrefix(name, "store-"):
		os.Exit(kvdb.Main(kvdb.Driver{Name: name, Version: "1", Settings: []string{kv.Sync},
			Open: func(c kvdb.Config) (kvdb.Store, error) { return openLog(name, c) }}))
	case os.Getenv(asDisk) != "":
		if err := Serve(context.Background(), os.Args[len(os.Args)-1], os.Stdin, os.Stdout); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
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

// do does one task with a fresh disk.
func do(t *testing.T, task Task) Result {
	t.Helper()
	if why := Missing(task.Fault); why != "" {
		t.Skip(why)
	}
	if testing.Short() {
		t.Skip("cuts the power of a disk again and again")
	}
	t.Setenv(asDisk, "1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var result Result
	task.Findings = t.TempDir()
	err = Run(t.Context(), Config{Tasks: []Task{task}, Lanes: 1, Dir: t.TempDir(), Self: []string{self}, Done: func(r Result) { result = r }})
	if err != nil {
		t.Fatal(err)
	}
	if result.Outcome != assay.OK {
		t.Fatalf("%s: %s", result.Outcome, result.Reason)
	}
	return result
}

// A store that syncs keeps its promise, one that says so and does not is
// refuted, and the finding is kept.
func TestPowerCut(t *testing.T) {
	honest := do(t, Task{Driver: "store-honest", Program: storeProgram(t, "store-honest"), Fault: assay.PowerCut, Seed: 1, States: 40, Controls: true,
		Settings: map[string]string{kv.Sync: "1"}})
	if honest.Claimed != assay.Power || honest.Counts[Unharmed] != honest.States || honest.States != 40 {
		t.Errorf("an honest store: claims %s, %d states, %v; %+v", honest.Claimed, honest.States, honest.Counts, honest.Worst)
	}
	if honest.Void() || len(honest.Controls) != 3 {
		t.Errorf("controls %+v, want three that were caught", honest.Controls)
	}
	lies := do(t, Task{Driver: "store-lies", Program: storeProgram(t, "store-lies"), Fault: assay.PowerCut, Seed: 1, States: 40,
		Settings: map[string]string{kv.Sync: "1"}})
	if lies.Refuted() != Lost || lies.Proof().Kind != assay.LosesCommits || lies.Worst == nil {
		t.Fatalf("a store that does not sync: %v, refuted %q", lies.Counts, lies.Refuted())
	}
	if _, err := Find(lies.Worst.Task.Findings, lies.Worst.ID); err != nil {
		t.Error(err)
	}
}

// What the store's own check finds refutes every promise, though all keys can be
// read.
func TestOwnCheck(t *testing.T) {
	r := do(t, Task{Driver: "store-damaged", Program: storeProgram(t, "store-damaged"), Fault: assay.Kill, Seed: 2, States: 2, Settings: map[string]string{kv.Sync: "1"}})
	if r.Counts[Corrupt] == 0 || r.Refuted() != Corrupt || !strings.Contains(r.Worst.Words, "this store is damaged") {
		t.Errorf("got %v, refuted %q, %+v; want what the store's check says", r.Counts, r.Refuted(), r.Worst)
	}
}

// A killed process, a full disk and failing I/O lose nothing that was
// acknowledged.
func TestOtherFaults(t *testing.T) {
	for _, fault := range []assay.Fault{assay.Kill, assay.FullDisk, assay.FailingIO} {
		t.Run(string(fault), func(t *testing.T) {
			r := do(t, Task{Driver: "store-honest", Program: storeProgram(t, "store-honest"), Fault: fault, Seed: 1, States: 5, Settings: map[string]string{kv.Sync: "1"}})
			if r.Counts[Unharmed] != 5 {
				t.Errorf("%v, want 5 unharmed; %+v", r.Counts, r.Worst)
			}
		})
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

// When the process of a disk is killed with -9 in the middle of its work, nothing
// stays mounted, attached or running.
func TestKilledDiskLeavesNothing(t *testing.T) {
	if why := Missing(assay.PowerCut); why != "" {
		t.Skip(why)
	}
	if testing.Short() {
		t.Skip("waits for a disk to be under way")
	}
	t.Setenv(asDisk, "1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := storeProgram(t, "store-honest")
	for _, after := range []time.Duration{1500 * time.Millisecond, 2200 * time.Millisecond, 2900 * time.Millisecond, 4 * time.Second} {
		dir := t.TempDir()
		p, err := Config{Dir: dir, Self: []string{self}}.start(0)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), after)
		_, _ = p.ask(ctx, ctx, Task{Driver: "store-honest", Program: program, Fault: assay.PowerCut, Seed: 1, States: 100000, Findings: dir}) // it is cut short
		stop()
		if err := syscall.Kill(p.command.Process.Pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		gone(t, dir, program)
		p.end()
	}
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
