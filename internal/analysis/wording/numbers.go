// Package wording prints numbers, counts and the text of others within
// sentences. It knows no figure and no format.
package wording

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"assay/internal/stat"
)

// Digits prints three significant digits, without an exponent.
func Digits(v float64) string { return Significant(v, 3) }

// Significant prints n significant digits, without an exponent.
func Significant(v float64, n int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "?"
	}
	rounded := strconv.FormatFloat(v, 'e', n-1, 64)
	exponent, _ := strconv.Atoi(rounded[strings.IndexByte(rounded, 'e')+1:])
	return strconv.FormatFloat(v, 'f', min(max(n-1-exponent, 0), 9), 64)
}

// scales are the prefixes of each unit that tables show, smallest first.
var scales = map[string][]string{
	"ns":  {"ns", "µs", "ms", "s"},
	"1/s": {"/s", "k/s", "M/s", "G/s"},
	"B":   {"B", "kB", "MB", "GB"},
}

// Human is a value in the unit that leaves one to three digits before the point.
func Human(v float64, unit string) string { return HumanDigits(v, unit, 3) }

// HumanDigits is Human with n significant digits.
func HumanDigits(v float64, unit string, n int) string {
	units := scales[unit]
	if len(units) == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return Significant(v, n)
	}
	i := 0
	for i < len(units)-1 && math.Abs(v) >= 999.5 {
		v /= 1000
		i++
	}
	return Significant(v, n) + " " + units[i]
}

// Ratio prints centre, low and high into a format with three %s, with as many digits as it takes to
// see on which side of 1 the ends are.
func Ratio(i stat.Interval, format string) string {
	n := 3
	for n < 5 && (hidesSide(i.Low, n) || hidesSide(i.High, n)) {
		n++
	}
	return fmt.Sprintf(format, Significant(i.Center, n), Significant(i.Low, n), Significant(i.High, n))
}

// Noise says how much the A/A tests of a run differ at most, and what these are.
func Noise(share float64) string {
	return fmt.Sprintf("noise up to %s %% (A/A test: the baseline against itself)", Digits(100*share))
}

// Times prints how many times something is, with its interval.
func Times(i stat.Interval) string { return Ratio(i, "%sx [%s, %s]") }

// hidesSide reports whether v looks like 1 when printed with n digits.
func hidesSide(v float64, n int) bool {
	return v != 1 && Significant(v, n) == Significant(1, n)
}

// Plural counts things.
func Plural(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "ss"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprint(n, " ", noun)
}

// Between counts things of which there are at least and at most so many.
func Between(minimum, maximum int, noun string) string {
	if minimum == maximum {
		return Plural(maximum, noun)
	}
	return fmt.Sprintf("%d to %s", minimum, Plural(maximum, noun))
}

// Brief writes a duration for people: 1m40s, 12s, 340ms, 6.68µs.
func Brief(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Millisecond || d == 0:
		return d.Round(time.Millisecond).String()
	case d >= time.Microsecond:
		return d.Round(10 * time.Nanosecond).String()
	default:
		return d.String()
	}
}
