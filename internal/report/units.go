package report

import (
	"math"
	"strconv"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/stat"
)

// scales are the prefixes of each unit that tables show, smallest first.
var scales = map[string][]string{
	"ns":  {"ns", "µs", "ms", "s"},
	"1/s": {"/s", "k/s", "M/s", "G/s"},
	"B":   {"B", "kB", "MB", "GB"},
}

// human is a value in the unit that leaves one to three digits before the
// point.
func human(v float64, unit string) string { return significant(v, unit, 3) }

// significant is human with n significant digits.
func significant(v float64, unit string, n int) string {
	units := scales[unit]
	if !analysis.Finite(v) {
		return "?"
	}
	i := 0
	for i < len(units)-1 && math.Abs(v) >= 999.5 {
		v /= 1000
		i++
	}
	if len(units) == 0 {
		return wording.Significant(v, n)
	}
	return wording.Significant(v, n) + " " + units[i]
}

// maxHalfWidth is the largest half-width of an interval that is printed, in percent: that of
// two launches can be anything.
const maxHalfWidth = 999

// figureText is a figure with half its interval, as a share of it.
func figureText(f analysis.Figure) string {
	s := human(f.Interval.Center, f.Metric.Unit)
	if !f.Interval.Known() {
		return s + " ± ?"
	}
	half := 50 * (f.Interval.High - f.Interval.Low) / f.Interval.Center
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
