package audit

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/doc"
	"assay/internal/report"
	"assay/internal/sys/format"
	"assay/published"
)

// Formats holds the formats of findings.
var Formats = format.List[[]Finding]{
	{Name: "markdown", Write: func(w io.Writer, findings []Finding) error { return doc.WriteMarkdown(w, document(findings)) }},
	{Name: "csv", Write: writeCSV},
}

// document has all claims with what they rest on.
func document(findings []Finding) doc.Document {
	var d doc.Document
	d.Add(doc.Heading, "Published claims, checked on this machine")
	d.Add(doc.Paragraph, "Figures of A and B are those of this machine; only their ratio is compared with the published one. "+
		"A claim of several comparisons does not hold where one of them does not. What fails under another condition than the source's own "+
		"does not refute the source: it is not reproduced.")
	d.Add(doc.Paragraph, "%s", summary(findings))
	authors, ours := byAuthor(findings)
	addVerdicts(&d, "claim", authors)
	addVerdicts(&d, "our reading of a source's tables, which no author wrote", ours)
	last := ""
	for _, f := range findings {
		if f.Source.Name != last {
			last = f.Source.Name
			d.Add(doc.Heading, "%s", last)
			on := ""
			if f.Source.Machine != "" {
				on = fmt.Sprintf(" Published on: %s.", f.Source.Machine)
			}
			d.Add(doc.Paragraph, "%s%s", f.Source.About, on)
		}
		f.addTo(&d)
	}
	addRuns(&d, findings)
	return d
}

// byAuthor parts what authors wrote from our readings of their tables.
func byAuthor(findings []Finding) (authors, ours []Finding) {
	for _, f := range findings {
		if f.Claim.Basis == published.Reading {
			ours = append(ours, f)
		} else {
			authors = append(authors, f)
		}
	}
	return authors, ours
}

// addVerdicts adds a table with a row for each claim.
func addVerdicts(d *doc.Document, title string, findings []Finding) {
	grid := doc.Grid{Header: []string{title, "source", "verdict", "doubts"}}
	for _, f := range findings {
		verdict := string(f.Verdict)
		if f.Missed != "" {
			verdict += ", " + string(f.Missed)
		}
		grid.Rows = append(grid.Rows, []string{f.Claim.Says, f.Source.Name, verdict, strings.Join(f.Codes(), ", ")})
	}
	d.AddTable(grid)
}

// verdicts are in the order in which they are counted.
var verdicts = []Verdict{Holds, Fails, NotReproduced, NoEffect, Broken, Agrees, Contradicted, Unknown, Untested}

// counted says how many findings have each verdict.
func counted(findings []Finding) string {
	counts := map[Verdict]int{}
	for _, f := range findings {
		counts[f.Verdict]++
	}
	var words []string
	for _, v := range verdicts {
		if counts[v] > 0 {
			words = append(words, fmt.Sprintf("%s: %d", v, counts[v]))
		}
	}
	return strings.Join(words, "; ")
}

// contradicted reports whether the source's own figures of a comparison's own condition say
// otherwise.
func (f Finding) contradicted() bool {
	return slices.ContainsFunc(f.Evidence, func(e Evidence) bool { return e.Against && e.Comparison.Published.Other == "" })
}

// summary counts the verdicts, those of authors' sentences apart. It says what to do where there
// is nothing to judge by, how many claims more measuring does not decide, and how many the
// sources' own figures contradict.
func summary(findings []Finding) string {
	measurable, measured, settled, against := false, false, 0, 0
	for _, f := range findings {
		measurable = measurable || f.Claim.Plan != ""
		measured = measured || len(f.runs()) > 0
		if f.Verdict == Unknown && !f.open() {
			settled++
		}
		if f.contradicted() && f.Verdict != Contradicted {
			against++
		}
	}
	authors, ours := byAuthor(findings)
	var texts []string
	if len(authors) > 0 {
		texts = append(texts, fmt.Sprintf("Of %d claims, %s.", len(authors), counted(authors)))
	}
	if len(ours) > 0 {
		texts = append(texts, fmt.Sprintf("Of %d readings of ours, which no author wrote, %s.", len(ours), counted(ours)))
	}
	text := strings.Join(texts, " ")
	if against > 0 {
		text += fmt.Sprintf(" The sources' own figures contradict %d of all.", against)
	}
	switch {
	case !measured && measurable:
		text += " No run has their cells yet: run their plans, or below each claim is the command that measures its cells alone."
	case settled > 0:
		text += fmt.Sprintf(" For %d of those that cannot be told, more measuring does not help: their reasons say why.", settled)
	}
	return text
}

// addRuns says on which machine each run that was looked at was made, and of what.
func addRuns(d *doc.Document, findings []Finding) {
	var runs []assay.Run
	for _, f := range findings {
		runs = appendNew(runs, f.runs())
	}
	if len(runs) == 0 {
		return
	}
	d.Add(doc.Heading, "Runs")
	grid := doc.Grid{Header: []string{"run", "plan", "took", "assay", "machine", "drivers"}}
	for _, r := range runs {
		grid.Rows = append(grid.Rows, []string{r.ID, r.Plan, took(r), r.Version, machine(r.Host), drivers(r.Targets)})
	}
	d.AddTable(grid)
}

// took is the time from the start to the end of a run, or why it has none.
func took(r assay.Run) string {
	if r.Finished.IsZero() {
		return string(r.Status)
	}
	return r.Finished.Sub(r.Started).Round(time.Second).String()
}

// machine returns what a figure depends on first.
func machine(host map[string]string) string {
	var words []string
	for _, name := range []string{"cpu", "cores", "memory", "virtualization", "distribution", "kernel", "filesystem"} {
		if value := host[name]; value != "" {
			words = append(words, name+": "+value)
		}
	}
	return strings.Join(words, "; ")
}

func drivers(targets []assay.Target) string {
	var names []string
	for _, t := range targets {
		names = append(names, t.Name())
	}
	return strings.Join(names, " ")
}

// fewRuns are named beside each claim; more are named once.
const fewRuns = 3

func (f Finding) addTo(d *doc.Document) {
	d.Add(doc.Subheading, "%s", f.Claim.Says)
	text := string(f.Verdict) + because(f.Reason) + "."
	if f.Claim.Plan != "" {
		text += fmt.Sprintf(" Its condition is %s.", f.Claim.Provenance)
	}
	if f.Claim.Basis == published.Reading {
		text += " The claim is our reading of the source's figures, not a sentence of it."
	}
	switch runs := f.runs(); {
	case len(runs) > fewRuns:
		text += fmt.Sprintf(" Runs: the %d of %s that are listed at the end.", len(runs), f.Claim.Plan)
	case len(runs) > 0:
		text += fmt.Sprintf(" Runs: %s.", identifiers(runs))
	}
	d.Add(doc.Paragraph, "%s", text)
	if len(f.Evidence) == 0 {
		return
	}
	grid := doc.Grid{Header: []string{"A", "B", "expected of A", "published A / B", "here A / B", f.metric().Name + " here", "verdict"}}
	for _, e := range f.Evidence {
		grid.Rows = append(grid.Rows, []string{coordinates(side(e.Comparison.A, e.Comparison.Published.A)), coordinates(side(e.Comparison.B, e.Comparison.Published.B)), e.expected(), e.claimed(), e.here(), e.centers(), string(e.Verdict) + because(e.Reason)})
	}
	d.AddTable(grid)
	if differs := f.differs(); len(differs) > 0 {
		d.Add(doc.Paragraph, "Other than in the source: %s.", inWords(differs))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Claim.Immaterial)) {
		d.Add(doc.Paragraph, "That it differs in %s does not matter: %s.", name, f.Claim.Immaterial[name])
	}
	var doubts []string
	for _, k := range f.kinds() {
		doubts = append(doubts, k.says(f.figures()))
	}
	d.AddList("Doubts", doubts)
	f.addNext(d)
}

// addNext says how to decide what is open.
func (f Finding) addNext(d *doc.Document) {
	if !f.open() {
		return
	}
	if command, takes := f.outlook(); command != "" {
		d.Add(doc.Paragraph, "Deciding it likely takes %s; this measures what it needs:", takes)
		d.AddLines(doc.Literal, command)
	} else {
		d.Add(doc.Paragraph, "This measures what is still open of it; assay plan check with its selection says how long that takes at least:")
		d.AddLines(doc.Literal, f.rest().Command())
	}
	if slices.ContainsFunc(f.Evidence, func(e Evidence) bool { return e.open() && e.Here != nil && e.Basis == analysis.Apart }) {
		d.Add(doc.Paragraph, "Some figures come from other launches than those they are compared with: assay audit --measure measures both in turn, a run does not.")
	}
}

// differs are the differences of all comparisons, each once.
func (f Finding) differs() []Difference {
	var all []Difference
	for _, e := range f.Evidence {
		for _, d := range e.Differs {
			if !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	return all
}

// side is the cell of a comparison, or else where its figure is in the source.
func side(cell, figure map[string]string) map[string]string {
	if len(cell) == 0 {
		return figure
	}
	return cell
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

func (e Evidence) expected() string {
	how := "about"
	switch c := e.Comparison; {
	case c.AtLeast > 0:
		return fmt.Sprintf("%s, at least %.3gx", c.Expect, c.AtLeast)
	case c.Size == 0:
		return string(c.Expect)
	case c.Expect == published.Alike:
		how = "within"
	case c.Expect == published.NotFaster, c.Expect == published.NotSlower:
		how = "than"
	}
	return fmt.Sprintf("%s, %s %.3gx", e.Comparison.Expect, how, e.Comparison.Size)
}

func (e Evidence) claimed() string {
	if e.Claimed == 0 {
		return "-"
	}
	against := ""
	switch {
	case e.Against:
		against = ", which contradicts the source's own text"
	case e.Apart != "":
		against = "; " + e.Apart
	}
	if other := e.Comparison.Published.Other; other != "" {
		against += "; " + other
	}
	return fmt.Sprintf("%.3g (%s / %s)%s", e.Claimed, e.Published[0], e.Published[1], against)
}

func (e Evidence) here() string {
	if e.Here == nil || e.Here.Ratio.N == 0 {
		return "-"
	}
	how := "n = " + fmt.Sprint(e.Here.Ratio.N)
	if e.Looks > 1 {
		how += fmt.Sprintf(", look %d, %s CI", e.Looks, report.Level(*e.Here))
	}
	if e.Age > 0 {
		how += ", of earlier builds or an earlier assay"
	}
	how += map[analysis.Basis]string{analysis.Apart: ", other launches", analysis.InTurn: ", launches in turn"}[e.Basis]
	low, high := "?", "?"
	if e.Here.Ratio.Low > 0 { // one launch has no interval
		low, high = fmt.Sprintf("%.3g", e.Here.Ratio.Low), fmt.Sprintf("%.3g", e.Here.Ratio.High)
	}
	return fmt.Sprintf("%.3g [%s, %s], %s", e.Here.Ratio.Center, low, high, how)
}

func (e Evidence) centers() string {
	if e.Here == nil {
		return "-"
	}
	return fmt.Sprintf("%.4g / %.4g", e.Centers[0], e.Centers[1])
}

var header = []string{"source", "claim", "says", "provenance", "verdict", "reason", "plan", "run", "a", "b", "expected", "metric",
	"published_a", "published_b", "published_ratio", "here_a", "here_b", "here_ratio", "here_low", "here_high", "n", "paired", "comparison",
	"doubts", "command", "basis", "differs"}

// writeCSV prints a row for each comparison, and one for a claim without any.
func writeCSV(w io.Writer, findings []Finding) error {
	out := csv.NewWriter(w)
	_ = out.Write(header) // Flush keeps the error
	for _, f := range findings {
		evidence := f.Evidence
		if len(evidence) == 0 {
			evidence = []Evidence{{}}
		}
		for _, e := range evidence {
			_ = out.Write(f.record(e))
		}
	}
	out.Flush()
	return out.Error()
}

// runs returns the runs whose launches were compared, the newest first.
func (e Evidence) runs() []assay.Run {
	if e.Report == nil {
		return nil
	}
	return append([]assay.Run{e.Report.Run}, e.Report.Earlier...)
}

// runs returns the runs of all comparisons, each once, the newest first.
func (f Finding) runs() []assay.Run {
	var all []assay.Run
	for _, e := range f.Evidence {
		all = appendNew(all, e.runs())
	}
	slices.SortStableFunc(all, func(a, b assay.Run) int { return b.Started.Compare(a.Started) })
	return all
}

// appendNew adds the runs that are not in the list.
func appendNew(all, more []assay.Run) []assay.Run {
	for _, run := range more {
		if !slices.ContainsFunc(all, func(r assay.Run) bool { return r.ID == run.ID }) {
			all = append(all, run)
		}
	}
	return all
}

// identifiers returns the identifiers of runs, separated by blanks.
func identifiers(runs []assay.Run) string {
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

func (f Finding) record(e Evidence) []string {
	record := []string{f.Source.Name, f.Claim.Name, f.Claim.Says, string(f.Claim.Provenance), string(f.Verdict), f.Reason,
		f.Claim.Plan, identifiers(e.runs()), coordinates(f.Claim.Where, e.Comparison.A), coordinates(f.Claim.Where, e.Comparison.B),
		e.expected(), f.Claim.Metric, e.Published[0], e.Published[1], number(e.Claimed)}
	here := make([]string, 7)
	if e.Here != nil {
		r := e.Here.Ratio
		here = []string{number(e.Centers[0]), number(e.Centers[1]), number(r.Center), number(r.Low), number(r.High),
			fmt.Sprint(r.N), fmt.Sprint(e.Basis == analysis.Joint)}
	}
	record = append(append(record, here...), string(e.Verdict), strings.Join(f.Codes(), " "))
	command := ""
	if f.open() && e.open() {
		command = f.rest().Command()
	}
	return append(record, command, string(f.Claim.Basis), inWords(e.Differs))
}

func number(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.6g", v)
}
