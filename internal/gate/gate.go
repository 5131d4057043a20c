// Package gate decides whether a new version of a driver, the head, may take the
// place of the one in use, the base. It looks at runs that interleave both, with
// an A/A test of the base, and at what both do with settings. What it suspects in
// a first run counts only if a second one, of fresh launches, shows it again.
// Measuring has the lab make those runs; the statistics are those of package analysis.
package gate

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/analysis/wording"
	"assay/internal/stat"
)

// Rules holds what a head has to keep to.
type Rules struct {
	MaxSlowdown   float64 // a fraction: 0.02 is 2 %
	FailUndecided bool    // what cannot be decided fails
}

// Kind says what is wrong with a head.
type Kind string

// The kinds.
const (
	Slower     Kind = "slower"
	QueryPlan  Kind = "query-plan"
	Setting    Kind = "setting"
	Durability Kind = "durability"
	Outcome    Kind = "outcome"
	Parameter  Kind = "dsn-parameter"
	Memory     Kind = "memory-database"
	KnownBug   Kind = "known-bug"
	Compile    Kind = "does-not-compile"
	Open       Kind = "undecided" // no regression: it fails where Rules say so, or nothing could be compared
)

// Kinds are all kinds, with what each means. The reference has them.
var Kinds = []struct {
	Kind  Kind
	About string
	Help  string // where the head fails, in Markdown: the end of a sentence
}{
	{Slower, "an operation takes longer than allowed",
		"the comparison with the base says `slower`, and the ratio is above `--max-slowdown` (2 %)"},
	{QueryPlan, "a query scans more tables or indexes, or makes an index for itself",
		"`EXPLAIN QUERY PLAN` scans more tables or indexes from end to end than with the base, scans a table where the base scans an index, or makes an automatic index, unless the measured time is shorter. A scan in an inner loop or a correlated subquery runs once for each row: fewer of these outweigh an automatic index, and an automatic index that gives way to one fails"},
	{Setting, "a setting that the base applies has no effect",
		"a setting of the profile that the base applies is read back with another value"},
	{Durability, "the effective settings promise less about the data",
		"the effective settings promise less about the data"},
	{Outcome, "an operation or an experiment fails, is refused or gives a wrong answer",
		"an operation fails, gives a wrong answer, is refused or takes too long, and does not with the base; or the experiments with a DSN fail twice, and do not with the base"},
	{Parameter, "a parameter of the DSN that the base applies has no effect",
		"a way to write a setting in a DSN that the base applies has no effect, of all spellings that `assay facts` tries. For two versions of one SQLite driver only"},
	{Memory, "connections no longer share a database in memory",
		"connections shared a database in memory, and no longer do"},
	{KnownBug, "the head's engine has a known fault that the base's does not have",
		"the head's engine has a fault of those that `assay advisories` lists, and the base's does not"},
	{Compile, "the driver's worker does not compile",
		"the worker does not compile with the head"},
	{Open, "nothing could be compared, or a comparison is undecided or was not measured",
		"nothing could be compared (`FAIL, nothing compared`); with `--undecided fail` also each comparison that cannot be decided, and each driver that could not be measured. It is not counted as a regression"},
}

// Finding is one thing that is wrong with a head.
type Finding struct {
	Kind    Kind   `json:"kind"`
	Cell    string `json:"cell,omitempty"` // the operation with its coordinates and profile; empty where it is of none
	Message string `json:"message"`
}

// Upgrade is a head beside its base, with all that was measured of them.
type Upgrade struct {
	Driver      string
	Base, Head  string // versions, or builds of different drivers
	Plan        string
	File        string // that pins the driver's library; empty: unknown
	Line        int
	NotMeasured string       // why no operation of it was measured
	NotBuilt    string       // why the head's worker does not compile; then there is nothing else
	First       *Measurement // of all cells
	Second      *Measurement // of those that First suspects, in fresh launches; nil: none, or it was not made
	Effects     Effects      // of the parameters of a DSN
}

// Name is the upgrade in a line.
func (u *Upgrade) Name() string {
	if u.Driver == "" {
		return u.Base + " -> " + u.Head
	}
	return u.Driver + " " + u.Base + " -> " + u.Head
}

// Cells are all cells as they are after both runs.
func (u *Upgrade) Cells() []Cell {
	if u.First == nil {
		return nil
	}
	cells := slices.Clone(u.First.Cells)
	for i, c := range cells {
		if len(c.Suspicions) > 0 {
			cells[i] = c.confirm(u.Second)
		}
	}
	return cells
}

// undecided are the cells that are so after both runs.
func (u *Upgrade) undecided() []Cell {
	return slices.DeleteFunc(u.Cells(), func(c Cell) bool { return c.State != Undecided })
}

// confirm is a suspected cell after the second run, whose figures alone decide.
func (c Cell) confirm(second *Measurement) Cell {
	again, measured := second.cell(c.key)
	if !measured || again.State == NotCompared {
		c.State, c.Reason = Undecided, c.Suspicions[0].Message+", not confirmed: "+cmp.Or(again.Reason, "it was not measured again")
		c.Suspicions = nil
		return c
	}
	again.Suspicions = slices.DeleteFunc(slices.Clone(again.Suspicions), func(f Finding) bool {
		return f.Kind == Slower && !again.decided || !slices.ContainsFunc(c.Suspicions, func(first Finding) bool { return first.Kind == f.Kind })
	})
	for i := range again.Suspicions {
		again.Suspicions[i].Message += " (confirmed)"
	}
	switch {
	case len(again.Suspicions) > 0:
		again.State = Regressed
	case again.State == Regressed: // by something that was not suspected, or not for sure
		again.State, again.Reason = Undecided, c.Suspicions[0].Message+", and "+wording.Times(again.Cost)+" in the second run"
	case again.State == Undecided:
		again.Reason = fmt.Sprintf("%s, not confirmed: %s", c.Suspicions[0].Message, again.Reason)
	}
	return again
}

// Findings returns what is wrong with the head, by the rules.
func (u *Upgrade) Findings(rules Rules) []Finding {
	if u.NotBuilt != "" {
		return []Finding{{Compile, "", u.NotBuilt}}
	}
	var all, open []Finding
	compared := false
	for _, c := range u.Cells() {
		compared = compared || c.Cost.Known() || c.State == Regressed
		all = append(all, c.Suspicions...)
	}
	if rules.FailUndecided {
		open = u.open()
	}
	if u.First != nil && !compared && len(open) == 0 { // a gate that measured nothing must not pass
		open = []Finding{{Open, "", "nothing could be compared: " + u.incomparable()}}
	}
	return slices.Concat(all, u.Effects.Lost, open)
}

// incomparable says why nothing could be compared, and what to do where the budget may have ended
// before anything could.
func (u *Upgrade) incomparable() string {
	open := u.undecided()
	if len(open) == 0 {
		return u.First.Cells[0].Reason
	}
	return open[0].Reason + "; raise --budget, or choose a plan with fewer operations"
}

// open returns what is not known of the head, whether or not that fails.
func (u *Upgrade) open() []Finding {
	var all []Finding
	if u.NotMeasured != "" {
		all = append(all, Finding{Open, "", "not measured: " + u.NotMeasured})
	}
	for _, c := range u.undecided() {
		all = append(all, Finding{Open, c.Name(), "undecided: " + c.Reason})
	}
	for _, text := range u.Effects.Open {
		all = append(all, Finding{Open, "", "undecided: " + text})
	}
	return all
}

// Notes returns what else changed, and is no regression.
func (u *Upgrade) Notes() []string {
	var all []string
	for _, c := range u.Cells() {
		for _, note := range c.Notes {
			all = append(all, c.Name()+": "+note)
		}
	}
	return append(all, u.Effects.Notes...)
}

func (r Rules) limit() float64 { return 1 + r.MaxSlowdown }

// allows reports whether a cost is shown to be within what is allowed.
func (r Rules) allows(rule stat.Rule, cost stat.Interval) bool {
	inside, _ := rule.Place(cost, 0, r.limit())
	return inside
}
