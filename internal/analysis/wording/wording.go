// Package wording prints numbers, counts and the text of others within
// sentences. It knows no figure and no format.
package wording

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"assay/internal/stat"
	"assay/kit/kv"
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

// FirstFew joins the first of some names and counts the others.
func FirstFew(names []string, n int) string {
	if len(names) <= n+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}

// Clean makes one line of a user's or a worker's text: no control or format
// characters, which could move a terminal's cursor or end a row, and no
// broken UTF-8.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	return strings.Join(strings.Fields(Printable(s)), " ")
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

// Printable is Clean for what is to be copied: it keeps all spaces.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// Wrap breaks a text at spaces into lines of a width, with what comes before its first and
// before its other lines.
func Wrap(width int, first, other, text string) []string {
	var lines []string
	line, empty := first, true
	for _, word := range strings.Fields(text) {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line, empty = other, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	return append(lines, line)
}

// plainLetters need no quotes in any shell.
const plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./@:,+%="

// Program is what commands that are printed begin with.
var Program = "assay"

// Called returns how a program was called, where that finds it again: by its path. One that the go
// command runs has a path that ends with it, and one that the shell looked up its name.
func Called(argument string) string {
	if strings.Contains(argument, "/") && !strings.Contains(argument, "/go-build") {
		return argument
	}
	return "assay"
}

// Command is an assay command that works when it is pasted into a shell: on a store,
// empty for the default, with words quoted where they need it.
func Command(store string, words ...string) string {
	words = append([]string{Program}, words...)
	if store != "" {
		words = append(words, "--store", store)
	}
	for i, word := range words {
		if word == "" || strings.Trim(word, plainLetters) != "" {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// Setting is the value of a setting, as it is read back, in the words of people:
// synchronous 1 is NORMAL.
func Setting(name, value string) string { return kv.Word(name, value) }

// Texts are names of a type of their own as plain texts.
func Texts[T ~string](all []T) []string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = string(one)
	}
	return texts
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
