package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"assay/internal/analysis/wording"
)

const (
	columnGap  = 2
	rowIndent  = 4  // of what is below the beginning of its row
	minColumns = 60 // a narrower terminal breaks the lines by itself
	minProse   = 24 // columns that prose needs beside other columns
)

// writeTable prints rows as wide as a terminal of so many columns; 0: there is none. The
// first row has the names of the columns. The last column is prose: where a row is wider
// than the terminal, it is broken between words, and where the other columns leave it no
// room, it is below them.
func writeTable(out io.Writer, columns int, rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	width, last, beside := max(columns, minColumns), len(widths)-1, 0
	for _, w := range widths[:last] {
		beside += w + columnGap
	}
	if columns == 0 || beside+widths[last] <= width {
		w := tabwriter.NewWriter(out, 0, 0, columnGap, ' ', 0)
		for _, row := range rows {
			fmt.Fprintln(w, strings.Join(row, "\t"))
		}
		return w.Flush()
	}
	for _, row := range rows {
		lines, line := []string(nil), ""
		for i, text := range row[:last] {
			if line != "" && utf8.RuneCountInString(line)+widths[i] > width {
				lines, line = append(lines, line), strings.Repeat(" ", rowIndent)
			}
			line += fmt.Sprintf("%-*s", widths[i]+columnGap, text)
		}
		if used := utf8.RuneCountInString(line); row[last] == "" || used+min(minProse, widths[last]) <= width {
			lines = append(lines, wording.Wrap(width, line, strings.Repeat(" ", used), row[last])...)
		} else {
			indent := strings.Repeat(" ", rowIndent)
			lines = append(append(lines, line), wording.Wrap(width, indent, indent, row[last])...)
		}
		for _, line := range lines {
			if _, err := fmt.Fprintln(out, strings.TrimRight(line, " ")); err != nil {
				return err
			}
		}
	}
	return nil
}

// fold breaks the lines of a text that are wider than a terminal of so many columns
// between words, and keeps how they are indented; 0: there is none.
func fold(columns int, text string) string {
	if columns == 0 {
		return text
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.TrimLeft(line, " \t")
		indent := strings.TrimSuffix(line, words)
		lines = append(lines, wording.Wrap(max(columns, minColumns), indent, indent, words)...)
	}
	return strings.Join(lines, "\n")
}

// labelled is a text behind a label, which its other lines leave free.
func labelled(columns int, label, text string) string {
	indent := strings.Repeat(" ", utf8.RuneCountInString(label))
	return label + strings.TrimPrefix(fold(columns, indent+text), indent)
}
