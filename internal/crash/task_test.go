package crash

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay"
	"assay/internal/crash/powercut"
	"assay/kit/postgres"
)

// What each class excludes. A loss of the newest commits refutes power only, and
// what happened before anything was acknowledged refutes nothing.
func TestPromised(t *testing.T) {
	for _, c := range []struct {
		class  assay.Durability
		fault  assay.Fault
		damage Damage
		want   bool
	}{
		{assay.Power, assay.PowerCut, Lost, true}, {assay.Power, assay.PowerCut, Unharmed, false}, {assay.Power, assay.PowerCut, Unmade, false},
		{assay.Power, assay.PowerCut, LostLast, true}, {assay.LastCommit, assay.PowerCut, LostLast, false}, {assay.LastCommit, assay.PowerCut, Unmade, false},
		{assay.LastCommit, assay.PowerCut, Lost, true}, {assay.LastCommit, assay.PowerCut, Corrupt, true}, {assay.LastCommit, assay.Kill, LostLast, true},
		{assay.Consistent, assay.PowerCut, LostLast, false}, {assay.Consistent, assay.PowerCut, Lost, false}, {assay.Consistent, assay.PowerCut, Inconsistent, true}, {assay.Consistent, assay.PowerCut, Corrupt, true},
		{assay.Process, assay.PowerCut, Corrupt, false}, {assay.Process, assay.Kill, Lost, true}, {assay.Power, assay.FullDisk, Lost, true},
		{assay.Consistent, assay.Kill, Lost, true}, {assay.Consistent, assay.Kill, Inconsistent, true},
		{assay.None, assay.Kill, Corrupt, false}, {assay.DurabilityUnknown, assay.PowerCut, Corrupt, false},
	} {
		if got := promised(c.class, c.fault.LosesUnsynced("sqlite"), c.damage); got != c.want {
			t.Errorf("%s, %s, %q: excluded %v, want %v", c.class, c.fault, c.damage, got, c.want)
		}
	}
}

// A server that is killed loses what was in its memory: that refutes a class that
// promises each commit, and none that promises whole ones.
func TestPromiseOfAServer(t *testing.T) {
	for class, want := range map[assay.Durability]Damage{assay.Power: Lost, assay.Consistent: Unharmed} {
		r := Result{Task: Task{Fault: assay.Kill}, Identity: Identity{Engine: postgres.Engine, Claimed: class}, Tried: Tried{Counts: map[Damage]int{Lost: 1}}}
		if got := r.Refuted(); got != want {
			t.Errorf("%s of a server that is killed: refuted %q, want %q", class, got, want)
		}
		if got, want := r.subject(), "A server that is killed"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		r.Engine = "sqlite"
		if got := r.Refuted(); got != Lost {
			t.Errorf("%s of a process that is killed: refuted %q, want %q", class, got, Lost)
		}
	}
}

func TestProof(t *testing.T) {
	r := Result{Task: Task{Profile: "web", Build: "b", Fault: assay.PowerCut}, Identity: Identity{Target: "mattn@v1", Claimed: assay.Power}, Ending: Ending{Outcome: assay.OK}, Tried: Tried{States: 10, Counts: map[Damage]int{Unharmed: 7, Lost: 2, Corrupt: 1}, Worst: &Finding{ID: "abc"}}}
	want := assay.Proof{Target: "mattn@v1", Build: "b", Profile: "web", Fault: assay.PowerCut, Claimed: assay.Power, States: 10, Held: 7, Refuted: 3, Kind: assay.Corrupts, Replay: "abc"}
	if got := r.Proof(); got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	for fault, fs := range map[assay.Fault]assay.FileSystem{assay.FullDisk: assay.Tmpfs, assay.Kill: ""} { // a kill takes no disk
		r.Task.FileSystem, r.Task.Fault = assay.Tmpfs, fault
		if got := r.Proof().FileSystem; got != fs {
			t.Errorf("%s in memory: got the file system %q, want %q", fault, got, fs)
		}
	}
	r.Task.FileSystem, r.Task.Fault = assay.Ext4, assay.PowerCut
	if got := r.Proof(); got != want {
		t.Errorf("on ext4: got %+v, want %+v", got, want)
	}
	r.Counts = map[Damage]int{Unharmed: 5, Unmade: 2, Lost: 2, Corrupt: 1} // of one that was never made nothing held
	if got := r.Proof(); got.Held != 5 || got.Refuted != 3 {
		t.Errorf("with two states before the first acknowledgement: got %+v, want 5 held and 3 refuted", got)
	}
	delete(r.Counts, Unmade)
	r.Claimed = assay.Process
	if got := r.Proof(); got.Refuted != 0 || got.Held != 10 {
		t.Errorf("a class that promises nothing was refuted: %+v", got)
	}
	r.Controls = []Control{{Name: "x", Caught: false}}
	if got := r.Proof(); got != (assay.Proof{}) {
		t.Errorf("a void result proves %+v", got)
	}
}

// The states of the history are what the checks rest on: the number of keys
// tells how many transactions there are, and each state has a digest of its own.
func TestHistory(t *testing.T) {
	h := newHistory(100, 64, 1)
	digests := map[string]int{}
	for n := range h.transactions() + 1 {
		state := h.state(n)
		if len(state) != h.rows(n) {
			t.Fatalf("after %d transactions there are %d keys, want %d", n, len(state), h.rows(n))
		}
		if got, found := h.after(len(state)); !found || got != n {
			t.Fatalf("%d keys are of %d transactions (%v), want %d", len(state), got, found, n)
		}
		if other, known := digests[digest(state)]; known {
			t.Fatalf("the states after %d and %d transactions have one digest", other, n)
		}
		digests[digest(state)] = n
	}
	if _, found := h.after(2); found {
		t.Error("2 keys are taken for whole transactions")
	}
	if reflect.DeepEqual(h.puts, newHistory(100, 64, 2).puts) {
		t.Error("two seeds give one history")
	}
}

// A finding that was kept gives the same image again.
func TestFindingKept(t *testing.T) {
	r := recording(write(0, 1), flush, write(1, 2), write(2, 3), ack)
	e := evidence{Finding: Finding{Task: Task{Driver: "mattn", Fault: assay.PowerCut}, Cut: powercut.Cut{At: 4, Choice: powercut.KeepOne, Kept: []int{3}}, Damage: Lost}, Recording: r}
	e.Finding.ID = e.id()
	dir := filepath.Join(t.TempDir(), "crash")
	must(t, e.save(dir))
	again, err := load(dir, e.Finding.ID)
	must(t, err)
	if diff := cmp.Diff(e.Finding, again.Finding); diff != "" || again.image().Sum() != e.image().Sum() {
		t.Errorf("image %x, want %x; finding (-want +got)\n%s", again.image().Sum(), e.image().Sum(), diff)
	}
	if _, err := load(dir, "other"); err == nil {
		t.Error("no error for a finding that is not there")
	}
}

// An ID is of one state: another file system, longer values, another disk or other
// files that were left have another one. Where a program lies and how many states
// were tried is no part of it.
func TestFindingID(t *testing.T) {
	finding := Finding{Task: Task{Driver: "mattn", Fault: assay.PowerCut, FileSystem: assay.Ext4, Seed: 1}, Cut: powercut.Cut{At: 2, Choice: powercut.KeepAll, Kept: []int{1}}}
	disk := func() evidence { return evidence{Finding: finding, Recording: recording(flush, write(1, 2))} }
	left := func(length int64) evidence {
		return evidence{Finding: finding, Files: powercut.Folder{"store": powercut.NewFolder(), "store/log": powercut.NewImage(length)}}
	}
	want := disk().id()
	same := disk()
	same.Finding.Task.Program, same.Finding.Task.States, same.Finding.Words = "elsewhere", 300, "damaged"
	if got := same.id(); got != want {
		t.Errorf("from another folder: got ID %s, want %s", got, want)
	}
	fs, bytes, once, content := disk(), disk(), disk(), disk()
	fs.Finding.Task.FileSystem = assay.Tmpfs
	bytes.Finding.Task.Bytes = storeBytes
	once.Finding.Task.Once = []string{"PRAGMA a"}
	content.Recording = recording(flush, write(1, 3))
	ids := map[string]string{want: "the first"}
	for what, e := range map[string]evidence{"another file system": fs, "longer values": bytes, "another SQL": once, "another content": content, "files": left(1), "a longer file": left(2)} {
		id := e.id()
		if other, known := ids[id]; known {
			t.Errorf("%s has the ID %s of %s", what, id, other)
		}
		ids[id] = what
	}
}

// Findings that were stored keep their meaning.
func TestStoredNumbers(t *testing.T) {
	kinds := []powercut.OpKind{powercut.OpWrite, powercut.OpFlush, powercut.OpAck, powercut.OpRead, powercut.OpCall, powercut.OpTruncate, powercut.OpName, powercut.OpUnname}
	for want, got := range kinds {
		if int(got) != want {
			t.Errorf("operation %d has the number %d", want, got)
		}
	}
	for want, got := range []powercut.FileCall{powercut.NoCall, powercut.Created, powercut.Removed, powercut.Resized} {
		if int(got) != want {
			t.Errorf("call %d has the number %d", want, got)
		}
	}
}

// A database that is opened for reading only has nothing to lose.
func TestReadOnly(t *testing.T) {
	for _, c := range []struct {
		task Task
		want bool
	}{
		{Task{}, false}, {Task{Settings: map[string]string{"journal_mode": "wal"}}, false}, {Task{Settings: map[string]string{"read_only": "0"}}, false},
		{Task{Settings: map[string]string{"read_only": "1"}}, true}, {Task{Settings: map[string]string{"immutable": "on"}}, true},
		{Task{Each: []string{"ATTACH DATABASE 'file:{{path}}?mode=ro' AS filedb"}}, true},
		{Task{Once: []string{"ATTACH DATABASE 'other.db' AS other"}}, false}, {Task{Once: []string{"ATTACH DATABASE 'file:{{path}}?mode=ro' AS filedb"}}, true},
		{Task{DSN: "file:{{path}}?mode=ro&cache=shared"}, true}, {Task{DSN: "file:{{path}}?cache=shared&_immutable=1"}, false}, {Task{DSN: "file:{{path}}?immutable=1"}, true},
	} {
		if got := c.task.readOnly(); got != c.want {
			t.Errorf("settings %v, DSN %q: got %v, want %v", c.task.Settings, c.task.DSN, got, c.want)
		}
	}
}
