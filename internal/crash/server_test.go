//go:build linux

package crash

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"assay"
	"assay/internal/crash/powercut"
	"assay/kit/kv"
	"assay/kit/postgres/cluster"
	"assay/kit/wire"
)

// serverDriver is the worker of a server.
const serverDriver = "pgx"

// serverProgram is the worker of a server, whose programs are installed.
func serverProgram(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts servers")
	}
	if _, err := cluster.Find(t.Context()); errors.Is(err, cluster.ErrMissing) {
		t.Skip(err)
	}
	if _, err := os.ReadDir(serverSource); err != nil { // the go command takes it for an input by this
		t.Fatal(err)
	}
	program, err := builtServer()
	must(t, err)
	return program
}

var serverSource = filepath.Join("..", "..", "workers", serverDriver)

// builtServer builds it once, into a folder that is removed behind all tests.
var builtServer = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "crash-server-")
	if err != nil {
		return "", err
	}
	builtFolder = dir
	program := filepath.Join(dir, serverDriver)
	if out, err := exec.Command("go", "build", "-C", serverSource, "-o", program, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the worker: %w: %s", err, out)
	}
	return program, nil
})

// builtFolder has what builtServer built; empty: nothing.
var builtFolder string

// A PostgreSQL server whose data lie on the disk loses nothing with synchronous
// commits, and without them the newest at the most. Killed, it loses nothing of what it had synced.
func TestServer(t *testing.T) {
	program := serverProgram(t)
	sync := Task{Driver: "sync", Program: program, Fault: assay.PowerCut, Seed: 1, States: 6, Controls: true, Settings: map[string]string{"synchronous_commit": "on"}}
	async := sync
	async.Driver, async.Controls, async.Settings = "async", false, map[string]string{"synchronous_commit": "off", "journal_mode": "wal"}
	killed := sync
	killed.Driver, killed.Fault, killed.States = "killed", assay.Kill, 4
	results := do(t, sync, async, killed)
	if r := results["killed"]; r.Claimed != assay.Power || r.Counts[Unharmed] != 4 || r.Void() || len(r.Controls) != 1 || len(r.ByMoment) != 2 {
		t.Errorf("kills of the server: claims %s, %v at %v, controls %+v; want power, 4 unharmed of two moments, one control that was caught; %+v", r.Claimed, r.Counts, r.ByMoment, r.Controls, r.Worst)
	}
	r := results["sync"]
	if r.Claimed != assay.Power || r.Counts[Unharmed] != sync.States || r.Void() || len(r.Controls) != 3 {
		t.Errorf("synchronous commits: claims %s, %v, controls %+v; want power, %d unharmed, three that were caught; %+v", r.Claimed, r.Counts, r.Controls, sync.States, r.Worst)
	}
	if !strings.HasPrefix(r.Version, "1") {
		t.Errorf("the engine's version is %q, want the server's", r.Version)
	}
	r = results["async"]
	if r.Claimed != assay.Consistent || r.Counts[Unharmed]+r.Counts[LostLast]+r.Counts[Lost] != async.States {
		t.Errorf("asynchronous commits: claims %s, %v; want consistent, and nothing worse than lost commits; %+v", r.Claimed, r.Counts, r.Worst)
	}
}

// What cannot be tried of a server is said.
func TestServerUnsupported(t *testing.T) {
	client := []string{wire.CapSQL, wire.CapPostgreSQL}
	for fault, want := range map[assay.Fault]bool{assay.PowerCut: false, assay.FileCut: true, assay.Kill: false, assay.FullDisk: false, assay.FailingIO: false} {
		if got := unfit(client, Task{Fault: fault}) != nil; got != want {
			t.Errorf("%s: got unfit %v, want %v", fault, got, want)
		}
	}
	if err := unfit(client, Task{Fault: assay.FullDisk, FileSystem: assay.Tmpfs}); err == nil || !strings.Contains(err.Error(), "needs root") {
		t.Errorf("a full file system in memory: got %v, want that it needs root", err)
	}
	own, err := settingsOfServer(Task{Settings: map[string]string{"fsync": "off", kv.Sync: "1", "journal_mode": "wal"}})
	if want := map[string]string{"fsync": "off", "synchronous_commit": "on"}; err != nil || !maps.Equal(own, want) {
		t.Errorf("the server's settings: got %v, %v, want %v", own, err, want)
	}
	_, err = settingsOfServer(Task{Profile: "wal", Settings: map[string]string{"journal_mode": "wal"}})
	if remote := (*wire.Error)(nil); !errors.As(err, &remote) || remote.Code != wire.Unsupported {
		t.Errorf("a profile of SQLite's settings: got %v, want unsupported", err)
	}
}

// A server on a disk that runs full, or fails, loses nothing that it acknowledged.
// Each state has an error: without room for a table a transaction fails and the server
// goes on, and a log that cannot be kept ends it.
func TestServerOnABadDisk(t *testing.T) {
	full := Task{Driver: "full", Program: serverProgram(t), Fault: assay.FullDisk, Seed: 1, States: 2, Controls: true, Settings: map[string]string{"synchronous_commit": "on"}}
	failing := full
	failing.Driver, failing.Fault, failing.States, failing.Controls = "eio", assay.FailingIO, 3, false
	results := do(t, full, failing)
	for driver, moments := range map[string]map[powercut.Moment]int{
		"full": {tableGrowth: 1, logGrowth: 1},
		"eio":  {"failing writes": 1, "failing reads": 1, "failing flushes": 1},
	} {
		r := results[driver]
		if r.Claimed != assay.Power || r.Counts[Unharmed] != r.States || !maps.Equal(r.ByMoment, moments) || r.Void() || len(r.Controls) != map[string]int{"full": 1}[driver] || len(r.Notes) > 0 {
			t.Errorf("%s: claims %s, %v at %v, controls %+v, notes %q; want power, all unharmed at %v, a control of full that was caught, and an error in each state; %+v",
				driver, r.Claimed, r.Counts, r.ByMoment, r.Controls, r.Notes, moments, r.Worst)
		}
	}
}

// What a killed server left is looked at again by a replay, and left as files. More
// than was written is missing each time.
func TestReplayOfAServersKill(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the folder of a lane is given to another user, which needs root")
	}
	program := serverProgram(t)
	l, err := newLane(t.Context(), t.TempDir(), false)
	must(t, err)
	task := Task{Driver: serverDriver, Program: program, Fault: assay.Kill, Seed: 1, Findings: t.TempDir(), Settings: map[string]string{"synchronous_commit": "on"}}
	tried, err := newTrial(l, task)
	must(t, err)
	must(t, tried.checkWorker(t.Context()))
	e, found, err := tried.killedServer(t.Context())
	if err != nil || found.damage != Unharmed || found.transactions < e.Finding.Acked {
		t.Fatalf("got %v, %+v, want that the %d acknowledged transactions are there", err, found, e.Finding.Acked)
	}
	e.Finding.Task, e.Finding.Attempt, e.Finding.Damage = task, 1, LostLast
	e.Finding.Acked, e.Finding.Found = found.transactions+1, found.transactions
	e.Finding.ID = e.id()
	must(t, e.save(task.Findings))
	keep := filepath.Join(t.TempDir(), "files")
	again(t, Result{Task: task, Tried: Tried{Worst: &e.Finding}}, keep)
	if info, err := os.Stat(filepath.Join(keep, dataName, "pg_wal")); err != nil || !info.IsDir() {
		t.Errorf("the server's data are not left: %v", err)
	}
}

// An ordinary user who has mounts of his own is told that a server needs root, whatever
// the fault. Without such mounts a server is the user's own, and is killed.
func TestServerOfAnOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the other tests ran as one")
	}
	for _, r := range runAs(t, nobody, nil, serverProgram(t), serverDriver) {
		if r.Task.Fault == assay.Kill && r.Outcome == assay.OK && r.Counts[Unharmed] == 1 {
			continue // without mounts of his own
		}
		if r.Task.Fault == assay.KillShared || r.Task.Fault == assay.PowerShared {
			continue // of no server
		}
		if r.Outcome != assay.Unsupported || !strings.Contains(r.Reason, "needs root") {
			t.Errorf("%s: %s: %s, want unsupported for want of root", r.Task.Fault, r.Outcome, r.Reason)
		}
	}
}

// A disk whose flushes failed keeps what was flushed before, and loses a part of the
// rest: an acknowledgement that came later is worth nothing.
func TestForgottenByADisk(t *testing.T) {
	r := recording(write(0, 1), flush, ack, write(1, 2), ack)
	without, with := r.Image(powercut.Cut{At: 2}, true).Sum(), r.After(len(r.Ops)).Sum()
	tried := &trial{random: rand.New(rand.NewPCG(1, 3))}
	seen := map[[16]byte]int{}
	flushed := make([]byte, powercut.BlockBytes)
	for range 50 {
		left := tried.forgotten(r)
		seen[left.Sum()]++
		if left.Read(flushed, 0); flushed[0] != 1 || flushed[powercut.BlockBytes-1] != 1 {
			t.Fatalf("the write that was flushed is not there: it begins with %x", flushed[:4])
		}
	}
	if seen[without] == 0 || seen[with] == 0 {
		t.Errorf("of %d states %d are without the last write and %d with it; want some of both", len(seen), seen[without], seen[with])
	}
}
