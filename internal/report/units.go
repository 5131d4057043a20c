package report

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/stat"
)

// maxHalfWidth is the largest half-width of an interval that is printed, in percent: that of
// two launches can be anything.
const maxHalfWidth = 999

// halfWidth is the longer side of a figure's interval, as a share of the figure.
func halfWidth(i stat.Interval) float64 { return max(i.High-i.Center, i.Center-i.Low) / i.Center }

// figureText is a figure with the longer side of its interval, as a share of it.
func figureText(f analysis.Figure) string {
	s := wording.Human(f.Interval.Center, f.Metric.Unit)
	if !f.Interval.Known() {
		return s + " ± ?"
	}
	half := 100 * halfWidth(f.Interval)
	if half > maxHalfWidth {
		return s + " ± >" + strconv.Itoa(maxHalfWidth) + " %"
	}
	return s + " ± " + strconv.FormatFloat(half, 'f', 1, 64) + " %"
}

// ratioText is a ratio with its interval, with as many digits as it takes to
// see on which side of 1 the ends are.
func ratioText(i stat.Interval) string { return wording.Ratio(i, "%s [%s, %s]") }

// speedText is by how much the better of two is faster, given the ratio of
// its figure to the other's.
func speedText(i stat.Interval, metric assay.Metric) string {
	if !metric.HigherBetter {
		i = i.Inverse()
	}
	return wording.Times(i)
}

// list joins names as a sentence does.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// shownFigure is a figure with its uncertainty: where that is large, its third digit says nothing.
func shownFigure(i stat.Interval, unit string) string {
	if spread := uncertainty(i); spread != "" {
		return wording.HumanDigits(i.Center, unit, 2) + spread
	}
	return wording.Human(i.Center, unit)
}

// uncertainty is the half of a figure's interval where the figure has too few launches or too wide
// an interval to be taken for what it says; the mark alone where it has none, or one that can be anything.
func uncertainty(i stat.Interval) string {
	half := halfWidth(i)
	switch {
	case i.N >= stat.MinLaunches && half <= maxSpread:
		return ""
	case i.N < 2 || !(100*half <= maxHalfWidth):
		return markSpread
	}
	return fmt.Sprintf("%s%.0f%%", markSpread, 100*half)
}

// paramLabels are the parameters of a cell that are not the same in all tables of its operation.
func (r *Report) paramLabels(cell assay.Cell) []string {
	told := maps.Clone(cell.Params)
	maps.DeleteFunc(told, func(name, _ string) bool {
		return !r.tellsApart(cell, func(c assay.Cell) string { return c.Params[name] })
	})
	return assay.Cell{Params: told}.ParamWords()
}
