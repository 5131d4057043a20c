package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"assay"
	"assay/internal/analysis"
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
func human(v float64, unit string) string {
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
		return digits(v)
	}
	return digits(v) + " " + units[i]
}

// digits prints three significant digits, without an exponent.
func digits(v float64) string { return significant(v, 3) }

// significant prints n significant digits, without an exponent.
func significant(v float64, n int) string {
	if !analysis.Finite(v) {
		return "?"
	}
	rounded := strconv.FormatFloat(v, 'e', n-1, 64)
	exponent, _ := strconv.Atoi(rounded[strings.IndexByte(rounded, 'e')+1:])
	return strconv.FormatFloat(v, 'f', min(max(n-1-exponent, 0), 9), 64)
}

// mostHalf is the widest half of an interval that is told, in percent: that of
// two launches can be anything.
const mostHalf = 999

// figureText is a figure with half its interval, as a share of it.
func figureText(f analysis.Figure) string {
	s := human(f.Interval.Center, f.Metric.Unit)
	if !f.Interval.Known() {
		return s + " ± ?"
	}
	half := 50 * (f.Interval.High - f.Interval.Low) / f.Interval.Center
	if half > mostHalf {
		return s + " ± >" + strconv.Itoa(mostHalf) + " %"
	}
	return s + " ± " + strconv.FormatFloat(half, 'f', 1, 64) + " %"
}

// ratioText is a ratio with its interval, with as many digits as it takes to
// see on which side of 1 the ends are.
func ratioText(i stat.Interval) string { return ratioFormat(i, "%s [%s, %s]") }

// ratioFormat prints centre, low and high.
func ratioFormat(i stat.Interval, format string) string {
	n := 3
	for n < 5 && (hidesSide(i.Low, n) || hidesSide(i.High, n)) {
		n++
	}
	return fmt.Sprintf(format, significant(i.Center, n), significant(i.Low, n), significant(i.High, n))
}

// hidesSide tells whether v looks like 1 when printed with n digits.
func hidesSide(v float64, n int) bool {
	return v != 1 && significant(v, n) == significant(1, n)
}

// speedText is by how much the better of two is faster, given the ratio of
// its figure to the other's.
func speedText(i stat.Interval, metric assay.Metric) string {
	if !metric.HigherBetter {
		i = analysis.Inverse(i)
	}
	return ratioFormat(i, "%sx [%s, %s]")
}

// about is a duration as people say it.
func about(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return plural(max(1, int(d.Round(time.Second).Seconds())), "second")
	case d < 90*time.Minute:
		return plural(int(d.Round(time.Minute).Minutes()), "minute")
	}
	return plural(int(d.Round(time.Hour).Hours()), "hour")
}

// plural counts things.
func plural(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprint(n, " ", noun)
}

// list joins names as a sentence does.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// clean makes one line of a user's or a worker's text: no control or format
// characters, which could move a terminal's cursor or end a row, and no
// broken UTF-8.
func clean(s string) string {
	if isClean(s) {
		return s
	}
	return strings.Join(strings.Fields(printable(s)), " ")
}

// isClean tells of a text of plain letters and single spaces that it need not
// be looked at closely: nearly all are.
func isClean(s string) bool {
	for i := range len(s) {
		space := s[i] == ' '
		if s[i] < ' ' || s[i] > '~' || space && (i == 0 || i == len(s)-1 || s[i-1] == ' ') {
			return false
		}
	}
	return true
}

// printable is clean for what is to be copied: it keeps all spaces.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// sortedKeys are the names in a map.
func sortedKeys[V any](all map[string]V) []string { return slices.Sorted(maps.Keys(all)) }
