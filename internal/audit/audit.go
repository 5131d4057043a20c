// Package audit checks published claims against what was measured here. It says of
// each claim that it holds on this machine, that it does not, that the measurements
// do not decide it, or that it was not tested, and why.
//
// A claim is data, see package published. What is compared is a relation of
// cells, never a figure: the published machine is another one.
package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/report"
	"assay/internal/stat"
	"assay/kit/kv"
	"assay/published"
)

// Verdict says what this machine says about a claim.
type Verdict string

// The verdicts.
const (
	Holds         Verdict = "holds here"
	Fails         Verdict = "does not hold here"       // under the source's own condition
	NotReproduced Verdict = "not reproduced"           // under another condition, or what ties here has no stated size
	Broken        Verdict = "its operations fail here" // there is no speed to compare, and more measuring makes none
	Unknown       Verdict = "cannot be told"
	NoEffect      Verdict = "condition had no effect"
	Untested      Verdict = "not tested"                    // the claim's data says why
	Agrees        Verdict = "its own figures say so"        // of a claim that no plan measures
	Contradicted  Verdict = "its own figures contradict it" // likewise
)

// Finding is a claim with its verdict.
type Finding struct {
	Source   published.Source
	Claim    published.Claim
	Verdict  Verdict
	Reason   string     // of the verdict; empty where it holds
	Missed   Miss       // of the comparison that decides
	Evidence []Evidence // one per comparison of the claim
}

// Evidence is one comparison of a claim.
type Evidence struct {
	Comparison published.Comparison
	// Report is of the runs whose cells were compared, nil where there is none.
	Report    *analysis.Result
	Age       int // of the runs, as of Runs
	Verdict   Verdict
	Reason    string
	Missed    Miss
	Published [2]string            // both figures as printed, with their unit; empty where the source has none
	Claimed   float64              // A / B as published; 0 where the source has none
	Against   bool                 // the source's own figures are not what it claims
	Apart     string               // why the source's own figures cannot be compared with each other
	Differs   []Difference         // from the source's own condition
	Here      *analysis.Comparison // A / B here; nil where it was not compared
	Looks     int                  // at how many runs it was looked at by now, each made since those before it told nothing
	Basis     analysis.Basis       // what the launches of both have in common
	Centers   [2]float64           // both figures here, in the metric's unit
	Doubts    []Doubt              // about both cells
	Took      [2]time.Duration     // by a launch of each cell; 0 where it has none
	// Open says that more measuring can tell what is not told now.
	Open bool
}

// Runs is the analysis of a plan's runs, nil where there is none: of age 0 of the newest ones,
// and of ages above of those that can stand in where the newest ones lack a cell.
type Runs func(plan string, age int) (*analysis.Result, error)

// Judge gives every claim of the sources its verdict. It fails where a claim's
// data is wrong, such as a published figure that is not there, and where a run
// cannot be read.
func Judge(sources []published.Source, runs Runs) ([]Finding, error) {
	var findings []Finding
	for _, source := range sources {
		for _, claim := range source.Claims {
			f, err := judge(source, claim, runs)
			if err != nil {
				return nil, fmt.Errorf("claim %s of %s: %w", claim.Name, source.Name, err)
			}
			findings = append(findings, f)
		}
	}
	return findings, nil
}

func judge(source published.Source, claim published.Claim, runs Runs) (Finding, error) {
	f := Finding{Source: source, Claim: claim, Verdict: Unknown}
	if len(claim.Compare) == 0 {
		f.Verdict, f.Reason = Untested, claim.Untested
		return f, nil
	}
	for _, comparison := range claim.Compare {
		e, err := f.examine(comparison, runs)
		if err != nil {
			return f, err
		}
		f.Evidence = append(f.Evidence, e)
	}
	f.conclude()
	return f, nil
}

// conclude joins the comparisons: one that fails refutes the claim, and all
// have to hold.
func (f *Finding) conclude() {
	if len(f.Evidence) == 0 {
		return
	}
	f.adjust()
	for i := range f.Evidence {
		f.Evidence[i].excuse()
	}
	order := []Verdict{Agrees, Holds, Unknown, Broken, NoEffect, NotReproduced, Fails, Contradicted}
	worst := slices.MaxFunc(f.Evidence, func(a, b Evidence) int {
		return slices.Index(order, a.Verdict) - slices.Index(order, b.Verdict)
	})
	f.Verdict, f.Reason, f.Missed = worst.Verdict, worst.Reason, worst.Missed
}

// adjust takes back what refutes the claim only because it has many comparisons: those that were
// made are one family. That all have to hold needs no adjusting.
func (f *Finding) adjust() {
	var tested []int
	var ps []float64
	for i, e := range f.Evidence {
		if e.Here != nil && e.Here.Ratio.N >= stat.MinPairs {
			tested, ps = append(tested, i), append(ps, e.against(f.metric().HigherBetter))
		}
	}
	for at, p := range stat.Holm(ps) {
		if e := &f.Evidence[tested[at]]; e.Verdict == Fails && p > alpha {
			e.Verdict, e.Missed = Unknown, ""
			e.Reason = fmt.Sprintf("undecided: %s, but not with all %d comparisons of the claim together (p %.2g)", e.Reason, len(ps), p)
		}
	}
}

// alpha is the chance, at most, that some comparison of a claim refutes what is so.
const alpha = 0.05

// excuse says of what fails under another condition than the source's that it was not reproduced.
func (e *Evidence) excuse() {
	if e.Verdict == Fails && len(e.Differs) > 0 {
		e.Verdict, e.Reason = NotReproduced, e.Reason+"; under another condition: "+inWords(e.Differs)
	}
}

// examine makes one comparison.
func (f *Finding) examine(c published.Comparison, runs Runs) (Evidence, error) {
	e := Evidence{Comparison: c, Verdict: Unknown, Open: true}
	a, b, known, err := f.Source.Ratio(c)
	if err != nil {
		return e, err
	}
	if known {
		e.addPublished(a, b, f.metric())
	}
	if f.Claim.Plan == "" {
		e.judgeBySource(a, b, f.metric())
		return e, nil
	}
	found, err := f.choose(c, runs)
	if err != nil {
		return e, err
	}
	e.Report, e.Age = found.report, found.age
	if found.report == nil {
		e.Reason = "not measured yet"
		return e, nil
	}
	for i, cell := range [][]*analysis.Row{found.a, found.b} {
		if len(cell) != 1 {
			e.Open = len(cell) == 0
			e.Reason = missing(len(cell), f.Claim, []map[string]string{c.A, c.B}[i])
			return e, nil
		}
		e.Took[i] = meanTook(cell[0])
	}
	e.compare(f, found)
	return e, nil
}

// meanTook returns how long a launch of a row took.
func meanTook(row *analysis.Row) time.Duration {
	var sum time.Duration
	for _, t := range row.Trials {
		sum += t.Took
	}
	return sum / time.Duration(max(1, len(row.Trials)))
}

// ended says how a row ended that is not compared, and in how many launches where not in all.
func ended(row *analysis.Row) string {
	n := 0
	for _, t := range row.Trials {
		if t.Outcome == row.Outcome {
			n++
		}
	}
	in := ""
	if n < len(row.Trials) {
		in = fmt.Sprintf(" in %d of %d launches", n, len(row.Trials))
	}
	return fmt.Sprintf("%s: %s here%s: %s", row.Name(), row.Outcome, in, row.Reason)
}

// metric returns the metric that the claim compares.
func (f *Finding) metric() assay.Metric {
	metric, _ := assay.MetricByName(f.Claim.Metric) // known: the claim was checked
	return metric
}

func missing(found int, claim published.Claim, cell map[string]string) string {
	if found > 1 {
		return fmt.Sprintf("the run has %d cells with %s", found, coordinates(claim.Where, cell))
	}
	return "the run has no cell with " + coordinates(claim.Where, cell)
}

func coordinates(all ...map[string]string) string {
	var words []string
	for _, some := range all {
		for _, name := range slices.Sorted(maps.Keys(some)) {
			words = append(words, name+"="+cmp.Or(some[name], "none"))
		}
	}
	return strings.Join(words, " ")
}

// find returns the rows with these coordinates, but for builds with compile options of
// their own that are not asked for.
func find(r *analysis.Result, where ...map[string]string) []*analysis.Row {
	var found []*analysis.Row
	names := assay.ParseDriverNames(r.Run.Options.Drivers)
	for row := range r.Rows() {
		if has(names, row.Cell, where) {
			found = append(found, row)
		}
	}
	return found
}

func has(names assay.DriverNames, c assay.Cell, where []map[string]string) bool {
	options := ""
	for _, some := range where {
		options = cmp.Or(some["options"], options)
	}
	if c.Options != options {
		return false
	}
	for _, some := range where {
		for name, want := range some {
			if !c.Has(name, want, names) {
				return false
			}
		}
	}
	return true
}

// compare looks at the outcomes first: what was not measured as asked supports
// and refutes nothing.
func (e *Evidence) compare(f *Finding, of cells) {
	a, b := of.a[0], of.b[0]
	e.Differs = of.differs
	worse := a
	if assay.Worse(outcome(a), outcome(b)) != outcome(a) {
		worse = b
	}
	if outcome(worse) != assay.OK {
		e.end(f, worse)
		return
	}
	a, b = countFew(a), countFew(b)
	metric := f.metric()
	here, basis, err := a.AgainstAfter(of.looks, b, metric)
	if err != nil {
		e.Open, e.Reason = false, err.Error()
		return
	}
	e.Here, e.Basis, e.Looks = &here, basis, a.Looks(b)+of.looks
	e.doubt(a, b)
	for i, row := range []*analysis.Row{a, b} {
		figure, _ := row.Figure(metric.Name)
		e.Centers[i] = figure.Interval.Center
	}
	if why, passes := e.unsound(f, a, b); why != "" {
		e.Reason, e.Open = why, passes
		return
	}
	e.Verdict, e.Missed, e.Reason = expect(e.Comparison, here.Comparison, func() string { return report.Why(here) }, metric.HigherBetter)
}

// end judges by a row that is not compared: by how it ended. Another assay, or other builds
// than those of the runs, may end in another way.
func (e *Evidence) end(f *Finding, row *analysis.Row) {
	e.Open, e.Reason = row.Outcome == assay.NotRun || e.Age > 0, ended(row)
	if share := failures(row); share > 0 {
		e.Reason += fmt.Sprintf("; %.2g %% of its requests failed", 100*share)
	}
	switch row.Outcome {
	case assay.NotApplied:
		e.noEffect(f, row)
	case assay.Failed, assay.WrongAnswer, assay.TimedOut:
		e.Verdict = Broken
	}
}

// unsound says which doubt forbids a verdict. What a source compared is judged as
// it did so, unlike promises about the data included: they stand beside it. Where
// the condition is ours, rows of one profile have to be asked for alike syncs. passes
// reports whether new launches may be free of the doubt.
func (e *Evidence) unsound(f *Finding, a, b *analysis.Row) (why string, passes bool) {
	for _, d := range e.Doubts {
		ours := f.Claim.Provenance == published.Inferred && a.Cell.Profile == b.Cell.Profile
		if d.Code == analysis.UnequalDurability && ours && !syncAlike(a, b) {
			return d.String(), false
		}
		if e.Basis == analysis.Apart && d.Code == analysis.Drift && !sameTime(a, b) {
			return "measured at other times, with " + d.String(), true
		}
	}
	return "", true
}

// sameTime reports whether what two rows are compared by is of one time.
func sameTime(a, b *analysis.Row) bool {
	a, b = a.Shared(b)
	return a.SameTime(b)
}

// syncAlike reports whether two stores were asked for the same syncs: what a fault
// leaves of each stands beside the verdict.
func syncAlike(a, b *analysis.Row) bool {
	asked := requested(a, kv.Sync)
	return asked != "" && asked == requested(b, kv.Sync)
}

// requested returns what a row's profile asks of a setting; empty where it says nothing.
func requested(row *analysis.Row, name string) string {
	for _, s := range row.Settings {
		if s.Name == name {
			return s.Requested
		}
	}
	return ""
}

// judged reports whether a verdict is about the claim, and not about why it has none.
func (v Verdict) judged() bool {
	return slices.Contains([]Verdict{Holds, Fails, NotReproduced, Agrees, Contradicted}, v)
}

// open reports whether more measuring can tell what is not told now, or can reproduce the
// source's condition better.
func (e Evidence) open() bool {
	if e.Verdict == NotReproduced {
		return slices.ContainsFunc(e.Differs, func(d Difference) bool { return d.Removable })
	}
	return e.Open && !e.Verdict.judged()
}

// open reports whether more measuring can change the verdict.
func (f Finding) open() bool {
	return slices.ContainsFunc(f.Evidence, func(e Evidence) bool {
		return e.open() && (!f.Verdict.judged() || f.Verdict == NotReproduced && e.Verdict == NotReproduced)
	})
}

// rest is the claim with the comparisons that more measuring can tell alone.
func (f Finding) rest() published.Claim {
	return f.claimOf(slices.DeleteFunc(slices.Clone(f.Evidence), func(e Evidence) bool { return !e.open() }))
}

// noEffect judges by the mechanism: the worker read the settings back, and this
// version ignores what the published condition asks for. That the source may
// have had another version is said beside it.
func (e *Evidence) noEffect(f *Finding, row *analysis.Row) {
	if !row.Cell.AsPublished {
		return
	}
	version := cmp.Or(f.Source.Versions[row.Cell.Driver], "not stated")
	e.Verdict = NoEffect
	e.Reason = fmt.Sprintf("%s %s ignores it (%s); the source's version: %s", row.Cell.Driver, row.Cell.DriverVersion, row.Reason, version)
}
