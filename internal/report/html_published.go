package report

import (
	"fmt"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/stat"
)

// Published is a relation of two figures of a published benchmark that the run
// measured again: A / B.
type Published struct {
	Source  string // the published benchmark
	Machine string // it was measured on; empty where the source does not say
	Metric  string // name of the assay.Metric
	A, B    PublishedFigure
}

// PublishedFigure is one of them, in the source's words, with the cell that
// measures it again.
type PublishedFigure struct {
	What    string
	Printed string
	Unit    string
	Value   float64           // in Unit
	Cell    map[string]string // coordinates that select the one cell
	Doubt   string            // why it is no measurement of what it is called; empty: it is
}

// publishedView is what stands under a table.
type publishedView struct {
	Source, There, Here string
	Lines               []publishedLine
}

// publishedLine has both relations.
type publishedLine struct{ What, Published, Printed, Own, Verdict string }

// publishedOf are the relations whose first cell is in the table; nil where
// there are none.
func (r *Report) publishedOf(t *analysis.Table, all []Published) *publishedView {
	var view *publishedView
	for _, p := range all {
		a, b := r.cellOf(p.A.Cell), r.cellOf(p.B.Cell)
		metric, known := assay.MetricByName(p.Metric)
		if a == nil || a.Table != t || b == nil || !known || p.B.Value == 0 && p.A.Doubt == "" {
			continue
		}
		if view == nil {
			view = &publishedView{Source: wording.Clean(p.Source), There: wording.Clean(p.Machine), Here: r.machine()}
		}
		line := publishedLine{
			What:      wording.Clean(p.A.What + " / " + p.B.What),
			Published: wording.Digits(p.A.Value / p.B.Value),
			Printed:   wording.Clean(fmt.Sprintf("%s / %s %s", p.A.Printed, p.B.Printed, p.B.Unit)),
		}
		line.Own, line.Verdict = ownRelation(a, b, metric)
		if p.A.Doubt != "" {
			line.Published, line.Verdict = "none", line.Verdict+"; as published, "+wording.Clean(p.A.Doubt)
		}
		view.Lines = append(view.Lines, line)
	}
	return view
}

// cellOf finds the first cell with these coordinates; nil where the run has none.
func (r *Report) cellOf(where map[string]string) *analysis.Row {
	rows := analysis.Side{Result: r.Result, Where: where}.Rows()
	if len(where) == 0 || len(rows) == 0 {
		return nil
	}
	return rows[0]
}

// ownRelation is the ratio as this run has it, or why there is none.
func ownRelation(a, b *analysis.Row, metric assay.Metric) (ratio, verdict string) {
	line, err := a.Line(b, metric, nil)
	if err != nil {
		return "not compared", wording.Clean(err.Error())
	}
	c := line.Comparison
	verdict = string(c.Verdict)
	if c.Verdict == stat.Undecided {
		verdict += ": " + Why(c)
	}
	if c.Ratio.N == 0 {
		return "not compared", wording.Clean(verdict)
	}
	ratio = ratioText(c.Ratio)
	if line.Basis != analysis.Joint && c.Ratio.N > 1 {
		verdict += "; not measured in the same launches"
	}
	return ratio, wording.Clean(verdict)
}
