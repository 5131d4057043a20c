// Package assay holds the vocabulary of the project: what a run, a cell and a
// trial are, how a trial can end, and which metrics it can have. It does no
// input or output and imports no other package of the module, so that every other
// package can use its terms.
//
// The main flow, from a user's plan to a verdict:
//
//	plan     decodes a plan and expands it to cells
//	build    makes one worker program per driver
//	dataset  makes the data, the argument sequences and the expected answers
//	runner   starts workers, measures, and emits one Trial at a time
//	store    keeps trials, each in a transaction of its own
//	analysis turns trials into figures, ratios, verdicts and warnings
//	report   prints an analysis in words, tables, charts and data formats
//
// Package lab connects them to a run, and cmd/assay calls it.
package assay

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Run is one execution of a plan: what is needed to believe its trials and
// to repeat them.
type Run struct {
	ID       string    // sortable by start time, for example 20261120-153000-1f2e
	Plan     string    // the plan's name
	PlanText string    // the plan's YAML as it was read
	PlanFile string    // its path, from which files that it names are found
	Options  Options   // what the command line changed
	Seed     uint64    // of the argument sequences and of every random order
	Started  time.Time // wall clock, UTC
	Finished time.Time // zero while the run is going on or was interrupted
	Status   Status
	Version  string            // of assay itself
	Host     map[string]string // facts of the machine, by name
	Targets  []Target          // one per driver and build, in plan order
	// Files are the digests of the data that users' own files gave, by the
	// file's path with its file settings: all trials are of this data.
	Files map[string]string
	// Baseline is what all others are compared with: its driver is that of one of
	// Targets.
	Baseline Baseline
	// Imported tells that the run came from another store, in a file.
	Imported bool
	// Proofs are what tests by faults showed of its targets with its profiles.
	// They are made apart from runs; the store adds those that fit.
	Proofs []Proof
	// MinTime is the time that the minimum number of launches of every cell was
	// estimated to take, measured in the first round; zero while unknown.
	MinTime time.Duration
	// Spent says where the wall time of the launches went; of a resumed run, of
	// all its parts that came to an end.
	Spent Spent
}

// ValidRunID reports whether an ID has the form that assay gives IDs. It is a
// part of file names: nothing else is one, wherever it is read.
func ValidRunID(id string) bool {
	if len(id) > 64 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return false
	}
	return id != "" && id[0] != '-'
}

// Machine names the machine in a few words; empty where nothing is known of it.
func (r Run) Machine() string {
	var parts []string
	add := func(fact, unit string) {
		if value := r.Host[fact]; value != "" {
			parts = append(parts, value+unit)
		}
	}
	add("cpu", "")
	add("cores", " cores")
	add("memory", "")
	return strings.Join(parts, ", ")
}

// NamedMachine is Machine with the first digits of the machine's ID, by which equal
// machines have names that differ.
func (r Run) NamedMachine() string {
	id := r.Host[identity[0]]
	return strings.TrimPrefix(r.Machine()+" #"+id[:min(4, len(id))], " ")
}

// identity are the facts that tell machines apart. Machines that were cloned share the
// first.
var identity = []string{"machine", "cpu", "cores", "memory"}

// OnMachine reports whether a run may have been made on the machine that has these
// facts: none that both have is another one.
func (r Run) OnMachine(facts map[string]string) bool {
	return !slices.ContainsFunc(identity, func(name string) bool {
		a, b := r.Host[name], facts[name]
		return a != "" && b != "" && a != b
	})
}

// The line in a stage's plan that says so, around its seed; the plan's name is between
// the first two.
const stageBegins, stageSeeds, stageEnds = "\n# ", ", seed ", ": the profiles of this run"

// StageLine returns what the plan of a stage of a tuning has behind the text of the plan that
// is tuned.
func StageLine(plan string, seed uint64) string {
	return fmt.Sprint(stageBegins, plan, stageSeeds, seed, stageEnds)
}

// IsStage reports whether a run is a stage of a tuning.
func (r Run) IsStage() bool {
	_, line, found := strings.Cut(r.PlanText, stageBegins+r.Plan+stageSeeds)
	line, _, _ = strings.Cut(line, "\n")
	return found && strings.HasSuffix(line, stageEnds)
}

// ProofsOf returns the proofs of a cell's target with its profile, one for each fault
// that was tried.
func (r Run) ProofsOf(c Cell) []Proof {
	return slices.DeleteFunc(slices.Clone(r.Proofs), func(p Proof) bool {
		return p.Target != c.Target() || p.Build != c.Build || p.Profile != c.Profile || c.Without != ""
	})
}

// Options are the parts of a run that the command line chose. They are kept
// so that a resumed run measures the same cells.
type Options struct {
	Drivers   []string            `json:"drivers"`            // NAME or NAME@VERSION; empty: the plan's
	Asked     []string            `json:"asked,omitzero"`     // the names by which Drivers were asked for, where one stands for several
	Only      map[string][]string `json:"only"`               // coordinates that select cells
	Budget    time.Duration       `json:"budget_ns"`          // of measuring, builds excluded
	Precision float64             `json:"precision"`          // target half-width of a confidence interval, as a fraction
	Exact     bool                `json:"exact,omitempty"`    // of large differences too, of which a third is narrow enough otherwise
	Margin    float64             `json:"margin"`             // within which two targets count as equivalent, as a fraction
	Capacity  string              `json:"capacity,omitempty"` // the latency at which capacities are searched, such as p99=5ms; empty: loads are as the plan says
	Replay    bool                `json:"replay,omitempty"`   // what was recorded is done again, instead of the plan's operations
	Launches  int                 `json:"launches"`           // minimum of each cell, fixed beforehand; the width of the confidence intervals decides on more
	Baseline  Baseline            `json:"reference,omitzero"` // what the others are compared with, instead of the plan's; zero: the plan's
}

// Status tells how far a run got.
type Status string

// The states of a run.
const (
	Running     Status = "running"
	Interrupted Status = "interrupted"
	Finished    Status = "finished"
)

// Target is a driver at a build, as its worker reports it.
type Target struct {
	Driver         string            // the worker's name: mattn
	DriverVersion  string            // the driver library's version: v1.14.52
	Engine         string            // the database: sqlite
	EngineVersion  string            // as the engine itself says: 3.53.4
	Build          string            // digest of everything that went into the worker program
	Facts          map[string]string // source id, cgo, thread mode, ...
	CompileOptions []string          // as the engine reports them, sorted
	Options        []string          // compile options that were asked for, such as DQS=0; empty: the driver's own
	Layouts        int               // link layouts that launches take in turn; 1: one, and the figures are of it alone
}

// DriverName is the driver with its version and the compile options asked for.
func (t Target) DriverName() DriverName {
	return DriverName{t.Driver, t.DriverVersion, strings.Join(t.Options, ":")}
}

// Name is DriverName in writing: mattn@v1.14.52:DQS=0.
func (t Target) Name() string { return t.DriverName().String() }

// IsFloor reports whether the target is the engine with no driver in between: others
// are compared with it, and nobody can choose it.
func (t Target) IsFloor() bool { return t.Facts["floor"] == "true" }

// Cell is one point of a plan's matrix: one operation with all its
// coordinates. Cells are comparable by Key.
type Cell struct {
	Plan          string
	Workload      string
	Operation     string
	Engine        string
	Driver        string
	DriverVersion string
	Build         string
	Options       string // compile options that were asked for: DQS=0:OMIT_SHARED_CACHE; empty: the driver's own
	Profile       string
	Without       string            // the one setting of the profile that is left out, to see what it does; empty: none
	Clients       int               // of each process
	Processes     int               // worker processes that share the database; 0 and 1: one
	Pool          int               // open connections for readers, of each process
	Idle          int               // connections kept idle
	Statement     string            // once, each or never
	Transaction   int               // operations to a transaction; 0: none, each commits alone
	Begin         Begin             // how the transactions of a changing operation begin; empty: as by default
	Rate          float64           // arrivals per second; 0: closed loop
	Params        map[string]string // the other axes
	AsPublished   bool              // a deliberately faulty condition: its failure is no failure of the run
}

// ArrivalsParam is the param of cells with an open load that says how requests arrive.
const ArrivalsParam = "arrivals"

// How the requests of an open load arrive: as those of independent users do, or at equal
// distances. In runs of earlier versions, whose cells have no such param, they were even.
const (
	PoissonArrivals = "poisson"
	EvenArrivals    = "even"
)

// Arrivals are all ways in which requests arrive; the first one is the default.
var Arrivals = []string{PoissonArrivals, EvenArrivals}

// ParamString returns the other axes as k=v;k=v sorted by name.
func (c Cell) ParamString() string {
	names := slices.Sorted(maps.Keys(c.Params))
	for i, name := range names {
		names[i] = name + "=" + c.Params[name]
	}
	return strings.Join(names, ";")
}

// DriverName returns the driver name of the cell's target.
func (c Cell) DriverName() DriverName { return DriverName{c.Driver, c.DriverVersion, c.Options} }

// Target is the Name of the cell's target.
func (c Cell) Target() string { return c.DriverName().String() }

// Key identifies the cell within a run.
func (c Cell) Key() string {
	return c.Peer() + "|" + c.Target() + "#" + c.Build + "|" + c.Profile + "|" + c.Without
}

// AllClients is the number of clients of all processes.
func (c Cell) AllClients() int { return c.Clients * max(1, c.Processes) }

// OfSQLite reports whether the cell's engine keeps data in files of SQLite.
func (c Cell) OfSQLite() bool { return c.Engine == "sqlite" || c.Engine == "turso" }

// Begun returns how the cell's transactions begin, whether its plan says so or not; empty where
// the cell has none, or none of SQLite.
func (c Cell) Begun() Begin {
	if c.Begin == "" && c.Transaction > 0 && (c.OfSQLite() || c.Engine == "") {
		return Immediate
	}
	return c.Begin
}

// TransactionString is a transaction size as plans and CSV write it: none for
// zero, otherwise the number of operations.
func TransactionString(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}
