package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
)

// tableView is a table with its charts and everything that it rests on.
type tableView struct {
	ID, Title   string
	Sentences   []string // what it shows
	Figures     []doc.Drawing
	Header      []string
	Right       []bool
	Rows        []rowView
	Notes       []noteView
	Phases      doc.Document
	Differences []string
	AsUnder     *tableLink // the table that has the same differences
	Published   doc.Document
	Samples     download
}

type rowView struct {
	ID      string
	Kind    string   // ok, floor, twin or other: its look
	Cells   []string // without the notes
	Span    int      // columns of the last cell, where it says why there are no figures
	Right   []bool
	Notes   []noteLink
	Name    string
	Reason  string
	Metrics template.HTML // lines of a table
	Trials  template.HTML // likewise
}

// noteLink leads to a note under the table.
type noteLink struct{ Anchor, Code string }

// noteView is a note: what was found, and what to do.
type noteView struct {
	noteLink
	Text string
}

// link leads to a note.
func (v *tableView) link(i int, text string) noteLink {
	code, _, _ := strings.Cut(text, ": ")
	return noteLink{fmt.Sprint(v.ID, "n", i+1), code}
}

// viewTable draws and lists a table.
func viewTable(t *analysis.Table, id string, p *packer) (*tableView, error) {
	v := &tableView{ID: id, Title: t.Title}
	for _, k := range t.Rankings {
		v.Sentences = append(v.Sentences, Sentence(k)+".")
	}
	if len(t.Rankings) == 0 {
		v.Sentences = []string{"No recommendation, because no cell can be ranked."}
	}
	var err error
	if v.Figures, err = drawings(tableCharts(t)); err != nil {
		return nil, err
	}
	var n notes
	columns := columnsOf(t)
	for _, c := range columns {
		v.Header, v.Right = append(v.Header, c.name), append(v.Right, c.right)
	}
	for _, row := range t.WithTwins() {
		v.addRow(t, row, columns, &n)
	}
	for i, text := range n {
		_, rest, _ := strings.Cut(text, ": ")
		v.Notes = append(v.Notes, noteView{v.link(i, text), rest})
	}
	addPhases(t, &v.Phases)
	for _, d := range t.Differences {
		v.Differences = append(v.Differences, wording.Clean(differing(d)))
	}
	v.Samples, err = p.download(fileName(t.Title, "samples")+".csv", func(to io.Writer) error { return writeSamples(t, to) })
	return v, err
}

func (v *tableView) addRow(t *analysis.Table, row *analysis.Row, columns []column, n *notes) {
	r := rowView{ID: fmt.Sprint(v.ID, "r", len(v.Rows)+1), Kind: "ok", Name: rowName(row), Reason: wording.Clean(row.Reason), Right: v.Right,
		Metrics: metricLines(row), Trials: trialLines(t, row)}
	switch {
	case row.Twin:
		r.Kind = "twin"
	case row.IsFloor:
		r.Kind = "floor"
	case row.Outcome != assay.OK:
		r.Kind = "other"
	}
	if r.Cells = tableCells(t, row, columns); len(r.Cells) < len(columns) {
		r.Span = len(columns) - 2
	}
	for _, i := range marks(row, n) {
		r.Notes = append(r.Notes, v.link(i, (*n)[i]))
	}
	v.Rows = append(v.Rows, r)
}

// writeSamples writes all launches of the table as CSV: one line a launch, its windows or its block as OPERATIONS:NANOSECONDS.
func writeSamples(t *analysis.Table, to io.Writer) error {
	names := map[string]bool{}
	for _, row := range t.WithTwins() {
		for _, trial := range row.Trials {
			for name := range trial.Figures.All() {
				names[name] = true
			}
		}
	}
	metrics := slices.SortedFunc(maps.Keys(names), func(a, b string) int { // as in tables
		return cmp.Or(analysis.MetricOrder(a)-analysis.MetricOrder(b), strings.Compare(a, b))
	})
	w := csv.NewWriter(to)
	_ = w.Write(append([]string{"driver", "profile", "twin", "group", "launch", "outcome", "reason", "disturbed", "samples"}, metrics...))
	for _, row := range t.WithTwins() {
		for _, trial := range row.Trials {
			record := []string{row.Driver, wording.Clean(row.Cell.Profile), strconv.FormatBool(row.Twin), wording.Clean(trial.Group), strconv.Itoa(trial.Launch),
				string(trial.Outcome), wording.Clean(trial.Reason), strconv.FormatBool(trial.Disqualified), rawSamples(trial.Samples)}
			for _, name := range metrics {
				record = append(record, trialFigure(trial, name))
			}
			_ = w.Write(record) // Error, below, tells
		}
	}
	w.Flush()
	return w.Error()
}

// trialFigure has nine digits, more than any clock, or is a whole number; empty
// where a launch has no such figure. The exact time is in the samples.
func trialFigure(t analysis.Trial, metric string) string {
	v, has := t.Figures.Of(metric)
	switch {
	case !has || !analysis.Finite(v):
		return ""
	case v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 9, 64)
}

func rawSamples(samples []assay.Sample) string {
	var all []string
	for _, s := range samples {
		all = append(all, fmt.Sprint(s.Operations, ":", s.Nanos))
	}
	return strings.Join(all, ";")
}

// tableLines writes lines of a table, each cell escaped. A page has hundreds of
// thousands of these cells, for which the template would take seconds.
type tableLines struct{ strings.Builder }

// add writes a line; the second cell has its exact value, where there is one.
func (l *tableLines) add(exact string, cells ...string) {
	l.WriteString("<tr>")
	for i, cell := range cells {
		if i == 1 && exact != "" {
			l.WriteString(`<td data-exact="` + template.HTMLEscapeString(exact) + `">`)
		} else {
			l.WriteString("<td>")
		}
		l.WriteString(template.HTMLEscapeString(cell))
	}
	l.WriteString("\n")
}

// metricLines has a line for each figure of a row: as people read it, with its
// centre in full precision.
func metricLines(row *analysis.Row) template.HTML {
	var lines tableLines
	for _, f := range row.Figures {
		unit, interval, ratio, verdict := f.Metric.Unit, "?", "", ""
		if f.Interval.Known() {
			interval = wording.Human(f.Interval.Low, unit) + " to " + wording.Human(f.Interval.High, unit)
		}
		if f.Ratio != nil {
			ratio = ratioText(*f.Ratio)
		}
		if f.Comparison != nil {
			verdict = string(f.Comparison.Verdict)
		}
		lines.add(number(f.Interval.Center), wording.Clean(f.Metric.Name), wording.Human(f.Interval.Center, unit), interval, strconv.Itoa(f.Interval.N), ratio, verdict)
	}
	return template.HTML(lines.String())
}

// trialLines has a line for each launch: its figure of the table's metric, and
// the windows or the block that it comes from.
func trialLines(t *analysis.Table, row *analysis.Row) template.HTML {
	var lines tableLines
	for _, trial := range row.Trials {
		shown := "-"
		if figure, has := trial.Figures.Of(t.Primary.Name); has {
			shown = wording.Human(figure, t.Primary.Unit)
		}
		var samples []string
		for _, s := range trial.Samples {
			samples = append(samples, fmt.Sprintf("%d in %s", s.Operations, wording.Human(float64(s.Nanos), "ns")))
		}
		cells := []string{strconv.Itoa(trial.Launch), shown, strings.Join(samples, ", ")}
		if words := remarks(row, trial); words != "" {
			cells = append(cells, words)
		}
		lines.add("", cells...)
	}
	return template.HTML(lines.String())
}

// remarks returns what is to be said of a launch; empty where all is well. The row's
// own reason is not repeated.
func remarks(row *analysis.Row, t analysis.Trial) string {
	var all []string
	switch {
	case t.Outcome == assay.OK:
	case t.Reason == row.Reason:
		all = append(all, string(t.Outcome))
	default:
		all = append(all, wording.Clean(string(t.Outcome)+": "+t.Reason))
	}
	if t.Disqualified {
		all = append(all, "disturbed")
	}
	return strings.Join(all, "; ")
}
