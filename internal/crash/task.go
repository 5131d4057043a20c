package crash

import (
	"slices"
	"strings"
	"time"

	"assay"
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
}

// onFileSystem reports whether the fault is of a file system that is mounted for it.
func (t Task) onFileSystem() bool { return about(t.Fault).level == diskLevel }

// onDisk reports whether that file system lies on a disk.
func (t Task) onDisk() bool { return t.onFileSystem() && t.FileSystem != assay.Tmpfs }

// StoreBytes is how long values of a key-value store are: the workload fills a
// memtable of 4 MB, as Pebble and LevelDB have it, several times, so that tables
// are written and compacted.
const StoreBytes = 12 << 10

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

// Damage is what a fault did to a database, worst last.
type Damage string

// The kinds of damage.
const (
	Unharmed     Damage = ""
	Lost         Damage = "lost"         // the newest acknowledged transactions are gone; what is there is whole
	Unmade       Damage = "unmade"       // it does not open, and nothing was acknowledged yet: its creation was cut short
	Unwritable   Damage = "unwritable"   // everything is there, and nothing can be written
	Unstable     Damage = "unstable"     // a second open finds something else than the first
	Inconsistent Damage = "inconsistent" // half a transaction, a hole in their order, or a wrong value
	Corrupt      Damage = "corrupt"      // the engine's own check fails
	Unopened     Damage = "unopened"     // it does not open, or cannot be read
)

var severity = map[Damage]int{Unharmed: 0, Unmade: 1, Lost: 2, Unwritable: 3, Unstable: 4, Inconsistent: 5, Corrupt: 6, Unopened: 7}

// Finding is one state that was found damaged.
type Finding struct {
	ID     string
	Task   Task
	Moment Moment
	Cut    Cut
	Second *Cut // of the recovery; nil: there was none
	// Attempt is the number of the try, of other faults than power cuts.
	Attempt int
	Damage  Damage
	Acked   int // transactions that were acknowledged
	Found   int // that are there; -1 where that cannot be told
	Words   string
}

// Result is what a task found.
type Result struct {
	Task       Task
	Target     string // the worker's own name of itself, with versions
	Engine     string
	Version    string            // of the engine
	Settings   map[string]string // that decide durability, as they were read back
	Claimed    assay.Durability  // by those settings
	Outcome    assay.Outcome
	Reason     string
	Stack      string   // of a fault of assay
	Notes      []string // what was done less than is possible, and what that takes
	States     int      // different ones that were checked
	Equal      int      // that were the same as one before, and not checked again
	Unmounted  int      // of which the file system did not mount: nothing is known of the database
	Counts     map[Damage]int
	MaxLost    int // acknowledged transactions that one state lost
	ByMoment   map[Moment]int
	Worst      *Finding      // the smallest counterexample of the worst damage
	SlowestNs  int64         // the longest that opening took
	Controls   []Control     // that this task had to fail
	Took       time.Duration // all of it
	Acked      int           // transactions of the workload
	Operations int           // of the disk, in the recording
}

// remark notes once what was done less than is possible.
func (r *Result) remark(text string) {
	if !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
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
		return class == assay.Power || class == assay.Consistent && d != Lost
	}
	return class != assay.None
}

// losesUnsynced reports whether the fault may take what was not synced.
func (r *Result) losesUnsynced() bool { return r.Task.Fault.LosesUnsynced(r.Engine) }

// ofServer reports whether the engine is a server, and the worker its client.
func (r *Result) ofServer() bool { return assay.IsServer(r.Engine) }

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
	for _, c := range r.Controls {
		if !c.Caught {
			return true
		}
	}
	return false
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
	p.Held = p.States - p.Refuted
	if p.Kind = refutations[r.Refuted()]; p.Refuted > 0 && r.Worst != nil {
		p.Replay = r.Worst.ID
	}
	return p
}

// refutations are the kinds of damage in the words of a proof.
var refutations = map[Damage]assay.Refutation{
	Lost: assay.LosesCommits, Inconsistent: assay.TearsCommits, Unstable: assay.TearsCommits,
	Unwritable: assay.Corrupts, Corrupt: assay.Corrupts, Unopened: assay.DoesNotOpen,
}
