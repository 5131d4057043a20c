package report

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
)

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
			interval = human(f.Interval.Low, unit) + " to " + human(f.Interval.High, unit)
		}
		if f.Ratio != nil {
			ratio = ratioText(*f.Ratio)
		}
		if f.Comparison != nil {
			verdict = string(f.Comparison.Verdict)
		}
		lines.add(number(f.Interval.Center), wording.Clean(f.Metric.Name), human(f.Interval.Center, unit), interval, strconv.Itoa(f.Interval.N), ratio, verdict)
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
			shown = human(figure, t.Primary.Unit)
		}
		var samples []string
		for _, s := range trial.Samples {
			samples = append(samples, fmt.Sprintf("%d in %s", s.Operations, human(float64(s.Nanos), "ns")))
		}
		cells := []string{strconv.Itoa(trial.Launch), shown, strings.Join(samples, ", ")}
		if words := remarks(row, trial); words != "" {
			cells = append(cells, words)
		}
		lines.add("", cells...)
	}
	return template.HTML(lines.String())
}

// remarks are what is to be said of a launch; empty where all is well. The row's
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
