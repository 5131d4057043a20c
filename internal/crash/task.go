package crash

import (
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/crash/powercut"
)

// Task is one driver with one profile, and what is to be done to it.
type Task struct {
	Driver     string   // NAME[@VERSION][:OPTION...]
	Options    []string // compile options of the worker
	Build      string   // digest of the worker's build
	Program    string   // path of the worker
	Plan       string   // its name
	Profile    string
	Settings   map[string]string
	DSN        string // literal, with {{path}}; empty: by Settings
	Once       []string
	Each       []string
	Initial    string // a prepared, empty database with settings of the file; empty: the worker makes it
	Fault      assay.Fault
	Seed       uint64
	FileSystem assay.FileSystem // of the disk; empty: ext4
	Bytes      int              // of each value that the workload writes; 0: few
	States     int              // at most; 0: as many as the time allows
	Time       time.Duration    // for this task; 0: until States are tried
	Controls   bool             // also run those that must fail
	Findings   string           // folder that the smallest counterexample is kept in
	Replay     *Replay          `json:",omitempty"` // instead: makes the state of a finding again
}

// onFileSystem reports whether the fault is of a file system that is mounted for it.
func (t Task) onFileSystem() bool { return about(t.Fault).level == diskLevel }

// onDisk reports whether that file system lies on a disk.
func (t Task) onDisk() bool { return t.onFileSystem() && t.FileSystem != assay.Tmpfs }

// storeBytes is how long values of a key-value store are: the workload fills a
// memtable of 4 MB, as Pebble and LevelDB have it, several times, so that tables
// are written and compacted.
const storeBytes = 12 << 10

// readOnly reports whether the settings open the database for reading only: then
// nothing is committed that could be lost.
func (t Task) readOnly() bool {
	for _, name := range []string{"read_only", "immutable", "query_only"} {
		if slices.Contains([]string{"1", "on", "true"}, t.Settings[name]) {
			return true
		}
	}
	attached := func(sql string) bool { return strings.Contains(sql, "ATTACH") && strings.Contains(sql, "mode=ro") }
	return slices.ContainsFunc(t.Once, attached) || slices.ContainsFunc(t.Each, attached) || strings.Contains(t.DSN, "mode=ro") || strings.Contains(t.DSN, "?immutable=1") || strings.Contains(t.DSN, "&immutable=1")
}

// Finding is one state that was found damaged.
type Finding struct {
	ID     string
	Task   Task
	Moment powercut.Moment
	Cut    powercut.Cut
	Second *powercut.Cut // of the recovery; nil: there was none
	// Attempt is the number of the try, of other faults than power cuts.
	Attempt int
	Race    bool `json:",omitempty"` // the workload was that of a race
	Damage  Damage
	Acked   int // transactions that were acknowledged
	Found   int // that are there; -1 where that cannot be told
	Words   string
}

// Result holds what a task found.
type Result struct {
	Task Task
	Identity
	Ending
	Tried
	Notes    []string      // what was done less than is possible, and what that takes
	Controls []Control     // that this task had to fail
	Took     time.Duration // all of it
	Replayed *Replayed     `json:",omitempty"`
}

// Identity is a worker with its settings, as the worker itself says.
type Identity struct {
	Target   string // its name of itself, with versions
	Engine   string
	Version  string            // of the engine
	Settings map[string]string // that decide durability, as they were read back
	Claimed  assay.Durability  // by those settings
}

// Ending says how a task ended.
type Ending struct {
	Outcome assay.Outcome
	Reason  string
	Stack   string // of a fault of assay
}

// Tried holds what was done to the database, and what that did.
type Tried struct {
	Acked      int // transactions of the workload
	Operations int // of the disk, in the recording
	States     int // different ones that were checked
	Equal      int // that were the same as one before, and not checked again
	Unknown    int // of which the file system did not mount, or that no worker started to look at
	Counts     map[Damage]int
	ByMoment   map[powercut.Moment]int
	MaxLost    int      // acknowledged transactions that one state lost
	Worst      *Finding // the smallest counterexample of the worst damage
	SlowestNs  int64    // the longest that opening took
}

// remark notes once what was done less than is possible.
func (r *Result) remark(text string) {
	r.Notes = addNew(r.Notes, text)
}

// Control is a database or disk that is known to be bad. A run in which one is
// not caught proves nothing.
type Control struct {
	Name   string
	Caught bool
	States int // that were tried until it was
}

// promised reports whether a class of durability excludes a damage by a fault that
// loses what was not synced, or by one that does not.
func promised(class assay.Durability, losesUnsynced bool, d Damage) bool {
	switch {
	case d == Unharmed, d == Unmade, class == assay.DurabilityUnknown:
		return false
	case losesUnsynced:
		tolerated := map[assay.Durability]Damage{assay.Power: Unmade, assay.LastCommit: LostLast, assay.Consistent: Lost}
		limit, promises := tolerated[class]
		return promises && d.severity() > limit.severity()
	}
	return class != assay.None
}

// losesUnsynced reports whether the fault may take what was not synced.
func (r *Result) losesUnsynced() bool { return r.Task.Fault.LosesUnsynced(r.Engine) }

// Refuted is the damage that the claimed class excludes, the worst of them;
// Unharmed where the promise was kept.
func (r *Result) Refuted() Damage {
	for _, d := range r.damages() {
		if promised(r.Claimed, r.losesUnsynced(), d) {
			return d
		}
	}
	return Unharmed
}

// Void reports whether a control was not caught: then nothing is proved.
func (r *Result) Void() bool {
	return slices.ContainsFunc(r.Controls, func(c Control) bool { return !c.Caught })
}

// Proof is the result as the store and reports have it; the zero value where
// nothing was proved.
func (r *Result) Proof() assay.Proof {
	if r.Outcome != assay.OK || r.Void() || r.States == 0 {
		return assay.Proof{}
	}
	p := assay.Proof{Target: r.Target, Build: r.Task.Build, Profile: r.Task.Profile, Fault: r.Task.Fault, Claimed: r.Claimed, States: r.States}
	if r.Task.onFileSystem() && r.Task.FileSystem != assay.Ext4 {
		p.FileSystem = r.Task.FileSystem
	}
	for d, n := range r.Counts {
		if promised(r.Claimed, r.losesUnsynced(), d) {
			p.Refuted += n
		}
	}
	p.Held = p.States - p.Refuted - r.Counts[Unmade]
	if p.Kind = r.Refuted().about().refutation; p.Refuted > 0 && r.Worst != nil {
		p.Replay = r.Worst.ID
	}
	return p
}
