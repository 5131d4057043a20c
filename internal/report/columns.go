package report

import (
	"fmt"
	"slices"
	"strings"

	"assay"
	"assay/internal/stat"
)

// column is one column of a table for readers.
type column struct {
	name  string
	right bool
	value func(*Row) string
}

// notes numbers the warnings of one table.
type notes []string

// mark returns the footnote mark of a text.
func (n *notes) mark(text string) string {
	i := slices.Index(*n, text)
	if i < 0 {
		i = len(*n)
		*n = append(*n, text)
	}
	return fmt.Sprintf("[%d]", i+1)
}

// addTo shows the table with its footnotes.
func (t *Table) addTo(d *document) {
	d.add(subheading, "%s", t.Title)
	var n notes
	columns := t.columns(&n)
	g := &grid{}
	for _, c := range columns {
		g.header = append(g.header, c.name)
		g.right = append(g.right, c.right)
	}
	for _, row := range append(slices.Clone(t.Rows), t.Twins...) {
		g.rows = append(g.rows, t.cells(row, columns, &n))
	}
	*d = append(*d, block{kind: table, grid: g})
	for i, text := range n {
		d.add(footnote, "[%d] %s", i+1, text)
	}
	t.addPhases(d)
}

// cells is a row as printed; one without figures says why instead.
func (t *Table) cells(row *Row, columns []column, n *notes) []string {
	if _, has := row.Figure(t.Primary.Name); !has {
		why := string(row.Outcome)
		if row.Outcome == assay.OK {
			why = "no figure of " + t.Primary.Name
		}
		if row.Reason != "" {
			why += ": " + row.Reason
		}
		return []string{row.Driver, clean(row.Cell.Profile), strings.TrimSpace(clean(why) + " " + marks(row, n))}
	}
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.value(row)
	}
	return cells
}

// columns lists what a table shows: more for several clients, and the
// durability where data changes.
func (t *Table) columns(n *notes) []column {
	all := []column{
		{"driver", false, func(r *Row) string { return r.Driver }},
		{"profile", false, func(r *Row) string { return clean(r.Cell.Profile) }},
		{t.Primary.Name, true, figureColumn(t.Primary.Name)},
	}
	switch {
	case slices.ContainsFunc(t.withTwins(), (*Row).served):
		all = append(all, t.loadColumns()...)
	case t.cell().Clients > 1:
		all = append(all,
			column{assay.P50, true, centreColumn(assay.P50)},
			column{assay.P99, true, centreColumn(assay.P99)},
			column{assay.BusyOp, true, centreColumn(assay.BusyOp)})
	}
	better := "<1 is faster"
	if t.Primary.HigherBetter {
		better = ">1 is faster"
	}
	all = append(all,
		column{"ratio, " + better, true, t.ratio},
		column{"verdict", false, t.verdictCell},
		column{"rank", true, rankCell})
	if t.hasFloor() {
		all = append(all, column{"x floor", true, floorCell})
	}
	if t.Changes {
		all = append(all, column{"durability, by", false, durabilityCell})
	}
	return append(all,
		column{"n", true, func(r *Row) string { f, _ := r.Figure(t.Primary.Name); return fmt.Sprint(f.Interval.N) }},
		column{"notes", false, func(r *Row) string { return marks(r, n) }})
}

// figureColumn shows a figure with its interval.
func figureColumn(metric string) func(*Row) string {
	return func(r *Row) string {
		f, _ := r.Figure(metric)
		return figureText(f)
	}
}

// centreColumn shows a figure alone.
func centreColumn(metric string) func(*Row) string {
	return func(r *Row) string {
		f, has := r.Figure(metric)
		if !has {
			return "-"
		}
		return human(f.Interval.Center, f.Metric.Unit)
	}
}

// ratio shows the comparison with the reference.
func (t *Table) ratio(r *Row) string {
	if f, _ := r.Figure(t.Primary.Name); f.Comparison != nil {
		return ratioText(f.Comparison.Ratio)
	}
	return "-"
}

// verdictCell shows what the ratio says, or why there is none.
func (t *Table) verdictCell(r *Row) string {
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

// rankCell shows the rank of rows that have one.
func rankCell(r *Row) string {
	if r.Rank == 0 {
		return "-"
	}
	return fmt.Sprint(r.Rank)
}

// durabilityCell shows the class with the settings that it follows from:
// within a class, some lose more of the newest commits than others.
func durabilityCell(r *Row) string {
	text := class(r.Durability)
	if by := effective(r.Settings, "journal_mode") + "," + effective(r.Settings, "synchronous"); by != "," {
		text += " (" + by + ")"
	}
	if seen := effective(r.Settings, syncBeforeAck); seen != "" {
		text += ", seen: " + seen
	}
	return text
}

// syncBeforeAck is the setting by which a trace of system calls says whether
// commits are synced before they are acknowledged.
const syncBeforeAck = "sync-before-ack"

// marks notes a row's warnings and returns their marks.
func marks(r *Row, n *notes) string {
	var all []string
	if r.Outcome != assay.OK && len(r.Figures) > 0 {
		all = append(all, n.mark(clean(string(r.Outcome)+": "+r.Reason+"; not compared and not ranked")))
	}
	unequal := false // promises are why there is no verdict
	for _, f := range r.Figures {
		switch c := f.Comparison; {
		case c == nil || r.twin || c.Verdict != stat.Undecided:
		case slices.Contains(r.codes(), UnequalDurability):
			unequal = true
		default:
			all = append(all, n.mark(clean("undecided: "+c.Reason)))
		}
	}
	for _, w := range r.Warnings {
		if unequal && w.Code == UnequalDurability {
			w.Evidence = "undecided, since " + w.Evidence
		}
		all = append(all, n.mark(w.String()))
	}
	if r.Cell.AsPublished {
		all = append(all, n.mark("as-published: this condition is literally what was published, faults included"))
	}
	return strings.Join(all, "")
}
