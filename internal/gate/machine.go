package gate

import (
	"slices"
	"strings"

	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/sys/format"
)

// document says of each upgrade how it came out, findings first.
func (r *Report) document() doc.Document {
	var d doc.Document
	if len(r.Upgrades) == 0 {
		d.Add(doc.Answer, "PASS: %s", r.none())
	}
	for _, u := range r.Upgrades {
		d.Add(doc.Answer, "%s", r.title(u))
		for _, f := range u.Findings(r.Rules) {
			d.Add(doc.Warning, "%s", f.Text())
		}
		d.AddSome(doc.Footnote, u.counts(r.Rules))
		if !r.Rules.FailUndecided { // else they are findings
			d.AddSome(doc.Footnote, notMeasured(u)...)
			d.AddList("undecided", slices.Concat(u.in(Undecided), u.Effects.Open))
		}
		d.AddList("faster", u.in(Faster))
		d.AddList("not compared", u.in(NotCompared))
		d.AddList("changed", u.Notes())
		d.AddFold(wording.Plural(len(u.Cells()), "cell"), cells(u))
		d.AddSome(doc.Footnote, u.evidence(r.Store))
	}
	return d
}

func cells(u *Upgrade) doc.Document {
	var d doc.Document
	grid := doc.Grid{Header: []string{"operation", "time / base", ""}}
	for _, c := range u.Cells() {
		cost, text := "", string(c.State)
		if c.Cost.N > 0 {
			cost = wording.Times(c.Cost)
		}
		if c.Reason != "" {
			text += ": " + c.Reason
		}
		grid.Rows = append(grid.Rows, []string{c.Name(), cost, text})
	}
	d.AddTable(grid)
	return d
}

// suites are the cells as tests.
func (r *Report) suites() []format.Suite {
	var all []format.Suite
	for _, u := range r.Upgrades {
		suite := format.Suite{Name: "assay gate " + u.Name()}
		failures := map[string][]string{}
		for _, f := range u.Findings(r.Rules) {
			f.Message = u.message(f)
			failures[f.Cell] = append(failures[f.Cell], wording.Clean(f.withKind()))
		}
		for _, c := range u.Cells() {
			one := format.Case{Name: c.Name(), Class: "gate." + u.Plan, Failure: strings.Join(failures[c.Name()], "; ")}
			if c.State == Undecided || c.State == NotCompared {
				one.Skipped = string(c.State) + ": " + wording.Clean(c.Reason)
			}
			suite.Cases = append(suite.Cases, one)
		}
		suite.Cases = append(suite.Cases, format.Case{Name: "build and DSN", Class: "gate." + u.Plan, Failure: strings.Join(failures[""], "; "),
			Skipped: wording.Clean(strings.Join(append(u.Effects.Open, notMeasured(u)...), "; "))})
		all = append(all, suite)
	}
	return all
}

// withKind is the message with its kind, which those of no regression begin with.
func (f Finding) withKind() string {
	if f.Kind == Open {
		return f.Message
	}
	return string(f.Kind) + ": " + f.Message
}

// notMeasured says so, as a list.
func notMeasured(u *Upgrade) []string {
	if u.NotMeasured == "" {
		return nil
	}
	return []string{"not measured: " + u.NotMeasured}
}

func rules() []format.Rule {
	var all []format.Rule
	for _, k := range Kinds {
		all = append(all, format.Rule{ID: string(k.Kind), About: k.About, Help: "The head fails where " + k.Help + "."})
	}
	return all
}

func (r *Report) sarif() []format.Finding {
	var all []format.Finding
	for _, u := range r.Upgrades {
		for _, f := range u.Findings(r.Rules) {
			f.Message = u.message(f)
			all = append(all, format.Finding{Rule: string(f.Kind), Level: format.Error,
				Message: wording.Clean(u.Name() + ": " + f.Text()), File: u.File, Line: u.Line})
		}
		if u.NotMeasured != "" && !r.Rules.FailUndecided {
			all = append(all, format.Finding{Rule: string(Open), Level: format.Warning,
				Message: wording.Clean(u.Name() + ": not measured: " + u.NotMeasured), File: u.File, Line: u.Line})
		}
	}
	return all
}

// The names of JSON, which programs read.
type (
	jsonReport struct {
		Passed      bool          `json:"passed"`
		MaxSlowdown float64       `json:"max_slowdown"`
		Upgrades    []jsonUpgrade `json:"upgrades"`
	}
	jsonUpgrade struct {
		Driver      string     `json:"driver,omitempty"`
		Base        string     `json:"base"`
		Head        string     `json:"head"`
		Plan        string     `json:"plan"`
		Runs        []string   `json:"runs"`
		Noise       float64    `json:"noise"`
		Layout      string     `json:"layout,omitempty"` // what the link layout can do to the times that changed
		Findings    []Finding  `json:"findings"`
		Cells       []jsonCell `json:"cells"`
		Notes       []string   `json:"notes"`
		NotMeasured string     `json:"not_measured,omitempty"` // why
		Undecided   []string   `json:"undecided"`              // of the experiments with a DSN
	}
	jsonCell struct {
		Operation string      `json:"operation"`
		Profile   string      `json:"profile,omitempty"`
		State     State       `json:"state"`
		Reason    string      `json:"reason,omitempty"`
		Cost      *jsonFigure `json:"cost,omitempty"`
		Launches  int         `json:"launches"`
	}
	jsonFigure struct {
		Center float64  `json:"center"`
		Low    *float64 `json:"low"` // null: there are too few launches
		High   *float64 `json:"high"`
		N      int      `json:"n"`
	}
)

func (r *Report) values() jsonReport {
	all := jsonReport{Passed: r.Passed(), MaxSlowdown: r.Rules.MaxSlowdown, Upgrades: []jsonUpgrade{}}
	for _, u := range r.Upgrades {
		one := jsonUpgrade{Driver: u.Driver, Base: u.Base, Head: u.Head, Plan: u.Plan, Runs: []string{}, Cells: []jsonCell{},
			Findings: append([]Finding{}, u.Findings(r.Rules)...), Notes: append([]string{}, u.Notes()...),
			NotMeasured: u.NotMeasured, Layout: u.layout(), Undecided: append([]string{}, u.Effects.Open...)}
		for _, m := range []*Measurement{u.First, u.Second} {
			if m != nil {
				one.Runs = append(one.Runs, m.Run)
				one.Noise = max(one.Noise, m.Noise)
			}
		}
		for _, c := range u.Cells() {
			one.Cells = append(one.Cells, c.value())
		}
		all.Upgrades = append(all.Upgrades, one)
	}
	return all
}

func (c Cell) value() jsonCell {
	value := jsonCell{Operation: c.Operation, Profile: c.Profile, State: c.State, Reason: c.Reason, Launches: c.Launches}
	if c.Cost.N > 0 {
		value.Cost = &jsonFigure{Center: c.Cost.Center, N: c.Cost.N}
		if c.Cost.Known() {
			value.Cost.Low, value.Cost.High = &c.Cost.Low, &c.Cost.High
		}
	}
	return value
}
