package analysis

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"assay"
	"assay/internal/stat"
)

// class names a class of durability in tables.
func class(d assay.Durability) string { return cmp.Or(string(d), "unknown") }

// digits prints three significant digits, without an exponent.
func digits(v float64) string { return significant(v, 3) }

// significant prints n significant digits, without an exponent.
func significant(v float64, n int) string {
	if !Finite(v) {
		return "?"
	}
	rounded := strconv.FormatFloat(v, 'e', n-1, 64)
	exponent, _ := strconv.Atoi(rounded[strings.IndexByte(rounded, 'e')+1:])
	return strconv.FormatFloat(v, 'f', min(max(n-1-exponent, 0), 9), 64)
}

// ratioFormat prints centre, low and high, with as many digits as it takes to
// see on which side of 1 the ends are.
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
