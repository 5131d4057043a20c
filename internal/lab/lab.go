// Package lab makes runs: from a plan to trials in the store. It builds the
// workers, has the data made, measures, and stores every trial as it comes. It
// reads no flags and prints nothing: it tells a Watcher what it does.
package lab

import (
	"context"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"assay"
	"assay/internal/build"
	"assay/internal/dataset"
	"assay/internal/plan"
	"assay/internal/runner"
	"assay/internal/runner/host"
	"assay/internal/store"
	"assay/internal/sys/guard"
)

// Lab holds what all runs on a machine share.
type Lab struct {
	Cache  string       // folder of workers, data and running databases
	Source build.Source // of the workers
	// Checkouts are drivers' sources in folders, which are asked for by their version.
	Checkouts []build.Checkout
	Bundle    *build.Bundle // that this program was unpacked from; nil: from none
	Version   string        // of assay, which runs keep
	HostLock  string        // file by which those that measure on this machine take turns; empty: those of a cache folder do
	Wire      io.Writer     // gets a copy of the talk with the workers; nil: nobody
	Watcher   Watcher
	// Ended is told of each run that has ended, finished or interrupted; nil: nobody is.
	Ended func(ctx context.Context, s *store.Store, run string)
}

func (l *Lab) ended(ctx context.Context, s *store.Store, run string) {
	if l.Ended != nil {
		l.Ended(ctx, s, run)
	}
}

// Watcher follows a run. Lab calls its methods between measurements only, and
// several at the same time while it builds workers.
type Watcher interface {
	Build(build.Event)
	Data(table string, done, rows int)
	Measure(runner.Event)
	Trial(assay.Run, assay.Trial)
	Note(text string)
}

// Request says what to run.
type Request struct {
	Plan     *plan.Plan
	PlanFile string                // where the plan lies: files that it names are found from there
	Drivers  []string              // instead of the plan's; * stands for the maintained Go drivers of its engine, and all for every driver that can run it
	Baseline assay.Baseline        // what the others are compared with; zero: the plan's
	Only     map[string][]string   // coordinates that select cells
	Sides    []map[string][]string // of comparisons, two each: of the selected cells those that are on one; empty: all; a resumed run forgets them
	Budget   time.Duration         // of measuring; 0: the plan's
	Target   float64               // half-width of all confidence intervals, those of large differences too, as a fraction; 0: the plan's, or a third of a difference
	Margin   float64               // within which two count as equivalent, as a fraction; 0: the plan's
	LeaveOut bool                  // profiles and drivers are left out, where the budget is too small for a launch of all; a resumed run forgets it
	Capacity string                // the latency target at which capacities are searched, such as p99=5ms
	Replay   bool                  // what the plan has recorded is done again, instead of its operations
	Resume   bool                  // the latest unfinished run of this plan instead of a new one
}

// Result holds what became of a run.
type Result struct {
	ID    string        // of the run; empty where none was begun
	Took  time.Duration // wall time of the launches, without the wait for another assay
	Spent assay.Spent   // where that went, of a resumed run with what went before
	Kept  bool          // the run has trials
}

// InputError is an error in the request, with hints for the user.
type InputError struct {
	Err   error
	Hints []string
}

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

// AsInputError makes an error one of the request; nil stays nil.
func AsInputError(err error, hints ...string) error {
	if err == nil {
		return nil
	}
	return &InputError{err, hints}
}

// driversHint is about a driver that does not exist.
const driversHint = "assay drivers lists the drivers"

func (l *Lab) builder() *build.Builder {
	return &build.Builder{Source: l.Source, Cache: l.Cache, Log: l.Watcher.Build, Checkouts: l.Checkouts, Bundle: l.Bundle, Hello: build.AskHello}
}

// Datasets is the cache of prepared data.
func (l *Lab) Datasets() dataset.Cache {
	return dataset.Cache{Dir: filepath.Join(l.Cache, "data"), Progress: l.Watcher.Data}
}

// machine returns what all measuring has in common.
func (l *Lab) machine(work *runner.Workspace) runner.Machine {
	strace, _ := exec.LookPath("strace") // without it, no commits are traced
	return runner.Machine{Data: l.Datasets(), Work: work, HostLock: l.HostLock, Assay: Self(), Strace: strace,
		Traces: runner.TraceCache(filepath.Join(l.Cache, "traces", url.PathEscape(l.Version))), Wire: l.Wire, Progress: l.Watcher.Measure}
}

// Workspace makes a folder for a purpose other than a run. If it is not closed, the
// next run removes it.
func (l *Lab) Workspace() (*runner.Workspace, error) { return l.workspace(newRunID()) }

// Storage is the strongest class of durability that databases can have where they are
// measured, and why it is no stronger.
func (l *Lab) Storage() (strongest assay.Durability, why string) {
	return host.Persistence(filepath.Join(l.Cache, "runs"))
}

func (l *Lab) workspace(runID string) (*runner.Workspace, error) {
	return runner.NewWorkspace(filepath.Join(l.Cache, "runs"), runID)
}

// Self is the path of this program.
func Self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// Run measures what is requested and keeps it in the store. Where it fails or
// ctx ends, the run can be resumed if the result has its ID. A panic in it is an
// error too, a *guard.Panic.
func (l *Lab) Run(ctx context.Context, s *store.Store, request Request) (Result, error) {
	r := &run{lab: l, store: s}
	err := guard.Error(func() error { return r.execute(ctx, request) })
	return r.result, err
}

// Unmappable says why a database had better not be mapped into memory: the user's file, or
// what is measured; empty where nothing speaks against it.
func (l *Lab) Unmappable(file string) string {
	if file == "" {
		return host.Unmappable(filepath.Join(l.Cache, "runs"))
	}
	return host.Unmappable(filepath.Dir(file))
}
