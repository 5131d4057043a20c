package crash

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay"
	"assay/internal/crash/powercut"
)

// Report holds what a command tried, ready to be printed.
type Report struct {
	Title   string // the plan
	Command string // that makes it again
	Replay  func(id string) string
	Results []Result
	Width   int // of text, in columns; 0: there is no terminal
}

// Target is one driver with one profile, with a result for each fault.
type Target struct {
	Driver, Profile string
	Results         []*Result // in the order of Report.Faults; nil: not tried
}

// Faults returns the faults that were tried, in the usual order.
func (r *Report) Faults() []assay.Fault {
	return slices.DeleteFunc(Faults(), func(f assay.Fault) bool {
		return !slices.ContainsFunc(r.Results, func(x Result) bool { return x.Task.Fault == f })
	})
}

// Targets are the rows of the matrix, by driver and profile.
func (r *Report) Targets() []Target {
	columns := r.Faults()
	rows := map[string]*Target{}
	for i := range r.Results {
		result := &r.Results[i]
		id := result.Task.Driver + "\x00" + result.Task.Profile
		if rows[id] == nil {
			rows[id] = &Target{Driver: result.Task.Driver, Profile: result.Task.Profile, Results: make([]*Result, len(columns))}
		}
		for k, fault := range columns {
			if result.Task.Fault == fault || result.Task.Fault == "" { // a driver that could not be built has no fault
				rows[id].Results[k] = result
			}
		}
	}
	var all []Target
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		all = append(all, *rows[id])
	}
	return all
}

// shown is the result that says most about the target itself.
func (t Target) shown() *Result {
	for _, r := range t.Results {
		if r != nil && r.Target != "" {
			return r
		}
	}
	return &Result{}
}

// Name is the target with its versions, as far as a worker said them.
func (t Target) Name() string {
	r := t.shown()
	name := cmp.Or(r.Target, t.Driver)
	if r.Version != "" && !strings.HasSuffix(name, "@"+r.Version) {
		name += " (" + r.Engine + " " + r.Version + ")"
	}
	return name
}

// Claims is the class that the settings claim.
func (t Target) Claims() string { return cmp.Or(string(t.shown().Claimed), "unknown") }

// Settings returns the settings that decide it, as they were read back.
func (t Target) Settings() string {
	var all []string
	settings := t.shown().Settings
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if name != "memory" {
			all = append(all, name+" "+settings[name])
		}
	}
	return strings.Join(all, ", ")
}

// Cells are the row's counts.
func (t Target) Cells() []string {
	var all []string
	for _, r := range t.Results {
		all = append(all, r.Cell())
	}
	return all
}

// damages are the kinds of damage that were seen, the worst first.
func (r *Result) damages() []Damage {
	all := slices.DeleteFunc(slices.Collect(maps.Keys(r.Counts)), func(d Damage) bool { return d == Unharmed || r.Counts[d] == 0 })
	slices.SortFunc(all, func(a, b Damage) int { return b.severity() - a.severity() })
	return all
}

// Cell is the result as counts: how many states held, and what befell the others.
// An exclamation mark says that a promise was refuted.
func (r *Result) Cell() string {
	switch {
	case r == nil:
		return "-"
	case r.Outcome != assay.OK:
		return string(r.Outcome)
	case r.Void():
		return "void"
	case r.States == 0:
		return "no state"
	}
	parts := []string{fmt.Sprintf("%d held", r.Counts[Unharmed])}
	for _, d := range r.damages() {
		parts = append(parts, fmt.Sprintf("%d %s", r.Counts[d], d))
	}
	if r.Unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d unknown", r.Unknown))
	}
	text := strings.Join(parts, ", ")
	if r.Refuted() != Unharmed {
		text += "!"
	}
	return text
}

// Plain says in a sentence what a fault does to a program that uses the target with the profile.
func (r *Result) Plain() string {
	text := r.subject() + ": " + strings.TrimRight(r.words(), ".\n") + "."
	if r.Outcome == assay.OK && !r.Void() && r.beyondLoss() {
		text += " Keep a backup that you have restored once."
	}
	return text
}

// Documentation holds the promise against what was seen; empty where no promise
// is known.
func (t Target) Documentation() string {
	p, ok := t.shown().Documented()
	if !ok {
		return ""
	}
	verdict := ""
	for _, r := range t.Results {
		switch {
		case r == nil || r.Outcome != assay.OK || r.Void() || r.States == 0:
		case p.Contradicts(r):
			verdict = " NOT what was seen: " + strings.ToLower(r.subject()) + " does more than that."
		case verdict == "":
			verdict = " Nothing here contradicts that."
		}
	}
	return fmt.Sprintf("Documented (%s): %s.%s", p.Class, p.Says, verdict)
}

// Source returns where the promise stands; empty where none is known.
func (t Target) Source() string {
	p, _ := t.shown().Documented()
	return p.Source
}

// Sentences say what each fault does, without what could not be tried: that is
// said once for all targets.
func (t Target) Sentences() []string {
	var all []string
	for _, r := range t.Results {
		if r == nil || r.Outcome == assay.Unsupported || r.Task.Fault == "" {
			continue
		}
		text := r.Plain()
		if opening := r.opening(); opening != "" {
			text += " " + opening + "."
		}
		if moments := r.moments(); moments != "" {
			text += " Moments: " + moments + "."
		}
		all = append(all, text)
	}
	return all
}

// opening says how long a database took at the most to open after the fault,
// recovery included; empty where none opened.
func (r *Result) opening() string {
	if r.SlowestNs == 0 || r.Outcome != assay.OK {
		return ""
	}
	took := fmt.Sprintf("%.1f ms", float64(r.SlowestNs)/1e6)
	if r.SlowestNs >= 1e9 {
		took = fmt.Sprintf("%.1f s", float64(r.SlowestNs)/1e9)
	}
	return "Opening it afterwards took " + took + " or less"
}

// moments counts the states by what was going on, the most frequent first; empty
// where there was but one thing.
func (r *Result) moments() string {
	if len(r.ByMoment) < 2 {
		return ""
	}
	all := slices.SortedFunc(maps.Keys(r.ByMoment), func(a, b powercut.Moment) int {
		return cmp.Or(cmp.Compare(r.ByMoment[b], r.ByMoment[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, m := range all {
		parts = append(parts, fmt.Sprintf("%s %d", m, r.ByMoment[m]))
	}
	return strings.Join(parts, ", ")
}

// NotTried lists, once each, what could not be tried and why: what is unsupported, and
// drivers that could not be built.
func (r *Report) NotTried() []string {
	var all []string
	for i := range r.Results {
		result := &r.Results[i]
		if result.Outcome != assay.Unsupported && result.Task.Fault != "" {
			continue
		}
		what := string(result.Task.Fault)
		if what == "" || Missing(result.Task.Fault, result.Task.FileSystem) == "" { // it is the target that cannot do it, and not the machine
			what = result.Task.Driver + ", " + result.Task.Profile
		}
		all = addNew(all, what+": "+result.Reason)
	}
	return all
}

// Lessened lists, once each, what was done less than is possible, and what that
// takes.
func (r *Report) Lessened() []string {
	var all []string
	for _, result := range r.Results {
		all = addNew(all, result.Notes...)
	}
	return all
}

// addNew adds those of some lines that are not there yet.
func addNew(all []string, lines ...string) []string {
	for _, line := range lines {
		if !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return all
}

// Findings are the counterexamples, one for each result that has one.
func (r *Report) Findings() []*Result {
	var all []*Result
	for i := range r.Results {
		if r.Results[i].Worst != nil {
			all = append(all, &r.Results[i])
		}
	}
	return all
}

// Example is the smallest counterexample, with all that a worker said at its end
// on lines of their own, and how to see it again.
func (r *Report) Example(result *Result) (words, again string) {
	f := result.Worst
	words = fmt.Sprintf("%s %s, %s: %s (seed %d, %s): %s", result.Task.Driver, result.Task.Profile, result.Task.Fault, f.Damage, result.Task.Seed, f.Circumstances(), strings.TrimRight(f.Words, ".\n"))
	if f.ID != "" {
		again = r.Replay(f.ID)
	}
	return words, again
}

// Circumstances say when and how the fault was done.
func (f *Finding) Circumstances() string {
	if f.Cut.Choice == "" {
		return fmt.Sprintf("%s, attempt %d", f.Moment, f.Attempt)
	}
	return string(f.Moment) + ", " + f.Cut.String()
}

// Line is the result in one line, without the names of its target and profile; below it the stack
// of a fault of assay.
func (r *Result) Line() string { return strings.TrimRight(r.words()+"\n"+r.Stack, "\n") }

// words say what became of the database.
func (r *Result) words() string {
	if r.Outcome != assay.OK {
		return string(r.Outcome) + ": " + r.Reason
	}
	if r.Void() {
		return "void: a control that must fail did not"
	}
	var parts []string
	switch {
	case r.beyondLoss():
		of := " of " + counted(r.Task.Fault, r.States)
		for _, d := range r.damages() {
			if d != Unmade {
				parts = append(parts, fmt.Sprintf("%s in %d%s", d.about().line, r.Counts[d], of))
				of = ""
			}
		}
	case r.lost() > 0:
		parts = append(parts, fmt.Sprintf("loses up to %s in %d of %s, never corrupts", newest(r.MaxLost), r.lost(), counted(r.Task.Fault, r.States)))
	case r.States == 0:
		return "no state was checked: give it a larger budget"
	default:
		parts = append(parts, fmt.Sprintf("held in %d of %s", r.States-r.Counts[Unmade], counted(r.Task.Fault, r.States)))
	}
	if n := r.Counts[Unmade]; n > 0 {
		parts = append(parts, fmt.Sprintf("in %d %s", n, Unmade.about().line))
	}
	if r.Refuted() != Unharmed {
		parts = append(parts, "REFUTED: its settings claim "+string(r.Claimed))
	}
	return strings.Join(parts, "; ")
}

// beyondLoss reports whether a state is worse than the loss of the newest commits.
func (r *Result) beyondLoss() bool {
	return slices.ContainsFunc(r.damages(), Damage.beyondLoss)
}

// lost is in how many states commits are gone, and nothing is worse.
func (r *Result) lost() int { return r.Counts[LostLast] + r.Counts[Lost] }

// newest are the last n commits.
func newest(n int) string {
	if n == 1 {
		return "the last commit"
	}
	return fmt.Sprintf("%d of the newest commits", n)
}

func counted(f assay.Fault, n int) string {
	return fmt.Sprintf("%d %s", n, f.Times(n))
}
