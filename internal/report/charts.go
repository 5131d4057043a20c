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
	"assay/internal/doc/chart"
	"assay/internal/stat"
)

// NamedChart is a chart with the name of its file, without an extension: safe
// on every system, made of the operation and its coordinates.
type NamedChart struct {
	Name  string
	Chart *chart.Chart
}

// Charts returns all charts of the report: the curves, then those of its tables in their order.
func (r *Report) Charts() []NamedChart {
	all := r.curves()
	for _, t := range r.Tables {
		all = append(all, tableCharts(t)...)
	}
	return uniqueNames(all)
}

// tableCharts returns the charts of one table; none where no row has a figure to draw. Only
// the first has the rows without figures too.
func tableCharts(t *analysis.Table) []NamedChart {
	var all []NamedChart
	add := func(kind string, rows *chart.Rows, words string) {
		all = append(all, NamedChart{"chart-" + fileName(t.Title, kind), &chart.Chart{
			Title: t.Title + ": " + words, Description: describe(t, words), Body: rows,
		}})
	}
	if slices.ContainsFunc(t.Rows, func(row *analysis.Row) bool { return isDrawn(t, row) }) {
		add("", figureRows(t), "figures by driver and profile")
	}
	if rows, any := latencyRows(t); any {
		add("latency", rows, "latency percentiles")
	}
	if rows, any := phaseRows(t); any {
		add("phases", rows, "where the time of a statement goes")
	}
	return all
}

// describe says in words what a chart of the table shows.
func describe(t *analysis.Table, words string) string {
	var parts []string
	for _, k := range t.Rankings {
		parts = append(parts, Sentence(k)+".")
	}
	without := 0
	for _, row := range t.Rows {
		if !isDrawn(t, row) {
			without++
		}
	}
	if without > 0 {
		parts = append(parts, wording.Plural(without, "row")+" without figures, each with its reason.")
	}
	return fmt.Sprintf("%s, %s, %s. %s The table has all figures.", t.Title, words, wording.Plural(len(t.Rows), "row"), strings.Join(parts, " "))
}

// isDrawn reports whether a row's figures are drawn: only those that may be set against others
// are.
func isDrawn(t *analysis.Table, row *analysis.Row) bool {
	f, has := row.Figure(t.Primary.Name)
	return row.Comparable() && has && analysis.Finite(f.Interval.Center)
}

// figureRows shows the primary figure, its ratio to the reference and, where
// there is one, that to the floor.
func figureRows(t *analysis.Table) *chart.Rows {
	rows := &chart.Rows{Grouped: "rank", Dots: "one launch", Marks: []string{"all launches, with 95 % CI"}}
	figures := chart.Panel{Axis: metricAxis(t.Primary, drawnValues(t))}
	ratios := chart.Panel{Axis: ratioAxis(t), Line: 1, BandLow: 1 / (1 + t.Margin), BandHigh: 1 + t.Margin}
	floors := chart.Panel{Axis: chart.Axis{Label: "times the floor: 1 is the engine with nothing in between", Log: true, Tick: digitsTick}, Line: 1, BandLow: 1, BandHigh: 1}
	rows.Panels = []chart.Panel{figures}
	hasRatios := slices.ContainsFunc(t.WithTwins(), func(row *analysis.Row) bool { f, _ := row.Figure(t.Primary.Name); return f.Comparison != nil })
	if hasRatios {
		rows.Panels = append(rows.Panels, ratios)
	}
	if t.HasFloor() {
		rows.Panels = append(rows.Panels, floors)
	}
	for _, row := range t.WithTwins() {
		rows.Rows = append(rows.Rows, chartRow(t, row, func() []chart.Cell {
			f, _ := row.Figure(t.Primary.Name)
			cells := []chart.Cell{{Marks: []chart.Interval{doc.Drawable(f.Interval)}, Dots: row.PerLaunch(t.Primary.Name), Text: wording.Human(f.Interval.Center, f.Metric.Unit)}}
			if hasRatios {
				cells = append(cells, intervalCell(f.Ratio))
			}
			if t.HasFloor() {
				cells = append(cells, intervalCell(row.Floor))
			}
			return cells
		}))
	}
	return rows
}

// chartRow is a row with its rank and, where data changes, its class of
// durability; one that is not ok says why.
func chartRow(t *analysis.Table, row *analysis.Row, cells func() []chart.Cell) chart.Row {
	r := chart.Row{Name: rowName(row), Group: rankGroup(t, row)}
	if t.Changes {
		r.Section = "durability " + analysis.Class(row.Durability)
	}
	if t.Changes && row.Rank == 0 {
		r.Section = "not ranked"
	}
	if row.Twin {
		r.Section = "this run's noise: the baseline against itself (A/A test)"
	}
	if isDrawn(t, row) {
		r.Cells = cells()
		return r
	}
	r.Text = ended(row)
	return r
}

// rowName is the row's name with what it is for the others.
func rowName(row *analysis.Row) string {
	name := wording.Clean(row.Name())
	switch {
	case row.Twin:
		return name + ", again"
	case row.IsFloor:
		return name + ", floor"
	case row.Reference == row:
		return name + ", reference"
	}
	return name
}

// rankGroup is the rank, with a sign where rows share it.
func rankGroup(t *analysis.Table, row *analysis.Row) string {
	if row.Rank == 0 {
		return ""
	}
	shared := 0
	for _, other := range t.Rows {
		if other.Rank == row.Rank && (!t.Changes || other.Unequal(row) == nil) {
			shared++
		}
	}
	if shared > 1 {
		return fmt.Sprint(row.Rank, " =")
	}
	return fmt.Sprint(row.Rank)
}

// intervalCell is a ratio with its interval; empty where there is none.
func intervalCell(i *stat.Interval) chart.Cell {
	if i == nil {
		return chart.Cell{}
	}
	return chart.Cell{Marks: []chart.Interval{doc.Drawable(*i)}, Text: wording.Digits(i.Center)}
}

// minLogSpread is the ratio of the largest figure to the smallest from which an axis
// has a log scale.
const minLogSpread = 10

func metricAxis(m assay.Metric, values []float64) chart.Axis {
	return chart.Axis{Label: metricWords(m), Log: spread(values) > minLogSpread, Tick: unitTick(m.Unit)}
}

// spread is the largest value over the smallest; 1 where there are none above 0.
func spread(values []float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if v > 0 && analysis.Finite(v) {
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	if low > high {
		return 1
	}
	return high / low
}

func drawnValues(t *analysis.Table) []float64 {
	var all []float64
	for _, row := range t.Rows {
		if f, has := row.Figure(t.Primary.Name); has && isDrawn(t, row) {
			all = append(all, f.Interval.Center)
		}
	}
	return all
}

// metricWords is a metric as an axis calls it.
func metricWords(m assay.Metric) string {
	switch m.Name {
	case assay.NsPerOp:
		return "time per operation (ns/op): less is better"
	case assay.OpPerS:
		return "operations per second (op/s): more is better"
	}
	better := "less"
	if m.HigherBetter {
		better = "more"
	}
	return m.Name + ": " + better + " is better"
}

func ratioAxis(t *analysis.Table) chart.Axis {
	to, profile := "the reference", ""
	for _, row := range t.Rows {
		if row.Reference != nil {
			if to = row.Reference.Driver; row.Reference.Cell.Profile != row.Cell.Profile {
				profile = row.Reference.Cell.Profile
			}
		}
	}
	better := "below"
	if t.Primary.HigherBetter {
		better = "above"
	}
	label := fmt.Sprintf("ratio to %s with %s: %s 1 is faster; band: within %s %%", to, profileWords(profile), better, digitsTick(100*t.Margin))
	return chart.Axis{Label: label, Log: true, Tick: digitsTick}
}

// unitTick prints round values of a unit.
func unitTick(unit string) func(float64) string {
	return func(v float64) string {
		value, prefix, _ := strings.Cut(wording.Human(v, unit), " ")
		return strings.TrimSpace(trimZeros(value) + " " + prefix)
	}
}

// digitsTick prints a round number.
func digitsTick(v float64) string { return trimZeros(wording.Digits(v)) }

func trimZeros(number string) string {
	if !strings.Contains(number, ".") {
		return number
	}
	return strings.TrimRight(strings.TrimRight(number, "0"), ".")
}

// latencyRows shows the percentiles of each row; false where no row has two.
func latencyRows(t *analysis.Table) (*chart.Rows, bool) {
	names := t.Have([]string{assay.P50, assay.P90, assay.P99, assay.P999})
	rows := &chart.Rows{Marks: names, Grouped: "rank"}
	any := false
	for _, row := range t.Rows {
		if !isDrawn(t, row) {
			continue
		}
		rows.Rows = append(rows.Rows, chartRow(t, row, func() []chart.Cell {
			cell, has := chart.Cell{}, 0
			for _, name := range names {
				at := doc.Drawable(stat.MeanInterval(nil))
				if f, ok := row.Figure(name); ok && f.Interval.Center > 0 {
					at = doc.Drawable(f.Interval)
					has++
				}
				cell.Marks = append(cell.Marks, at)
			}
			any = any || has > 1
			return []chart.Cell{cell}
		}))
	}
	axis := chart.Axis{Label: "latency of one operation: less is better", Log: true, Tick: unitTick("ns")}
	rows.Panels = []chart.Panel{{Axis: axis}}
	return rows, any
}

// phaseRows stacks the phases of each row; false where none were timed.
func phaseRows(t *analysis.Table) (*chart.Rows, bool) {
	rows := &chart.Rows{Grouped: "rank", Marks: []string{"sum of the phases, with 95 % CI"}}
	used := t.Have(assay.PhaseMetrics)
	for _, name := range used {
		rows.Parts = append(rows.Parts, strings.TrimSuffix(name, assay.PhaseSuffix))
	}
	for _, row := range t.Rows {
		if !isDrawn(t, row) {
			continue
		}
		if len(row.Phases()) == 0 {
			rows.Rows = append(rows.Rows, chart.Row{Name: rowName(row), Group: rankGroup(t, row), Text: "no phases"})
			continue
		}
		rows.Rows = append(rows.Rows, chartRow(t, row, func() []chart.Cell { return []chart.Cell{phaseCell(row, used)} }))
	}
	axis := chart.Axis{Label: "time of a statement by phase, including the cost of reading the clock: less is better", Tick: unitTick("ns")}
	rows.Panels = []chart.Panel{{Axis: axis}}
	return rows, len(used) > 0 && slices.ContainsFunc(t.Rows, func(row *analysis.Row) bool { return isDrawn(t, row) })
}

// phaseCell stacks one row's phases. The interval is that of their sum in each
// launch.
func phaseCell(row *analysis.Row, used []string) chart.Cell {
	var cell chart.Cell
	for _, name := range used {
		f, has := row.Figure(name)
		if !has {
			f.Interval.Center = math.NaN()
		}
		cell.Parts = append(cell.Parts, f.Interval.Center)
	}
	var sums []float64
	for _, trial := range row.Counted() {
		sum := 0.0
		for _, name := range used {
			sum += trial.Figures.Value(name)
		}
		if sum > 0 && analysis.Finite(sum) {
			sums = append(sums, sum)
		}
	}
	total := stat.LogInterval(sums)
	cell.Marks = []chart.Interval{doc.Drawable(total)}
	cell.Text = wording.Human(total.Center, "ns")
	return cell
}
