package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/stat"
)

// column is one column of a table for readers.
type column struct {
	name  string
	right bool
	value func(*analysis.Row) string
}

// notes numbers the warnings of one table.
type notes []string

// mark returns the place of a text.
func (n *notes) mark(text string) int {
	i := slices.Index(*n, text)
	if i < 0 {
		i = len(*n)
		*n = append(*n, text)
	}
	return i
}

func footnotes(r *analysis.Row, n *notes) string {
	text := ""
	for _, i := range marks(r, n) {
		text += fmt.Sprintf("[%d]", i+1)
	}
	return text
}

func addTable(t *analysis.Table, d *doc.Document) {
	d.Add(doc.Subheading, "%s", t.Title)
	var n notes
	columns := columnsOf(t)
	g := &doc.Grid{}
	for _, c := range columns {
		g.Header, g.Right = append(g.Header, c.name), append(g.Right, c.right)
	}
	g.Header = append(g.Header, "notes")
	for _, row := range t.WithTwins() {
		cells, notes := tableCells(t, row, columns), footnotes(row, &n)
		if len(cells) < len(columns) {
			cells[2] = strings.TrimSpace(cells[2] + " " + notes)
		} else {
			cells = append(cells, notes)
		}
		g.Rows = append(g.Rows, cells)
	}
	*d = append(*d, doc.Block{Kind: doc.Table, Grid: g})
	for i, text := range n {
		d.Add(doc.Footnote, "[%d] %s", i+1, text)
	}
	addPhases(t, d)
}

// tableCells is a row without its notes; one without figures says why instead.
func tableCells(t *analysis.Table, row *analysis.Row, columns []column) []string {
	if _, has := row.Figure(t.Primary.Name); !has {
		return []string{row.Driver, wording.Clean(row.Cell.Profile), noFigure(t, row)}
	}
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.value(row)
	}
	return cells
}

// columnsOf lists what a table shows: more for several clients, and the
// durability where data changes.
func columnsOf(t *analysis.Table) []column {
	all := []column{
		{"driver", false, func(r *analysis.Row) string { return r.Driver }},
		{"profile", false, func(r *analysis.Row) string { return wording.Clean(r.Cell.Profile) }},
		{t.Primary.Name, true, figureColumn(t.Primary.Name)},
	}
	switch {
	case slices.ContainsFunc(t.WithTwins(), (*analysis.Row).Served):
		all = append(all, loadColumns(t)...)
	case t.Cell().AllClients() > 1:
		if slices.ContainsFunc(t.Rows, func(r *analysis.Row) bool { return !r.Saturated }) {
			all = append(all, column{assay.P50, true, centreColumn(assay.P50)}, column{assay.P99, true, centreColumn(assay.P99)})
		}
		all = append(all, column{assay.BusyOp, true, centreColumn(assay.BusyOp)})
	}
	if t.Any(assay.StaleOp) {
		all = append(all, column{assay.StaleOp, true, centreColumn(assay.StaleOp)})
	}
	if t.Any(assay.ReopensOp) {
		all = append(all, column{assay.ReopensOp, true, centreColumn(assay.ReopensOp)})
	}
	better := "<1 is faster"
	if t.Primary.HigherBetter {
		better = ">1 is faster"
	}
	all = append(all,
		column{"ratio, " + better, true, func(r *analysis.Row) string { return ratioCell(t, r) }},
		column{"verdict", false, func(r *analysis.Row) string { return verdictCell(t, r) }},
		column{"rank", true, rankCell})
	if t.HasFloor() {
		all = append(all, column{"x floor", true, floorCell})
	}
	if slices.ContainsFunc(t.Rows, func(r *analysis.Row) bool { return r.LoopShare() > 0 }) {
		all = append(all, column{"own loop", true, loopCell})
	}
	if t.Changes {
		all = append(all, column{"durability, by", false, durabilityCell})
	}
	return append(all, column{"n", true, func(r *analysis.Row) string { f, _ := r.Figure(t.Primary.Name); return fmt.Sprint(f.Interval.N) }})
}

func figureColumn(metric string) func(*analysis.Row) string {
	return func(r *analysis.Row) string {
		f, _ := r.Figure(metric)
		return figureText(f)
	}
}

func centreColumn(metric string) func(*analysis.Row) string {
	return func(r *analysis.Row) string {
		f, has := r.Figure(metric)
		if !has {
			return "-"
		}
		return wording.Human(f.Interval.Center, f.Metric.Unit)
	}
}

func ratioCell(t *analysis.Table, r *analysis.Row) string {
	if f, _ := r.Figure(t.Primary.Name); f.Comparison != nil {
		return ratioText(f.Comparison.Ratio)
	}
	return "-"
}

// verdictCell shows what the ratio says, or why there is none.
func verdictCell(t *analysis.Table, r *analysis.Row) string {
	f, _ := r.Figure(t.Primary.Name)
	switch {
	case slices.Contains(t.Twins, r):
		return "A/A"
	case r.Outcome != assay.OK:
		return string(r.Outcome)
	case r.Reference == r:
		return "reference"
	case r.IsFloor:
		return "floor"
	case f.Comparison != nil:
		return string(f.Comparison.Verdict)
	}
	return "-"
}

// loopCell shows the share of the figure that is the worker's own loop, which one
// client measures: several ones also wait for each other in it.
func loopCell(r *analysis.Row) string {
	if r.LoopShare() == 0 {
		return "-"
	}
	share := wording.Digits(100*r.LoopShare()) + " %"
	if r.Cell.AllClients() > 1 {
		return ">= " + share
	}
	return share
}

func rankCell(r *analysis.Row) string {
	if r.Rank == 0 {
		return "-"
	}
	return fmt.Sprint(r.Rank)
}

// durabilityCell shows the class, what it rests on, and the settings that it
// follows from: within a class, some lose more of the newest commits than others.
func durabilityCell(r *analysis.Row) string {
	text := lastingWords(r)
	var by []string
	for _, name := range []string{"journal_mode", "synchronous"} {
		if value := assay.Effective(r.Settings, name); value != "" {
			by = append(by, wording.Setting(name, value))
		}
	}
	if len(by) > 0 {
		text += ", " + strings.Join(by, " ")
	}
	if seen := assay.Effective(r.Settings, analysis.SyncBeforeAck); seen != "" {
		text += ", seen: " + seen
	}
	return text
}

// lastingWords is a row's class of durability with what it rests on: settings, or
// faults that were tried.
func lastingWords(r *analysis.Row) string {
	proof := assay.Foremost(r.Proofs)
	switch {
	case proof.Refuted > 0 && r.Claimed != r.Durability:
		return fmt.Sprintf("%s (%s %s)", r.Durability, r.Claimed, proof.Words())
	case r.Durability == assay.DurabilityUnknown:
		return analysis.Class(r.Durability)
	}
	return fmt.Sprintf("%s (%s)", r.Durability, proof.Words())
}

// marks notes a row's warnings and returns their places.
func marks(r *analysis.Row, n *notes) []int {
	var all []int
	if r.Outcome != assay.OK && len(r.Figures) > 0 {
		all = append(all, n.mark(wording.Clean(string(r.Outcome)+": "+r.Reason+"; not compared and not ranked")))
	}
	unequal := false // promises are why there is no verdict
	for _, f := range r.Figures {
		switch c := f.Comparison; {
		case c == nil || r.Twin || c.Verdict != stat.Undecided:
		case slices.Contains(r.Codes(), analysis.UnequalDurability):
			unequal = true
		default:
			all = append(all, n.mark(wording.Clean("undecided: "+Why(*c))))
		}
	}
	for _, w := range r.Warnings {
		if unequal && w.Code == analysis.UnequalDurability {
			w.Evidence = "undecided, since " + w.Evidence
		}
		all = append(all, n.mark(WarningLine(w)))
	}
	if r.Saturated {
		all = append(all, n.mark("saturated closed loop: more clients than processors, without pause; how long one operation takes is the scheduler's doing, and left out"))
	}
	if r.Cell.AsPublished {
		all = append(all, n.mark("as-published: this condition is as published, faults included"))
	}
	return all
}

// noFigure says why a row has none of what its table is compared by.
func noFigure(t *analysis.Table, row *analysis.Row) string {
	if row.Outcome == assay.OK {
		return "no figure of " + t.Primary.Name
	}
	return ended(row)
}

// ended says how a row ended that is not ok.
func ended(row *analysis.Row) string {
	text := string(row.Outcome)
	if row.Reason != "" {
		text += ": " + row.Reason
	}
	return wording.Clean(text)
}

// floorCell shows how many times the floor a row is.
func floorCell(r *analysis.Row) string {
	switch {
	case r.IsFloor:
		return "floor"
	case r.Floor != nil:
		return ratioText(*r.Floor)
	}
	return "-"
}

// loadColumns lists what became of requests. The closed loop has no rate.
func loadColumns(t *analysis.Table) []column {
	if t.Primary.Name == assay.CapacityPerS {
		return nil
	}
	names := []string{assay.P50, assay.P99, assay.OpPerS, assay.FailedOp}
	if t.Cell().Rate > 0 {
		names = []string{assay.P50, assay.P99, assay.OpPerS, assay.OfferedPerS, assay.Lag, assay.LateOp, assay.DroppedOp, assay.FailedOp}
	}
	var all []column
	for _, name := range names {
		if name != t.Primary.Name {
			all = append(all, column{name, true, centreColumn(name)})
		}
	}
	return all
}

// addPhases shows where the time goes.
func addPhases(t *analysis.Table, d *doc.Document) {
	used := t.Have(assay.PhaseMetrics)
	if len(used) == 0 {
		return
	}
	g := &doc.Grid{Header: []string{"phases: driver", "profile"}, Right: []bool{false, false}}
	for _, name := range used {
		g.Header, g.Right = append(g.Header, strings.TrimSuffix(name, assay.PhaseSuffix)), append(g.Right, true)
	}
	g.Header, g.Right = append(g.Header, "sum", "of which clock", t.Primary.Name+" without"), append(g.Right, true, true, true)
	for _, row := range t.Rows {
		if phases := row.Phases(); len(phases) > 0 {
			g.Rows = append(g.Rows, phaseCells(row, phases, used, t.Primary))
		}
	}
	*d = append(*d, doc.Block{Kind: doc.Table, Grid: g})
	addBars(t, d)
	d.Add(doc.Footnote, "assay times phases in separate windows, and they include the cost of reading the clock between them; "+
		"the last column excludes it. A phase that a driver's API does not separate is absent (-), not zero.")
}

func phaseCells(row *analysis.Row, phases []analysis.Phase, used []string, primary assay.Metric) []string {
	cells := []string{row.Driver, wording.Clean(row.Cell.Profile)}
	sum := 0.0
	for _, name := range used {
		i := slices.IndexFunc(phases, func(p analysis.Phase) bool { return p.Name+assay.PhaseSuffix == name })
		if i < 0 {
			cells = append(cells, "-")
			continue
		}
		p := phases[i]
		sum += p.Figure.Interval.Center
		cells = append(cells, fmt.Sprintf("%s %.0f %%", wording.Human(p.Figure.Interval.Center, p.Figure.Metric.Unit), 100*p.Share))
	}
	clock, _ := row.Figure(assay.ClockPerOp)
	whole, _ := row.Figure(primary.Name)
	return append(cells, wording.Human(sum, "ns"), wording.Human(clock.Interval.Center, "ns"), wording.Human(whole.Interval.Center, primary.Unit))
}

// barWidth is how many characters the longest bar of phases has.
const barWidth = 60

// phaseLetters stand for the phases in bars.
var phaseLetters = map[string]string{"prepare": "p", "bind": "b", "query": "q", "next": "n", "scan": "s", "close-rows": "r", "close-stmt": "f"}

// addBars draws the phases of each row one behind the other, all to one scale.
func addBars(t *analysis.Table, d *doc.Document) {
	longest, widest := 0.0, 0
	for _, row := range t.Rows {
		sum := 0.0
		for _, p := range row.Phases() {
			sum += p.Figure.Interval.Center
		}
		longest = max(longest, sum)
		widest = max(widest, len(row.Name()))
	}
	for _, row := range t.Rows {
		if phases := row.Phases(); len(phases) > 0 {
			d.AddLines(doc.Literal, fmt.Sprintf("%-*s  %s", widest, row.Name(), bar(phases, longest)))
		}
	}
	d.AddLines(doc.Literal, "p prepare, b bind, q query, n next, s scan, r close-rows, f close-stmt")
}

// bar rounds where phases end, not how long they are, so that the bar's length
// is right.
func bar(phases []analysis.Phase, longest float64) string {
	var text strings.Builder
	end := 0.0
	for _, p := range phases {
		end += p.Figure.Interval.Center
		until := int(math.Round(end / longest * barWidth))
		text.WriteString(strings.Repeat(phaseLetters[p.Name], max(0, until-text.Len())))
	}
	return text.String()
}
