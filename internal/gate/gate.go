// Package gate decides whether a new version of a driver, the head, may take the
// place of the one in use, the base. It looks at runs that interleave both, with
// an A/A test of the base, and at what both do with settings. What it suspects in
// a first run counts only if a second one, of fresh launches, shows it again. It
// measures nothing, and the statistics are those of package analysis.
package gate

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/facts"
	"assay/internal/stat"
	"assay/internal/wording"
)

// Rules are what a head has to keep to.
type Rules struct {
	MaxSlowdown   float64 // a fraction: 0.02 is 2 %
	FailUndecided bool    // what cannot be decided fails
}

// Kind is what is wrong with a head.
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
	Compile    Kind = "does-not-compile"
	Open       Kind = "undecided" // where Rules say that it fails, or nothing could be compared
)

// Kinds are all kinds, with what each means.
var Kinds = []struct {
	Kind  Kind
	About string
}{
	{Slower, "an operation takes longer than allowed"},
	{QueryPlan, "a query uses fewer indexes or scans more tables"},
	{Setting, "a setting that the base applies has no effect"},
	{Durability, "the effective settings promise less about the data"},
	{Outcome, "an operation fails, is refused or gives a wrong answer"},
	{Parameter, "a parameter of the DSN that the base applies has no effect"},
	{Memory, "connections no longer share a database in memory"},
	{Compile, "the driver's worker does not compile"},
	{Open, "nothing could be compared, or a comparison is undecided and that is to fail"},
}

// Finding is one thing that is wrong with a head.
type Finding struct {
	Kind    Kind   `json:"kind"`
	Cell    string `json:"cell,omitempty"` // the operation with its coordinates and profile; empty where it is of none
	Message string `json:"message"`
}

// Upgrade is a head beside its base, with all that was measured of them.
type Upgrade struct {
	Driver     string
	Base, Head string // versions, or builds of different drivers
	Plan       string
	File       string // go.mod, where it names the driver; empty: unknown
	Line       int
	NotBuilt   string       // why the head's worker does not compile; then there is nothing else
	First      *Measurement // of all cells
	Second     *Measurement // of those that First suspects, in fresh launches; nil: none, or there was no time
	Effects    Effects      // of the parameters of a DSN
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

// confirm is a suspected cell after the second run, whose figures alone decide.
func (c Cell) confirm(second *Measurement) Cell {
	again, measured := second.cell(c.key)
	if !measured {
		c.State, c.Reason = Undecided, c.Suspicions[0].Message+", and there was no time to measure it again"
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
		again.State, again.Reason = Undecided, c.Suspicions[0].Message+", and "+ratio(again.Cost)+" in the second run"
	case again.State == Undecided:
		again.Reason = fmt.Sprintf("%s, not confirmed: %s", c.Suspicions[0].Message, again.Reason)
	}
	return again
}

// Findings are what is wrong with the head, by the rules.
func (u *Upgrade) Findings(rules Rules) []Finding {
	if u.NotBuilt != "" {
		return []Finding{{Compile, "", u.NotBuilt}}
	}
	var all, open []Finding
	compared := false
	for _, c := range u.Cells() {
		compared = compared || c.Cost.N > 0 || c.State == Regressed
		all = append(all, c.Suspicions...)
		if c.State == Undecided && rules.FailUndecided {
			open = append(open, Finding{Open, c.Name(), "undecided: " + c.Reason})
		}
	}
	if u.First != nil && !compared && len(open) == 0 { // a gate that cannot fail is none
		open = []Finding{{Open, "", "nothing could be compared: " + u.First.Cells[0].Reason}}
	}
	return slices.Concat(all, u.Effects.Lost, open)
}

// Notes are what else changed, and is no regression.
func (u *Upgrade) Notes() []string {
	var all []string
	for _, c := range u.Cells() {
		for _, note := range c.Notes {
			all = append(all, c.Name()+": "+note)
		}
	}
	return append(all, u.Effects.Notes...)
}

// Effects are what a head does with a DSN and its base does not, or the other way
// round.
type Effects struct {
	Lost  []Finding // what worked with the base
	Notes []string  // other changes
}

// Compare holds what was measured of the head against the base. It says the same
// of two drivers as of two versions of one.
func Compare(base, head facts.Facts) Effects {
	var e Effects
	e.parameters(base, head)
	for _, dsn := range sortedKeys(base.Memory) {
		was, is := base.Memory[dsn], head.Memory[dsn]
		switch {
		case was == is || is == "":
		case was == facts.Shared:
			e.Lost = append(e.Lost, Finding{Memory, "", fmt.Sprintf("%s is one database of all connections with %s, and with %s %s", dsn, base.Name(), head.Name(), sharing[is])})
		default:
			e.Notes = append(e.Notes, fmt.Sprintf("%s was %s, and is %s", dsn, sharing[was], sharing[is]))
		}
	}
	for _, name := range sortedKeys(base.Defaults) {
		if was, is := base.Defaults[name], head.Defaults[name]; was != is && is != "" {
			e.Notes = append(e.Notes, fmt.Sprintf("default of %s: %s, was %s", name, is, was))
		}
	}
	return e
}

// sharing says what a database in memory is.
var sharing = map[facts.Sharing]string{facts.Private: "a database of its own for each connection", facts.Shared: "one database of all connections",
	facts.OnDisk: "a file of that name", facts.Refused: "refused"}

// effects says what a parameter does that takes no effect.
var effects = map[facts.Effect]string{facts.Ignored: "is ignored", facts.Fails: "is an error", facts.Literal: "becomes part of the file's name"}

// parameters compares the ways to write a setting in a DSN.
func (e *Effects) parameters(base, head facts.Facts) {
	var started int
	for _, s := range facts.Spellings() {
		was, tried := base.Effect(s)
		is, also := head.Effect(s)
		switch {
		case !tried || !also || was == is:
		case was == facts.Applied:
			e.lose(s, fmt.Sprintf(" in a DSN %s; %s applies it", effects[is], base.Name()))
		case is == facts.Applied:
			started++
		}
	}
	if started > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%s of a DSN %s effect that %s does not apply", wording.Plural(started, "parameter"), takes(started), base.Name()))
	}
}

// lose notes a parameter that has no effect any more. One that is lost in a DSN with
// file: and in one without is one finding.
func (e *Effects) lose(s facts.Spelling, what string) {
	other := s
	other.URI = !s.URI
	i := slices.IndexFunc(e.Lost, func(f Finding) bool { return f.Message == other.String()+what })
	if i >= 0 {
		e.Lost[i].Message = strings.TrimPrefix(strings.TrimPrefix(s.String(), "file:"), "?") + what
		return
	}
	e.Lost = append(e.Lost, Finding{Parameter, "", s.String() + what})
}

func takes(n int) string {
	if n == 1 {
		return "takes"
	}
	return "take"
}

// Confirmed are the effects that a second measurement shows again.
func (e Effects) Confirmed(again Effects) Effects {
	e.Lost = slices.DeleteFunc(slices.Clone(e.Lost), func(f Finding) bool { return !slices.Contains(again.Lost, f) })
	return e
}

// limit is the highest cost that is allowed.
func (r Rules) limit() float64 { return 1 + r.MaxSlowdown }

// allows tells whether a cost is shown to be within what is allowed.
func (r Rules) allows(rule stat.Rule, cost stat.Interval) bool {
	inside, _ := rule.Place(cost, 0, r.limit())
	return inside
}
