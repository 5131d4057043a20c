package assay

import (
	"maps"
	"slices"
	"time"
)

// Outcome says how a trial or a cell ended. Only an ok outcome is ranked.
type Outcome string

// The outcomes.
const (
	OK          Outcome = "ok"
	Unsupported Outcome = "unsupported"  // the worker cannot do it, and said so
	NotApplied  Outcome = "not-applied"  // a setting was requested and is not effective
	WrongAnswer Outcome = "wrong-answer" // an answer differs from the expected one
	Failed      Outcome = "failed"       // an operation or the worker failed
	TimedOut    Outcome = "timed-out"    // no answer within the time limit
	NotRun      Outcome = "not-run"      // the budget ended before its turn
)

// severity orders outcomes: where several hold, the highest is reported.
var severity = map[Outcome]int{
	OK: 0, NotRun: 1, Unsupported: 2, TimedOut: 3, NotApplied: 4, WrongAnswer: 5, Failed: 6,
}

// Outcomes are all of them, the mildest first.
func Outcomes() []Outcome {
	return slices.SortedFunc(maps.Keys(severity), func(a, b Outcome) int { return severity[a] - severity[b] })
}

// Worse returns the one of two outcomes that is to be reported.
func Worse(a, b Outcome) Outcome {
	if severity[b] > severity[a] {
		return b
	}
	return a
}

// Durability says what is lost when. Until a power-cut test has proved it, it
// is what the settings claim.
type Durability string

// The classes of durability, weakest first: each promises what the one before it
// does, and more. The application is the process that has the database open, or
// the client of a server. A server that is killed may lose what a power cut may.
const (
	DurabilityUnknown Durability = ""            // not derivable from the settings read back
	None              Durability = "none"        // a killed application may lose or corrupt data
	Process           Durability = "process"     // survives a killed application; a power cut may corrupt
	Consistent        Durability = "consistent"  // as Process, and a power cut loses the newest commits only, however many
	LastCommit        Durability = "last-commit" // as Consistent, and of these commits at most the last
	Power             Durability = "power"       // every acknowledged commit survives a power cut
)

// Durabilities are the classes, weakest first.
var Durabilities = []Durability{DurabilityUnknown, None, Process, Consistent, LastCommit, Power}

// AtLeast reports whether the class promises what another one does.
func (d Durability) AtLeast(other Durability) bool {
	return slices.Index(Durabilities, d) >= slices.Index(Durabilities, other)
}

// Weaker returns the class that promises less.
func (d Durability) Weaker(other Durability) Durability {
	if d.AtLeast(other) {
		return other
	}
	return d
}

// Loss says in words what data of the class can lose; empty where the class is
// not known.
func (d Durability) Loss() string {
	switch d {
	case Power:
		return "every acknowledged commit survives a power cut"
	case Consistent:
		return "a power cut loses the commits since the last sync"
	case LastCommit:
		return "a power cut loses at most the last commit"
	case Process:
		return "survives a killed application; a power cut may corrupt the data"
	case None:
		return "a killed application may lose or corrupt data"
	}
	return ""
}

// Setting is one setting of one connection.
type Setting struct {
	Name       string
	Connection string // reader-1, writer-1, ...
	Requested  string // what the profile asks for; empty where it says nothing
	Issued     string // what the worker sent to its driver: a DSN key, a PRAGMA
	Effective  string // as read back
	Applied    bool   // requested and effective agree, or nothing was requested
}

// Warning is a doubt about a figure: a stable code, the evidence, and what to do.
type Warning struct {
	Code     string `json:"code"`
	Evidence string `json:"evidence"`
	Advice   string `json:"advice"`
}

// Mode says how a cell was measured.
type Mode string

// The modes of measuring. See docs/architecture.md for when each is right.
const (
	Windows Mode = "windows" // short windows, alternating between live instances
	Blocks  Mode = "blocks"  // a fixed number of operations, in parts or undivided
)

// Sample is one measured window or block.
type Sample struct {
	Operations int64 // completed and right
	Nanos      int64 // wall time, overrun included
}

// Bucket is one step of a latency histogram: Count operations took at most
// Upper nanoseconds and more than the bucket before.
type Bucket struct {
	Upper int64
	Count int64
}

// Noise holds what disturbed a launch, as shares of the machine's whole CPU time.
type Noise struct {
	Steal   float64 // taken by the hypervisor
	Foreign float64 // used by processes that are not ours
}

// Check says how much of what a trial did is compared with what is right. The
// number of rows of each operation always is.
type Check string

// The extents of checks, the smallest first.
const (
	CheckUnknown Check = ""        // of trials of earlier versions, and where it took too long to find the right answers
	CheckRows    Check = "rows"    // nothing but the numbers of rows
	CheckAnswers Check = "answers" // the answers of reading operations at some positions, before and after measuring: one client asks
	CheckSample  Check = "sample"  // likewise, and all clients at once run a random sample of the measured part again, with each answer compared
	CheckKeys    Check = "keys"    // after the block, a sample of the keys of a store or of rows: each holds a value that was written to it
	CheckState   Check = "state"   // after the block, the whole answer to the plan's check, or all of the store
)

// Trial is one cell in one launch: its figures, counters and outcome.
type Trial struct {
	Cell Cell
	Run  string // the earlier run that it is of, where several are analyzed together: launches of two runs are never paired
	// Ablation marks a trial of the ablation, which leaves out one setting at a time
	// after the plan's own cells are measured. Its groups are not those of the plan's
	// cells, whatever they are called.
	Ablation bool
	Group    string // of instances that are measured in the same launches
	Launch   int    // counts from 1 within the group; trials of one launch are paired
	Layout   int    // of the worker program: launches of one layout share what it does to them; 0: there is one only
	Twin     bool   // the baseline again: the A/A test of the run
	Mode     Mode
	Outcome  Outcome
	Reason   string // why the outcome is not ok, with the worker's own words

	Figures   map[string]float64 // by metric name; absent where it was not or cannot be measured
	Samples   []Sample           // raw windows or the one block
	Histogram []Bucket           // blocks only

	Settings   []Setting
	Durability Durability
	QueryPlan  string
	DSN        string   // as issued, with {{path}} for the file; empty where the driver has none
	Each       []string // SQL that the worker ran on every new connection
	Digest     string   // of the answers, hex
	Checked    Check
	Warnings   []Warning

	Started time.Time
	Took    time.Duration // measuring and everything around it
	Noise   Noise
	// Disqualified marks a trial of a launch that was disturbed from outside.
	// Its figures are kept; they do not enter the centre or the ratios.
	Disqualified bool
}

// Measured reports whether the trial has figures. One whose requests failed in
// part has those of the others, and is never compared.
func (t *Trial) Measured() bool {
	return t.Outcome == OK || t.Outcome == NotApplied || t.Outcome == Failed && len(t.Figures) > 0
}

// PermanentFailure reports whether the trial has no figures and another launch would have
// none either.
func (t *Trial) PermanentFailure() bool { return !t.Measured() && t.Outcome != NotRun }
