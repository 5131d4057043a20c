package wording

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/kit/kv"
)

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
