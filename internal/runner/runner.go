//go:build unix

// Package runner measures cases. It groups them so that what is compared is
// measured in the same launch, decides what to launch next, and hands every
// finished trial to a function; it knows neither where trials are kept nor
// how they are shown.
//
// The main flow: Prepare asks the workers what they are (identify), makes data,
// argument sequences and expected answers (prepare) and groups the cases. Run launches
// groups, round by round, as package schedule says: every group the minimum number of
// times, and then those whose intervals are too wide, until the budget ends.
// Where it ends in a launch, the operation that is measured then is the last.
// Launch launches the groups of some cases once, for a caller that decides itself
// what comes next.
//
// A launch starts fresh processes on fresh copies of the data. Operations that
// change nothing, with few clients, are measured in windows that alternate
// between the group's instances, all others in blocks: those of one client of SQLite in parts
// that alternate likewise, the rest undivided, one instance at a time.
package runner

import (
	"cmp"
	"context"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"assay"
	"assay/internal/dataset"
	"assay/internal/dataset/oracle"
	"assay/internal/runner/host"
	"assay/kit/postgres/cluster"
	"assay/kit/process"
)

// Program is a worker program that was built.
type Program struct {
	Path    string   // executable
	Digest  string   // of its build
	Version string   // of the driver, where the program cannot say it; empty: its own word
	Options []string // compile options that were asked for
	// Layouts are paths of the same program in other link layouts, which
	// launches take in turn; empty where Path is all there is.
	Layouts []string
	// FixedLayout warns that code was compared whose layout did not vary, and
	// says which; empty where there is no such doubt.
	FixedLayout string
	Caution     string // what to know before choosing the driver; empty: nothing
}

// path is the program of a launch, which counts from 1, and the number of its
// layout; 0 where there is one only.
func (p Program) path(launch int) (path string, layout int) {
	if len(p.Layouts) == 0 || launch < 1 {
		return p.Path, 0
	}
	i := (launch - 1) % len(p.Layouts)
	return p.Layouts[i], i + 1
}

// Machine holds what all measuring on a machine has in common.
type Machine struct {
	Data dataset.Cache
	Work *Workspace
	// HostLock is the file by which those that measure on this machine take turns; empty: the
	// turns are those of the cache folder.
	HostLock string
	// Assay is the path of this program, which makes the load for operations that
	// are served: assay load, in a process of its own.
	Assay  string
	Strace string     // path of strace, by which commits are traced; empty: they are not
	Traces TraceCache // what earlier runs saw so
	Wire   io.Writer  // gets a copy of what assay and the workers send each other; nil: no copy
	// Progress gets an event before each launch and trial. It may be nil.
	Progress func(Event)
}

// Config says what to measure, where and how well.
type Config struct {
	Machine
	Cases     []assay.Case
	Programs  map[string]Program // by Driver: NAME[@VERSION][:OPTION...] as the plan or command line has it
	Baseline  assay.Baseline     // as it was asked for; Runner.Baseline has the target's name
	Ablation  bool               // the cases are those of the ablation, which a run measures behind its own
	Seed      uint64
	Launches  int           // at least, of every cell
	Budget    time.Duration // of measuring; 0: as long as it takes
	Kept      time.Duration // of the run's budget, for what a run measures behind these cases
	Precision float64       // target half-width of the confidence intervals of ratios, as a fraction
	Exact     bool          // large differences reach Precision, too; otherwise a third of the difference is narrow enough
	LeaveOut  bool          // profiles and drivers are left out of a run whose budget is too small for a launch of all
	InTurn    bool          // all groups get as many launches as the budget allows, whatever they need
	Timeout   time.Duration // of one request to a worker
	// LatencyTarget has the capacity of served operations searched instead of
	// measuring them; nil: none.
	LatencyTarget *LatencyTarget
	// Files has the copies of users' own files that were made before. Prepare adds
	// those that are missing; nil is none.
	Files Files
	// Done holds what a resumed run has already: trials by cell.
	Done []assay.Trial
	// Emit gets every trial as soon as it is finished. Its error ends the run.
	Emit func(assay.Trial) error
}

// Phase says what the runner is at.
type Phase int

// The phases. The last four are said once: the budget is too small; what it is too
// small for before that is measured; others use much of the machine, as Event.Load says; and
// what is measured only if the budget has time left.
const (
	Preparing Phase = iota + 1
	Waiting
	Measuring
	BudgetTooSmall
	LeftOut
	MachineBusy
	LeftForLast
)

// Event says what the runner does.
type Event struct {
	Phase  Phase
	What   string        // in words
	Done   time.Duration // of the budget
	Total  time.Duration // that the run will take; 0: unknown, but no longer than the budget
	Budget time.Duration // of measuring; 0: as long as it takes
	Round  int           // counts from 1
	Load   host.Load     // of MachineBusy
}

// Runner measures cases that are prepared: in one run, or launch by launch.
type Runner struct {
	config   Config
	storage  storage
	workers  map[string]identity // by Driver
	prepared preparations
	observed observations
	ready    map[string]readyCase // by the Key that a case's cell was asked for by
	measurement
}

// measurement is a run under way, or one launch for a caller that makes several.
type measurement struct {
	random     *rand.Rand
	baseline   assay.Baseline // with the name of its target
	unmeasured []assay.Trial  // of the cells that cannot be measured
	groups     []*group       // of those that can
	totals     totals         // of both
	clock      clock
	first      firstRound
	busy       bool    // others took so much of the machine before the first window that they disturb each
	warned     bool    // that the budget is too small
	longer     float64 // how many times as long work takes on it; 0: unknown
	time       timing  // of the launches
}

// Prepare does everything that is needed before measuring: it starts each program
// once to know its target, makes datasets, argument sequences and expected answers,
// and groups the cases. Its error means that nothing can be measured.
func Prepare(ctx context.Context, config Config) (*Runner, error) {
	if config.Files == nil {
		config.Files = Files{}
	}
	if config.Wire != nil {
		config.Wire = &lineWriter{to: config.Wire}
	}
	config.Data.Timeout = config.Timeout
	r := &Runner{config: config, prepared: newPreparations(), ready: map[string]readyCase{},
		observed: observations{limits: map[int]float64{}, unloadable: map[int]error{}, tracings: map[string]tracing{}, noDelays: map[string]bool{}}}
	r.storage.durability, r.storage.loss = host.Persistence(config.Work.Dir)
	if err := r.identify(ctx); err != nil {
		return nil, err
	}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	r.begin(config.Cases, 0)
	if slices.ContainsFunc(config.Done, func(t assay.Trial) bool { return t.Has(assay.ComputePerOp) }) {
		r.setBusy()
	}
	r.recall(config.Done)
	return r, nil
}

// begin begins a measurement of some of the prepared cases: a launch with a number, or
// a run, which has the number 0.
func (r *Runner) begin(cases []assay.Case, launch int) {
	r.measurement = measurement{random: rand.New(rand.NewPCG(r.config.Seed, stream(len(r.config.Done), launch))), baseline: r.config.Baseline}
	r.baseline.Driver = r.baselineTarget(cases)
	var jobs []*job
	for _, c := range cases {
		switch made := r.ready[c.Cell.Key()]; {
		case made.job != nil:
			jobs = append(jobs, made.job)
		case made.sum != nil:
			r.totals.add(*made.sum)
		case made.unmeasured != nil:
			r.unmeasured = append(r.unmeasured, *made.unmeasured)
		}
	}
	r.groups = groupCases(jobs, r.baseline)
	setSizes(r.groups)
	r.totals.group(r.groups, r.baseline)
}

// stream tells the random choices of a process apart from those of others of the same
// run: of one that resumes it with the trials that are done, or that makes another launch.
func stream(done, launch int) uint64 { return uint64(done) + uint64(launch)<<32 }

// Targets returns what the workers said of themselves, in the order of the
// cases.
func (r *Runner) Targets() []assay.Target {
	var targets []assay.Target
	seen := map[string]bool{}
	for _, c := range r.config.Cases {
		key := c.Cell.Target()
		if w := r.workers[key]; w.known() && !seen[key] {
			seen[key] = true
			targets = append(targets, w.target)
		}
	}
	return targets
}

// baselineTarget is the baseline's driver as the worker names it; the name that was
// asked for where none of its builds has said what it is.
func (r *Runner) baselineTarget(cases []assay.Case) assay.DriverName {
	var cells []assay.Cell
	for _, c := range cases {
		if r.workers[c.Cell.Target()].known() {
			cells = append(cells, c.Cell)
		}
	}
	if i := r.config.Baseline.Driver.Closest(cells); i >= 0 {
		return r.workers[cells[i].Target()].target.DriverName()
	}
	return r.config.Baseline.Driver
}

// Baseline returns what the others are compared with.
func (r *Runner) Baseline() assay.Baseline { return r.baseline }

// Files are the copies of users' own files that the cases have.
func (r *Runner) Files() Files { return r.config.Files }

// Spent returns where the wall time of the launches of the run went, or of the last call
// of Launch.
func (r *Runner) Spent() assay.Spent { return r.time.spent() }

func (r *Runner) progress(phase Phase, what string, total time.Duration) {
	if r.config.Progress != nil {
		r.config.Progress(Event{Phase: phase, What: what, Done: r.clock.elapsed(), Total: total, Budget: r.config.Budget, Round: r.clock.round})
	}
}

func (r *Runner) emit(t assay.Trial) error {
	t.Ablation = r.config.Ablation
	r.totals.note(t)
	return r.config.Emit(t)
}

// budget is the time for measuring; without one, more than any run takes.
func (r *Runner) budget() time.Duration { return cmp.Or(r.config.Budget, math.MaxInt64/2) }

// shuffled returns the numbers below n in random order.
func (r *Runner) shuffled(n int) []int { return r.random.Perm(n) }

// storage holds what the file system of the databases allows.
type storage struct {
	durability assay.Durability // the strongest class
	loss       string           // why that is not assay.Power
}

// preparations holds what is made once for all cells that need it, by what it follows
// from.
type preparations struct {
	keys      map[string]*oracle.Keys
	rows      map[string]*oracle.Rows
	anyOrder  map[string]*bool    // whether a check's answer is the same in every order of commits; nil: there was no time
	told      map[string][]string // what is answered behind blocks, and in those of one unit
	server    cluster.Programs    // the installed PostgreSQL; without a version until it was looked for
	elsewhere map[string]filled   // the datasets that are in PostgreSQL and DuckDB
	late      map[string]error    // what took too long to prepare, each with its *failure
}

func newPreparations() preparations {
	return preparations{keys: map[string]*oracle.Keys{}, rows: map[string]*oracle.Rows{}, anyOrder: map[string]*bool{}, told: map[string][]string{},
		elsewhere: map[string]filled{}, late: map[string]error{}}
}

// once returns what is known by a key, or finds it. What it does not find within the
// limit stays unknown, and that is no error.
func once[T any](ctx context.Context, known map[string]T, key string, limit time.Duration, find func(context.Context) (T, error)) (T, error) {
	if found, ok := known[key]; ok {
		return found, nil
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	found, err := find(limited)
	if err != nil && limited.Err() == nil || ctx.Err() != nil {
		return found, err
	}
	known[key] = found
	return found, nil
}

// observations holds what was seen beside the trials, which checks and figures of later
// ones need.
type observations struct {
	limits     map[int]float64    // requests a second that the load generator reaches, by clients
	unloadable map[int]error      // why the load generator cannot have so many clients
	tracings   map[string]tracing // of the syncs of cells, by traceKey
	traced     spent              // on those that this run made
	paces      paces
	slow       map[string]slowness // what calls took longer than the worker said, by the key of paces
	noDelays   map[string]bool     // targets whose delays the system did not confirm
}

// slowness says what is known of calls that take longer than the worker says.
type slowness int

const (
	fast        slowness = iota // none did
	stalled                     // one did, maybe by an accident
	unconfirmed                 // several did, and its threads have ended: it may have waited
)

// clock says how far a run is.
type clock struct {
	spent time.Duration // of the budget, before this process
	began time.Time     // measuring, in this process
	lost  time.Duration // in pauses of this process, before it began
	round int           // counts from 1
}

func (c *clock) begin() {
	c.began = time.Now()
	_, c.lost = process.Pauses()
}

// elapsed returns what is spent of the budget: a pause of this process is not.
func (c clock) elapsed() time.Duration {
	if c.began.IsZero() {
		return c.spent
	}
	_, lost := process.Pauses()
	return c.spent + time.Since(c.began) - (lost - c.lost)
}
