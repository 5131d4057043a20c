package crash

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/analysis/wording"
)

// DefaultBudget is for all targets and profiles together.
const DefaultBudget = 2 * time.Minute

// Request is which faults to do, and how often.
type Request struct {
	Plan     string // its name
	Faults   []assay.Fault
	States   int           // of each target and profile; 0: as many as the budget allows
	Budget   time.Duration // for all of them; 0: as long as it takes
	Seed     uint64
	Findings string // folder that counterexamples are kept in
}

// Subject is a driver with a profile that faults are done to.
type Subject struct {
	Name    string   // of the driver, by which a profile has literal DSNs
	Driver  string   // NAME[@VERSION][:OPTION...]
	Options []string // compile options of the worker
	Build   string   // digest of the worker's build
	Program string   // path of the worker
	Profile assay.Profile
	KV      bool   // the plan uses it as a key-value store
	Initial string // a prepared, empty database with settings of the file; empty: the worker makes it
}

// Check finds what is wrong with a request.
func (r Request) Check() error {
	switch {
	case r.States < 0:
		return fmt.Errorf("--states %d is negative", r.States)
	case r.Budget < 0:
		return fmt.Errorf("--budget %s is negative", r.Budget)
	}
	for _, fault := range r.Faults {
		if !slices.Contains(Faults(), fault) {
			return fmt.Errorf("unknown fault %q: want %s", fault, strings.Join(wording.Texts(Faults()), ", "))
		}
	}
	return nil
}

// Config says how the request is done: a task for each fault and subject, in as many lanes
// as the machine has processors.
func (r Request) Config(subjects []Subject) Config {
	tasks := r.tasks(subjects)
	lanes := min(runtime.NumCPU(), len(tasks))
	share(tasks, lanes, r.Budget)
	return Config{Tasks: tasks, Lanes: lanes}
}

// tasks returns the tasks of each fault, with its controls. A profile with literal DSNs is for the
// drivers that it has one for.
func (r Request) tasks(subjects []Subject) []Task {
	var tasks []Task
	for _, fault := range r.Faults {
		for _, s := range subjects {
			t := Task{Driver: s.Driver, Options: s.Options, Build: s.Build, Program: s.Program, Plan: r.Plan, Profile: s.Profile.Name,
				Settings: s.Profile.Settings, DSN: s.Profile.Raw[s.Name], Once: s.Profile.Once, Each: s.Profile.Each, Initial: s.Initial,
				Fault: fault, FileSystem: available(fault), Seed: r.Seed, States: r.States, Controls: true, Findings: r.Findings}
			if s.KV {
				t.Bytes = storeBytes
			}
			if len(s.Profile.Raw) == 0 || t.DSN != "" {
				tasks = append(tasks, t)
			}
		}
	}
	return tasks
}

// NotBuilt are the results of drivers without a worker, each with what to do: command
// builds one and shows all that its compiler says.
func NotBuilt(unbuilt []assay.Trial, command func(driver string) string) []Result {
	var all []Result
	seen := map[string]bool{}
	for _, t := range unbuilt {
		task := Task{Driver: t.Cell.Target(), Profile: t.Cell.Profile}
		if id := task.Driver + " " + task.Profile; !seen[id] {
			seen[id] = true
			result := Result{Task: task, Ending: Ending{Outcome: t.Outcome, Reason: t.Reason}}
			if result.Outcome == assay.Failed {
				result.Reason += "; the full compiler output: " + command(task.Driver)
			}
			all = append(all, result)
		}
	}
	return all
}

// Err says what the results come to; nil where all was tried and promises held. What is
// unsupported counts only where nothing else was tried.
func (r *Report) Err() error {
	refuted, void, untried, tried := 0, 0, 0, 0
	failed := map[string]bool{} // targets
	for _, r := range r.Results {
		switch {
		case r.Outcome == assay.Unsupported:
		case r.Outcome != assay.OK:
			failed[r.Task.Driver+" "+r.Task.Profile] = true
		case r.Void():
			void++
		case r.States == 0:
			untried++
		case r.Refuted() != Unharmed:
			refuted++
		default:
			tried++
		}
	}
	switch {
	case void > 0:
		return fmt.Errorf("%s void: a control that must fail did not", wording.Plural(void, "result"))
	case len(failed) > 0:
		return fmt.Errorf("%s could not be tried", wording.Plural(len(failed), "target"))
	case refuted > 0:
		return fmt.Errorf("%s refuted", wording.Plural(refuted, "promise"))
	case untried > 0:
		return fmt.Errorf("no state was checked for %s: give a larger --budget", wording.Plural(untried, "result"))
	case tried == 0:
		return errors.New("nothing was tried: these targets support none of the faults here; the report says why")
	}
	return nil
}
