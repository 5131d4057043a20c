package analysis

// Trait says what displays and audits have to know of a kind of doubt beside its words.
type Trait uint

// The traits.
const (
	// Grave: the figure is not what it is taken for. It is named before the others.
	Grave Trait = 1 << iota
	// Shown: other marks, the column of durability or the run show it, and the figure
	// has no mark of its own.
	Shown
	// Obvious: in a table that has some, the mark of what is undecided, and the command
	// that decides it, say it all.
	Obvious
	// OfUse: it affects every program that uses the target with the settings, and stands beside these.
	OfUse
)

// Kinds are all kinds of doubts by code, with their traits: those that this package raises by
// Row.warn, and those that trials report. A new kind has a row here.
// The reference has the comment behind a row: what was found; what to do.
var Kinds = map[string]Trait{
	"acknowledged-unsynced": Grave | OfUse,   // settings promise `power`, the trace shows commits without a sync before; do not rely on the promise
	"autocorrelation":       0,               // launches resemble those before; repeat at another time
	"begin-immediate":       Grave,           // the DSN says how transactions begin, the plan does not: assay begins with BEGIN IMMEDIATE; to compare, `begin: [deferred, immediate]`
	"beyond-disk":           Grave,           // a client commits over 1.5 times as often as the disk can sync; check whether syncs reach the disk
	"busy":                  Grave | OfUse,   // over one "busy" in a hundred operations; set `busy_timeout` (with 0 the row has no rank and no ratio)
	"caution":               OfUse,           // the driver is in beta, or not maintained (`assay drivers`); prefer another one where it is fast enough
	"dropped":               Shown,           // other programs or the hypervisor took time of launches, which do not count; stop other programs, or use a quieter machine
	"disturbed":             Shown,           // other programs or the hypervisor took time of launches, which count because too few others are left; stop other programs, or use a quieter machine
	"drift":                 0,               // figure or ratio changes over the launches by more than the margin; look for a machine that warms up or data that grow, and repeat the run at another time where it is the ratio
	"failed-requests":       0,               // of a published claim, a few requests failed, which its source may have counted otherwise; look at the rate
	"few-launches":          Shown | Obvious, // fewer launches than an interval needs; give the run a larger budget
	"few-samples":           0,               // fewer than 100 requests lie beyond the percentile in each step that confirms a capacity; use a lower percentile in `--find-capacity`
	"generator-bound":       0,               // over 80 % of what the load generator reaches without a database, or it was late; give it more processors, or compare at a lower rate
	"grows":                 Grave,           // an operation takes over 1.5 times as long with the largest `n` as with the smallest; compare at your own `n`
	"inside-default-cache":  0,               // the data fit into the cache that a setting enlarges; measure on a larger table
	"known-bug":             Grave | OfUse,   // a fault of this engine version loses or damages data (`assay advisories`); use a build with the fix
	"layout":                Shown,           // the functions of one target lie in the same order in all launches (one link layout); do not trust differences of a few percent, up to ten
	"memtable-not-filled":   0,               // a block of a log-structured store had no flush or compaction; raise `count`
	"no-checkpoint":         0,               // a block wrote less WAL than `wal_autocheckpoint`, or that is 0: checkpoints are only in `close-ns`; raise `count`, or set it
	"no-phases":             0,               // the driver does not show phases; do not compare them
	"noise":                 Shown,           // the A/A test differs by more than the margin; run on a quieter machine, or accept a wider margin
	"not-compared":          0,               // answers, or what changes leave, are not compared: they follow from the order of the clients, the profile lets no other connection read them, or the worker does not tell them; measure with one client and another profile too, or give it a `check` that is the same in every order
	"not-steady":            0,               // windows still change in the second half of a launch; use blocks with a longer `count`
	"not-traced":            Shown,           // commits could not be traced: a store's `sync` is claimed; install `strace`, allow tracing, or give a longer budget
	"option-without-effect": Shown,           // two rows that differ in one option are equivalent; leave it out, where durability differs, use the stronger
	"overloaded":            0,               // over 1 % of the requests of an open load, and more than by chance, were not answered in time, or one was never sent; compare at a lower rate
	"own-loop":              0,               // over 5 % of the figure is the worker's loop (`loop-ns/op`), in Python, Node.js or Ruby; compare with drivers of the same library
	"processes-differ":      0,               // all processes worked at the same time for less than 80 % of a block, or one had over twice the errors or busy answers of another; raise `count`, or look at what one keeps from the others
	"refuted-durability":    Grave | OfUse,   // a fault broke the promise, the row is ranked in the class that is left; use other settings, or rely on less
	"reopens":               0,               // the pool closed and opened connections under load; keep as many idle as may be open
	"same-engine":           Shown,           // two drivers have the same engine source and options; attribute the difference to the driver, and to how the engine was compiled
	"scan":                  Grave,           // it reads a whole table, others look rows up; look for a missing primary key or index
	"shared-cpus":           0,               // load generator and server share processors; measure with four processors or more, under Linux
	"short-sequence":        0,               // windows draw from more rows than their sequence has positions (2,097,152); read it as a working set of that size
	"skewed":                0,               // a few launches lie far out on one side; look for stalls
	"split-transaction":     0,               // transactions too big for the engine were committed in parts; compare with smaller transactions
	"stalls":                Grave,           // the total is over 1.05 times the median window, in three launches or more; look for checkpoints, compactions, collections
	"storage-loses-syncs":   0,               // the file system or device may lose synced data; set `XDG_CACHE_HOME` to a local disk
	"stronger-sync-faster":  Grave,           // the profile that promises more is faster; compare `sync-before-ack` of both
	"two-modes":             0,               // two groups of launches, further apart than the margin; look at both groups: their mean describes neither
	UnequalDurability:       Shown,           // the baseline is of another class: not compared; set the durability in the profile
	"unconfirmed-clock":     Grave,           // calls took longer than the worker says, whose threads have ended; measure on a quieter machine, or let its threads live
	"unequal-syncs":         0,               // the baseline, of one class, syncs otherwise; the difference can be what they sync
	"unknown-durability":    Grave,           // settings do not tell the class; set those that decide it
	"unknown-noise":         Shown,           // no A/A test of the baseline; check the outcome of its twin
}

// Is reports whether warnings of this kind have a trait.
func (w Warning) Is(t Trait) bool { return Kinds[w.Code]&t != 0 }
