package report

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/doc/chart"
	"assay/internal/sys/file"
	"assay/internal/sys/printable"
)

type operation struct {
	name   string
	tables []*analysis.Table
}

// operations are in the order of the tables.
func (r *Report) operations() []*operation {
	workloads := map[string]bool{}
	for _, t := range r.Tables {
		workloads[t.Cell().Workload] = true
	}
	var all []*operation
	for _, t := range r.Tables {
		c := t.Cell()
		name := c.Operation
		if len(workloads) > 1 {
			name = c.Workload + ": " + name
		}
		name = wording.Clean(name)
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, &operation{name: name})
		}
		last := all[len(all)-1]
		last.tables = append(last.tables, t)
	}
	return all
}

// family is tables that differ in one numeric axis only.
type family struct {
	axis   string
	rest   string // the title of its tables without the axis
	tables map[float64]*analysis.Table
}

// axes are a cell's coordinates that are numbers, by name.
func axes(c assay.Cell) map[string]float64 {
	all := map[string]float64{}
	for _, k := range assay.Coordinates {
		if k.Clear != nil {
			all[k.Name] = k.Number(c)
		}
	}
	for name, text := range c.Params {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			all[name] = v
		}
	}
	return all
}

// withoutAxis is the cell with an axis taken away: what a family's tables share.
func withoutAxis(c assay.Cell, axis string) assay.Cell {
	for _, k := range assay.Coordinates {
		if k.Name == axis && k.Clear != nil {
			k.Clear(&c)
		}
	}
	c.Params = maps.Clone(c.Params)
	delete(c.Params, axis)
	return c
}

// families finds the axes of an operation that have several values.
func (o *operation) families() []*family {
	byKey := map[string]*family{}
	var all []*family
	for _, t := range o.tables {
		c := t.Cell()
		values := axes(c)
		for _, axis := range slices.Sorted(maps.Keys(values)) {
			rest := withoutAxis(c, axis)
			key := axis + "|" + rest.Peer()
			if byKey[key] == nil {
				byKey[key] = &family{axis: axis, rest: wording.Clean(strings.Join(append([]string{o.name}, rest.Words()...), ", ")), tables: map[float64]*analysis.Table{}}
				all = append(all, byKey[key])
			}
			byKey[key].tables[values[axis]] = t
		}
	}
	return slices.DeleteFunc(all, func(f *family) bool { return len(f.tables) < 2 })
}

// question holds what curves answer in one picture: how a metric depends on an axis.
type question struct {
	axis, metric string
	panels       []chart.Facet
	left         int // rows that are too many to be told apart
}

// curves are a chart for each question, with a panel for each operation that has the axis.
func (r *Report) curves() (all []NamedChart) {
	var questions []*question
	for _, o := range r.operations() {
		for _, f := range o.families() {
			lines, left := f.lines()
			if len(lines.Series) == 0 {
				continue
			}
			metric := f.metric().Name
			i := slices.IndexFunc(questions, func(q *question) bool {
				return q.axis == f.axis && q.metric == metric && q.fits(lines)
			})
			if i < 0 {
				questions, i = append(questions, &question{axis: f.axis, metric: metric}), len(questions)
			}
			q := questions[i]
			q.panels, q.left = append(q.panels, chart.Facet{Title: fmt.Sprintf("%s: %s %s", f.rest, lines.Series[0].Name, doc.Bend(lines, f.metric().HigherBetter)), Lines: lines}), max(q.left, left)
		}
	}
	for _, q := range questions {
		all = append(all, q.chart())
	}
	return all
}

// fits reports whether curves more can be told apart from those of the question.
func (q *question) fits(lines *chart.Lines) bool {
	names := map[string]bool{}
	for _, p := range append(q.panels, chart.Facet{Lines: lines}) {
		for _, s := range p.Series {
			names[s.Name] = true
		}
	}
	return len(names) <= chart.Series
}

func (q *question) chart() NamedChart {
	title := fmt.Sprintf("How %s depends on %s", q.metric, q.axis)
	if q.left > 0 {
		title += fmt.Sprintf(" (at most %d rows are drawn, and %d more are in the tables)", chart.Series, q.left)
	}
	var words []string
	for i, p := range q.panels {
		q.panels[i].Y.Log = true // each panel shows the same factor
		words = append(words, p.Title+" "+describeLines(p.Lines, q.axis))
	}
	return NamedChart{"chart-" + fileName(q.metric, "by "+q.axis), &chart.Chart{Title: title, Description: strings.Join(words, " "), Body: &chart.Facets{Panels: q.panels}}}
}

// lines draws a series for each driver and profile that has at least two
// points; left counts those that were too many.
func (f *family) lines() (lines *chart.Lines, left int) {
	values := slices.Sorted(maps.Keys(f.tables))
	metric := f.metric()
	var all []float64
	series := map[string]*chart.Curve{}
	var order []string
	for _, v := range values {
		t := f.tables[v]
		for _, row := range t.Rows {
			figure, has := row.Figure(metric.Name)
			if !has || !row.Comparable() {
				continue
			}
			name := wording.Clean(row.Name())
			if series[name] == nil {
				series[name] = &chart.Curve{Name: name}
				order = append(order, name)
			}
			series[name].Points = append(series[name].Points, chart.Point{X: v, Y: doc.Drawable(figure.Interval)})
			all = append(all, figure.Interval.Center)
		}
	}
	order = slices.DeleteFunc(order, func(name string) bool { return len(series[name].Points) < 2 })
	x := chart.Axis{Label: axisWords(f.axis), Log: values[0] > 0 && spread(values) >= minLogSpread, Tick: digitsTick}
	lines = &chart.Lines{X: x, Y: chart.Axis{Label: metricWords(metric), Log: spread(all) > minLogSpread, Tick: unitTick(metric.Unit)}}
	for i, name := range order {
		if i < chart.Series {
			lines.Series = append(lines.Series, *series[name])
		}
	}
	return lines, max(0, len(order)-chart.Series)
}

// metric returns the metric that is primary in all tables or, where they differ, the
// throughput.
func (f *family) metric() assay.Metric {
	var one assay.Metric
	for _, t := range f.tables {
		if one.Name != "" && one.Name != t.Primary.Name {
			one, _ = assay.MetricByName(assay.OpPerS)
			return one
		}
		one = t.Primary
	}
	return one
}

// axisWords explains the axes that have the same name in every plan.
func axisWords(axis string) string {
	words := map[string]string{
		"clients": "clients at the same time", "pool": "open connections", "rate": "arrivals per second",
		"transaction": "operations in a transaction (0: each commits alone)", "rows": "rows in the table", "processes": "processes on one file",
	}
	return cmp.Or(words[axis], wording.Clean(axis)+" (a parameter of the plan)")
}

// describeLines says what a chart of curves shows.
func describeLines(lines *chart.Lines, axis string) string {
	var parts []string
	for _, s := range lines.Series {
		first, last := s.Points[0], s.Points[len(s.Points)-1]
		parts = append(parts, fmt.Sprintf("%s from %s at %s to %s at %s", s.Name,
			lines.Y.Tick(first.Y.Center), lines.X.Tick(first.X), lines.Y.Tick(last.Y.Center), lines.X.Tick(last.X)))
	}
	return fmt.Sprintf("%s, by %s: %s. The tables have all figures.", lines.Y.Label, axis, strings.Join(parts, "; "))
}

// longestName is how long a chart's file name may be, without its extension.
const longestName = 100

// writeCharts writes a file for every chart.
func writeCharts(dir string, r *Report) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("write charts: %w", err)
	}
	var paths []string
	for _, named := range r.Charts() {
		data, err := named.Chart.File()
		if err != nil {
			return paths, err
		}
		path := filepath.Join(dir, named.Name+".svg")
		if err := file.Write(path, []byte(printable.String(string(data)))); err != nil {
			return paths, fmt.Errorf("write charts: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// fileName makes a name of letters, digits and dashes, which no system reads as
// a path or an option.
func fileName(words, kind string) string {
	var name strings.Builder
	for _, r := range strings.ToLower(words + " " + kind) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			name.WriteRune(r)
		case name.Len() > 0 && !strings.HasSuffix(name.String(), "-"):
			name.WriteByte('-')
		}
	}
	text := name.String()
	if len(text) > longestName {
		text = text[:longestName]
	}
	return strings.Trim(text, "-")
}

// uniqueNames numbers the charts whose names would be the same.
func uniqueNames(all []NamedChart) []NamedChart {
	seen := map[string]int{}
	for i := range all {
		name := all[i].Name
		seen[name]++
		if n := seen[name]; n > 1 {
			all[i].Name = fmt.Sprintf("%s--%d", name, n)
		}
	}
	return all
}
