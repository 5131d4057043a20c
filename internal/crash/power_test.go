//go:build linux

package crash

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay"
	"assay/kit/kv"
)

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
		if why := Missing(tasks[i].Fault, assay.Ext4); why != "" {
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
	err = Run(t.Context(), Config{Tasks: tasks, Lanes: min(2, len(tasks)), Dir: t.TempDir(), Self: []string{self}, Done: func(r Result) error { results[r.Task.Driver] = r; return nil }})
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
	command := exec.Command(self, r.Worst.Task.Findings, r.Worst.ID, r.Task.Program, keep)
	command.Env = append(os.Environ(), asReplay+"=1", asDisk+"=")
	dir := t.TempDir()
	killed := filepath.Join(dir, lanePrefix+"999999999-apart") // of a process that is gone
	if err := os.MkdirAll(killed, 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := Apart(t.Context(), dir, command)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
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
	task := Task{Fault: assay.PowerCut, Seed: 1, States: 10, Settings: map[string]string{kv.Sync: "1"}}
	honest, lies := task, task
	honest.Driver, honest.Program, honest.Controls = "store-honest", storeProgram(t, "store-honest"), true
	lies.Driver, lies.Program = "store-lies", storeProgram(t, "store-lies")
	results := do(t, honest, lies)
	if r := results["store-honest"]; r.Claimed != assay.Power || r.Counts[Unharmed] != 10 || r.Void() || len(r.Controls) != 3 {
		t.Errorf("an honest store: claims %s, %v, controls %+v; want power, 10 unharmed, three that were caught; %+v", r.Claimed, r.Counts, r.Controls, r.Worst)
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

// A store that goes on after errors of the disk is found out, when the disk is full
// and when it fails. Each finding shows the same again, and leaves the disk.
func TestReplayOfOtherFaults(t *testing.T) {
	task := Task{Program: storeProgram(t, "store-swallows"), Seed: 1, States: 3, Settings: map[string]string{kv.Sync: "1"}}
	full, failing := task, task
	full.Driver, full.Fault = "full", assay.FullDisk
	failing.Driver, failing.Fault = "eio", assay.FailingIO
	for fault, r := range do(t, full, failing) {
		if r.Refuted() == Unharmed {
			t.Errorf("%s: %v, want what a store loses that goes on after errors", fault, r.Counts)
			continue
		}
		keep := filepath.Join(t.TempDir(), "disk.img")
		again(t, r, keep)
		if info, err := os.Stat(keep); err != nil || info.Size() != diskBytes {
			t.Errorf("%s: the disk is not left: %v", fault, err)
		}
	}
}

// A worker that has operations of its own runs the workload as SQL with arguments,
// in its library's transactions, and each is whole.
func TestActiveRecord(t *testing.T) {
	if err := exec.Command("ruby", "-e", "require 'active_record'; require 'sqlite3'").Run(); err != nil {
		t.Skip("no Ruby with ActiveRecord: ", err)
	}
	program, err := filepath.Abs(filepath.Join("..", "..", "workers", "activerecord", "worker"))
	if err != nil {
		t.Fatal(err)
	}
	task := Task{Driver: "activerecord", Program: program, Fault: assay.PowerCut, Seed: 1, States: 3, Time: 2 * time.Minute, Settings: map[string]string{"journal_mode": "wal", "synchronous": "full"}}
	r := do(t, task)["activerecord"]
	if r.Claimed != assay.Power || r.Counts[Unharmed] != 3 || r.Acked != transactions {
		t.Errorf("claims %s, %v after %d transactions; want power, 3 unharmed after %d; %+v", r.Claimed, r.Counts, r.Acked, transactions, r.Worst)
	}
}

// Without root the weaker model finds the same of a store that syncs and of one
// that does not, and the latter's finding shows it again.
func TestFileCut(t *testing.T) {
	task := Task{Fault: assay.FileCut, Seed: 1, States: 10, Settings: map[string]string{kv.Sync: "1"}}
	honest, lies := task, task
	honest.Driver, honest.Program, honest.Controls = "store-honest", storeProgram(t, "store-honest"), true
	lies.Driver, lies.Program = "store-lies", storeProgram(t, "store-lies")
	results := do(t, honest, lies)
	if r := results["store-honest"]; r.Claimed != assay.Power || r.Counts[Unharmed] != 10 || r.Void() || len(r.Controls) != 3 {
		t.Errorf("an honest store: claims %s, %v, controls %+v; want power, 10 unharmed, three that were caught; %+v", r.Claimed, r.Counts, r.Controls, r.Worst)
	}
	lied := results["store-lies"]
	if lied.Refuted() != Lost {
		t.Fatalf("a store that does not sync: %v, refuted %q", lied.Counts, lied.Refuted())
	}
	again(t, lied, filepath.Join(t.TempDir(), "files"))
}

// An ordinary user gets the weaker model, and is told what the disk takes.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the other tests ran as one")
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "crash-user-") // a test's own folder is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "store-honest")
	text, err := os.ReadFile(self)
	if err == nil {
		err = errors.Join(os.WriteFile(program, text, 0o755), os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, "work"), 0o700), os.Chown(filepath.Join(dir, "work"), nobody, nobody))
	}
	if err != nil {
		t.Fatal(err)
	}
	assayProgram := filepath.Join(dir, "assay")
	if err := os.Symlink(program, assayProgram); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(assayProgram, filepath.Join(dir, "work"), program)
	command.Env = append(os.Environ(), asUser+"=1", "HOME="+dir, "TMPDIR="+filepath.Join(dir, "work"))
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var results []Result
	if err := json.Unmarshal(out, &results); err != nil || len(results) != 2 {
		t.Fatalf("%v in %s", err, out)
	}
	power, files := results[0], results[1]
	if power.Outcome != assay.Unsupported || !strings.Contains(power.Reason, "root") {
		t.Errorf("the disk: %s: %s, want unsupported for want of root", power.Outcome, power.Reason)
	}
	if files.Outcome == assay.Unsupported && strings.Contains(files.Reason, "fuse") {
		t.Skip(files.Reason)
	}
	if files.Outcome != assay.OK || files.Counts[Unharmed] != 5 {
		t.Errorf("the weaker model: %s: %s, %v, want 5 unharmed", files.Outcome, files.Reason, files.Counts)
	}
	gone(t, filepath.Join(dir, "work"), program+"$")
}

// What is known of SQLite comes out: the newest commit of DELETE with FULL can come
// back undone, EXTRA and a log with FULL lose nothing, a log with NORMAL loses the
// newest commits only, and without syncs, or without a journal on the disk, a
// database is damaged.
func TestKnownAnswers(t *testing.T) {
	if err := exec.Command("python3", "-c", "import sqlite3").Run(); err != nil {
		t.Skip("no Python with SQLite: ", err)
	}
	program, err := filepath.Abs(filepath.Join("..", "..", "workers", "python", "worker"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]struct {
		journal, synchronous string
		states               int
		worst                Damage // Inconsistent: that, or worse
	}{
		"DELETE, FULL":  {"delete", "full", 20, Lost},
		"DELETE, EXTRA": {"delete", "extra", 8, Unharmed},
		"WAL, FULL":     {"wal", "full", 8, Unharmed},
		"WAL, NORMAL":   {"wal", "normal", 15, Lost},
		"DELETE, OFF":   {"delete", "off", 20, Inconsistent},
		"MEMORY, FULL":  {"memory", "full", 30, Inconsistent},
	}
	var tasks []Task
	for name, k := range known {
		tasks = append(tasks, Task{Driver: name, Program: program, Fault: assay.PowerCut, Seed: 1, States: k.states, Settings: map[string]string{"journal_mode": k.journal, "synchronous": k.synchronous}})
	}
	for name, r := range do(t, tasks...) {
		worst := Unharmed
		if all := r.damages(); len(all) > 0 {
			worst = all[0]
		}
		if want := known[name].worst; worst != want && (want != Inconsistent || severity[worst] < severity[want]) {
			t.Errorf("%s: %v in %d states, want %q as the worst of them", name, r.Counts, r.States, want)
		}
	}
}
