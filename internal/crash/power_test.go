//go:build linux

package crash

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
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
)

// storeProgram is this program under the name of a store.
func storeProgram(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	path := filepath.Join(t.TempDir(), name)
	must(t, os.Symlink(self, path))
	return path
}

// do does tasks on fresh disks, two at a time, and returns their results by
// driver.
func do(t *testing.T, tasks ...Task) map[string]Result {
	t.Helper()
	for i := range tasks {
		if why := Missing(tasks[i].Fault, cmp.Or(tasks[i].FileSystem, assay.Ext4)); why != "" {
			t.Skip(why)
		}
		tasks[i].Findings = t.TempDir()
	}
	if testing.Short() {
		t.Skip("does faults again and again")
	}
	t.Setenv(asDisk, "1")
	self, err := os.Executable()
	must(t, err)
	results := map[string]Result{}
	err = Run(t.Context(), Config{Tasks: tasks, Lanes: min(2, len(tasks)), Dir: t.TempDir(), Self: []string{self}, Done: func(r Result) error { results[r.Task.Driver] = r; return nil }})
	must(t, err)
	for _, r := range results {
		if r.Outcome != assay.OK {
			t.Fatalf("%s: %s: %s", r.Task.Driver, r.Outcome, r.Reason)
		}
	}
	return results
}

// doOne does a task in a process of its own, whatever becomes of it.
func doOne(t *testing.T, task Task) (done Result) {
	t.Helper()
	t.Setenv(asDisk, "1")
	must(t, Run(t.Context(), Config{Tasks: []Task{task}, Lanes: 1, Dir: t.TempDir(), Self: []string{os.Args[0]}, Done: func(r Result) error { done = r; return nil }}))
	return done
}

// again replays a finding in a process of its own, leaves its state in keep, and
// checks that it shows what was found.
func again(t *testing.T, r Result, keep string) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	if r.Worst == nil || r.Worst.ID == "" {
		t.Fatalf("there is nothing to replay in %+v", r)
	}
	t.Setenv(asDisk, "1")
	dir := t.TempDir()
	killed := filepath.Join(dir, lanePrefix+"999999999-apart") // of a process that is gone
	must(t, os.MkdirAll(killed, 0o700))
	got, err := Replay{Findings: r.Worst.Task.Findings, ID: r.Worst.ID, Program: r.Task.Program, Keep: keep}.Do(t.Context(), dir, self)
	must(t, err)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if got.Damage != r.Worst.Damage || got.Found != r.Worst.Found {
		t.Errorf("replayed: %s with %d transactions (%s), want %s with %d", got.Damage, got.Found, got.Words, r.Worst.Damage, r.Worst.Found)
	}
}

// honestAndLying does a fault to a store that syncs, which keeps its promise, and to one
// that only says so, whose result it returns.
func honestAndLying(t *testing.T, fault assay.Fault) Result {
	t.Helper()
	task := Task{Fault: fault, Seed: 1, States: 10, Settings: map[string]string{kv.Sync: "1"}}
	honest, lies := task, task
	honest.Driver, honest.Program, honest.Controls = "store-honest", storeProgram(t, "store-honest"), true
	lies.Driver, lies.Program = "store-lies", storeProgram(t, "store-lies")
	results := do(t, honest, lies)
	if r := results["store-honest"]; r.Claimed != assay.Power || r.Counts[Unharmed] != 10 || r.Void() || len(r.Controls) != 3 {
		t.Errorf("an honest store: claims %s, %v, controls %+v; want power, 10 unharmed, three that were caught; %+v", r.Claimed, r.Counts, r.Controls, r.Worst)
	}
	return results["store-lies"]
}

// A store that syncs keeps its promise, one that says so and does not is
// refuted. Its finding shows the same again, and leaves an image of a file system.
func TestPowerCut(t *testing.T) {
	lied := honestAndLying(t, assay.PowerCut)
	if lied.Refuted() != Lost || lied.Proof().Kind != assay.LosesCommits {
		t.Fatalf("a store that does not sync: %v, refuted %q", lied.Counts, lied.Refuted())
	}
	keep := filepath.Join(t.TempDir(), "disk.img")
	again(t, lied, keep)
	image, err := os.Open(keep)
	must(t, err)
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

// Each kind of damage that a killed process can leave is told by its name, and of a
// loss how much it is.
func TestKindsOfDamage(t *testing.T) {
	want := map[string]Damage{"store-honest": Unharmed, "store-locked": Unopened, "store-changes": Inconsistent, "store-late": LostLast, "store-frozen": Unwritable, "store-forgets": Unstable}
	var tasks []Task
	for name := range want {
		tasks = append(tasks, Task{Driver: name, Program: storeProgram(t, name), Fault: assay.Kill, Seed: 3, States: 1, Settings: map[string]string{kv.Sync: "1"}})
	}
	for name, r := range do(t, tasks...) {
		if r.MaxLost > 1 {
			want["store-late"] = Lost // it is late by one or two
		}
		if r.Counts[want[name]] != 1 || r.States != 1 || r.Refuted() != want[name] || r.MaxLost > 2 || (r.MaxLost > 0) != (name == "store-late") {
			t.Errorf("%s: got %v, up to %d lost; want %q; %+v", name, r.Counts, r.MaxLost, want[name], r.Worst)
		}
	}
}

// A killed process, a full disk and failing I/O lose nothing that was
// acknowledged, and an acknowledgement that comes too early is caught. A store that
// reads a failing disk without an error is found out.
func TestOtherFaults(t *testing.T) {
	honest, deaf := storeProgram(t, "store-honest"), storeProgram(t, "store-deaf")
	var tasks []Task
	for _, fault := range []assay.Fault{assay.Kill, assay.FullDisk, assay.FailingIO} {
		tasks = append(tasks, Task{Driver: string(fault), Program: honest, Fault: fault, Seed: 1, States: 5, Controls: true, Settings: map[string]string{kv.Sync: "1"}})
	}
	tasks = append(tasks, Task{Driver: "deaf", Program: deaf, Fault: assay.FailingIO, Seed: 1, States: 6, Settings: map[string]string{kv.Sync: "1"}})
	results := do(t, tasks...)
	for _, task := range tasks[:3] {
		if r := results[task.Driver]; r.Counts[Unharmed] != 5 || r.States != 5 || r.Void() || len(r.Controls) != 1 {
			t.Errorf("%s: %v of %d, controls %+v; want 5 unharmed of 5, and one control that was caught; %+v", task.Fault, r.Counts, r.States, r.Controls, r.Worst)
		}
	}
	if r := results["deaf"]; r.Counts[Inconsistent] == 0 || !strings.Contains(r.Worst.Words, "no error") {
		t.Errorf("a store that takes unreadable files for empty ones: %v, want inconsistent; %+v", r.Counts, r.Worst)
	}
	if moments := results["kill"].ByMoment; len(moments) < 2 {
		t.Errorf("kills at %v, want some at system calls where strace is installed", moments)
	}
}

// Where the control uses up the time, the fault is tried once all the same: a result
// without a state says nothing.
func TestOneStateBesideTheControl(t *testing.T) {
	var tasks []Task
	for _, fault := range []assay.Fault{assay.Kill, assay.FullDisk, assay.FailingIO} {
		tasks = append(tasks, Task{Driver: string(fault), Program: storeProgram(t, "store-honest"), Fault: fault, Seed: 1, Time: time.Millisecond, Controls: true, Settings: map[string]string{kv.Sync: "1"}})
	}
	for name, r := range do(t, tasks...) {
		if r.States != 1 || len(r.Controls) != 1 || r.Void() {
			t.Errorf("%s: got %d states and the controls %+v, want one state, and a control that was caught", name, r.States, r.Controls)
		}
	}
}

// A file system in memory that runs full takes no disk. A store that goes on after
// errors is found out on it, and its finding shows the same again.
func TestFullMemory(t *testing.T) {
	task := Task{Fault: assay.FullDisk, FileSystem: assay.Tmpfs, Seed: 1, States: 3, Controls: true, Settings: map[string]string{kv.Sync: "1"}}
	honest, swallows := task, task
	honest.Driver, honest.Program = "honest", storeProgram(t, "store-honest")
	swallows.Driver, swallows.Program = "swallows", storeProgram(t, "store-swallows")
	results := do(t, honest, swallows)
	r := results["honest"]
	if p := r.Proof(); r.Counts[Unharmed] != 3 || r.Void() || p.FileSystem != assay.Tmpfs || p.Held != 3 {
		t.Errorf("an honest store: %v, controls %+v, proof %+v; want 3 that held on tmpfs, and a control that was caught", r.Counts, r.Controls, p)
	}
	swallowed := results["swallows"]
	if swallowed.Refuted() == Unharmed {
		t.Fatalf("got %v, want what a store loses that goes on after errors", swallowed.Counts)
	}
	again(t, swallowed, filepath.Join(t.TempDir(), "files"))
}

// A file system in memory with room for the whole workload tried nothing.
func TestMemoryThatIsNotFull(t *testing.T) {
	task := Task{Driver: "roomy", Program: storeProgram(t, "store-roomy"), Fault: assay.FullDisk, FileSystem: assay.Tmpfs, Seed: 1, States: 2, Settings: map[string]string{kv.Sync: "1"}, Findings: t.TempDir()}
	if why := Missing(task.Fault, task.FileSystem); why != "" {
		t.Skip(why)
	}
	if r := doOne(t, task); r.Outcome != assay.Unsupported || r.States != 2 {
		t.Errorf("got %s (%s) after %d states, want unsupported after 2", r.Outcome, r.Reason, r.States)
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
	must(t, err)
	task := Task{Driver: "activerecord", Program: program, Fault: assay.PowerCut, Seed: 1, States: 3, Time: 2 * time.Minute, Settings: map[string]string{"journal_mode": "wal", "synchronous": "full"}}
	r := do(t, task)["activerecord"]
	if r.Claimed != assay.Power || r.Counts[Unharmed] != 3 || r.Acked != transactions {
		t.Errorf("claims %s, %v after %d transactions; want power, 3 unharmed after %d; %+v", r.Claimed, r.Counts, r.Acked, transactions, r.Worst)
	}
}

// Without root the weaker model finds the same of a store that syncs and of one
// that does not, and the latter's finding shows it again.
func TestFileCut(t *testing.T) {
	lied := honestAndLying(t, assay.FileCut)
	if lied.Refuted() != Lost {
		t.Fatalf("a store that does not sync: %v, refuted %q", lied.Counts, lied.Refuted())
	}
	again(t, lied, filepath.Join(t.TempDir(), "files"))
}

// An ordinary user, and root of a container without the right to mount, get the
// weaker models, and are told what the disk takes.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the other tests ran as one")
	}
	for name, c := range map[string]struct {
		owner int
		under []string
	}{
		"nobody":              {nobody, nil},
		"root of a container": {0, []string{"setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"}},
	} {
		t.Run(name, func(t *testing.T) {
			self, err := os.Executable()
			must(t, err)
			out := runAs(t, c.owner, c.under, self, "store-honest")
			user := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(c.owner), Gid: uint32(c.owner)}}
			weakerModels(t, out, mountsOf(c.under, user))
		})
	}
}

// nobody is an ordinary user.
const nobody = 65534

// runAs has a user do tasks with a worker, which gets a name, and returns what runUser
// printed.
func runAs(t *testing.T, owner int, under []string, worker, name string) []Result {
	t.Helper()
	dir, err := os.MkdirTemp("", "crash-user-") // a test's own folder is closed to others
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, work, assayProgram := filepath.Join(dir, name), filepath.Join(dir, "work"), filepath.Join(dir, "assay")
	err = errors.Join(copyProgram(worker, program), copyProgram(os.Args[0], assayProgram), os.Chmod(dir, 0o755), os.Mkdir(work, 0o700), os.Chown(work, owner, owner))
	must(t, err)
	words := append(under, assayProgram, work, program)
	if _, err := exec.LookPath(words[0]); err != nil {
		t.Skip(err)
	}
	command := exec.Command(words[0], words[1:]...)
	command.Env = append(os.Environ(), asUser+"=1", "HOME="+dir, "TMPDIR="+work)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(owner), Gid: uint32(owner)}}
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	gone(t, work, program+"$")
	var results []Result
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return results
}

func copyProgram(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o755)
}

// mountsOf tells, without assay, which weaker models have to work for a user: with
// mounts of one's own a file system in memory, and where FUSE is there files, too.
func mountsOf(under []string, user *syscall.SysProcAttr) map[assay.Fault]bool {
	words := slices.Concat(under, []string{"unshare", "--user", "--map-root-user", "--mount", "true"})
	command := exec.Command(words[0], words[1:]...)
	command.SysProcAttr = user
	own := command.Run() == nil
	fuse, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err == nil {
		_ = fuse.Close()
	}
	return map[assay.Fault]bool{assay.FullDisk: own, assay.FileCut: own && err == nil}
}

// weakerModels checks what runUser printed, of which some faults have to work.
func weakerModels(t *testing.T, results []Result, mounts map[assay.Fault]bool) {
	t.Helper()
	if len(results) != 3 {
		t.Fatalf("got %d results, want 3", len(results))
	}
	power := results[0]
	if power.Outcome != assay.Unsupported || !strings.Contains(power.Reason, "root") {
		t.Errorf("the disk: %s: %s, want unsupported for want of root", power.Outcome, power.Reason)
	}
	for _, r := range results[1:] {
		if r.Outcome == assay.Unsupported && !mounts[r.Task.Fault] {
			t.Logf("%s: %s", r.Task.Fault, r.Reason)
			continue
		}
		if r.Task.FileSystem == assay.Tmpfs && !strings.Contains(strings.Join(r.Notes, " "), "it needs root") {
			t.Errorf("notes %q; want what a disk takes", r.Notes)
		}
		if r.Outcome != assay.OK || r.Counts[Unharmed] != 5 {
			t.Errorf("%s, the weaker model: %s: %s, %v, want 5 unharmed", r.Task.Fault, r.Outcome, r.Reason, r.Counts)
		}
	}
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
	must(t, err)
	for _, folder := range []string{"python", filepath.Join("lib", "python")} { // which the go command takes for inputs by this
		if _, err := os.ReadDir(filepath.Join("..", "..", "workers", folder)); err != nil {
			t.Fatal(err)
		}
	}
	fast := storeProgram(t, "sqlite-honest") // SQLite as well, and it starts in a tenth of the time
	type answer struct {
		program              string
		journal, synchronous string
		states               int
		worst                Damage // Inconsistent: that, or worse
	}
	known := map[string]answer{
		"DELETE, FULL":  {fast, "delete", "full", 40, LostLast},
		"DELETE, EXTRA": {program, "delete", "extra", 8, Unharmed},
		"WAL, FULL":     {fast, "wal", "full", 8, Unharmed},
		"WAL, NORMAL":   {fast, "wal", "normal", 15, Lost},
		"DELETE, OFF":   {fast, "delete", "off", 8, Inconsistent},
		"MEMORY, FULL":  {fast, "memory", "full", 8, Inconsistent},
	}
	// What must be found once is looked for in more states where it was not, with other seeds.
	for seed := uint64(1); len(known) > 0; seed++ {
		var tasks []Task
		for name, k := range known {
			tasks = append(tasks, Task{Driver: name, Program: k.program, Fault: assay.PowerCut, Seed: seed, States: k.states, Settings: map[string]string{"journal_mode": k.journal, "synchronous": k.synchronous}})
		}
		for name, r := range do(t, tasks...) {
			k, worst := known[name], Unharmed
			if all := r.damages(); len(all) > 0 {
				worst = all[0]
			}
			found := worst == k.worst || k.worst == Inconsistent && worst.severity() >= k.worst.severity()
			if !found && (k.worst != Inconsistent || seed == 4) {
				t.Errorf("%s: %v in %d states, want %q as the worst of them", name, r.Counts, r.States, k.worst)
			}
			if found || k.worst != Inconsistent || seed == 4 {
				delete(known, name)
			}
		}
	}
}
