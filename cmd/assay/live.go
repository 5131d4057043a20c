package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"assay"
	"assay/internal/printable"
)

// liveTable has the mean time per operation of every cell measured so far: a row
// for each table of the report, a column for each target with its profile.
type liveTable struct {
	rows, columns []assay.Cell // the first cell that was seen of each
	times         map[place]liveTime
	latest        int // row of the newest figure
}

// place is a row and a column.
type place struct{ row, column int }

// liveTime is what is known of one cell.
type liveTime struct {
	logs      float64 // sum of the logarithms of ns/op
	launches  int
	disturbed bool          // all launches were: they count until one is not
	outcome   assay.Outcome // the worst so far
}

func (t liveTime) String() string {
	if t.outcome != assay.OK {
		return string(t.outcome)
	}
	return brief(time.Duration(math.Round(math.Exp(t.logs / float64(t.launches)))))
}

// add counts a trial, unless the report does not either or it has no time.
func (l *liveTable) add(t assay.Trial) {
	ns := t.Figures[assay.NsPerOp]
	if t.Twin || t.Cell.Without != "" || t.Outcome == assay.OK && !(ns > 0) {
		return
	}
	if l.times == nil {
		l.times = map[place]liveTime{}
	}
	l.latest = position(&l.rows, t.Cell, assay.Cell.Peer)
	at := place{l.latest, position(&l.columns, t.Cell, columnKey)}
	cell, known := l.times[at]
	if !known {
		cell.outcome = assay.OK
	}
	cell.outcome = assay.Worse(cell.outcome, t.Outcome)
	if t.Outcome == assay.OK {
		cell.addLaunch(ns, t.Disqualified)
	}
	l.times[at] = cell
}

func (t *liveTime) addLaunch(ns float64, disturbed bool) {
	switch {
	case t.launches == 0 || t.disturbed && !disturbed:
		t.logs, t.launches, t.disturbed = 0, 0, disturbed
	case disturbed && !t.disturbed:
		return
	}
	t.logs += math.Log(ns)
	t.launches++
}

// position is that of the first cell with the same key, which is added where there
// is none.
func position(cells *[]assay.Cell, c assay.Cell, key func(assay.Cell) string) int {
	i := slices.IndexFunc(*cells, func(other assay.Cell) bool { return key(other) == key(c) })
	if i < 0 {
		i = len(*cells)
		*cells = append(*cells, c)
	}
	return i
}

func columnKey(c assay.Cell) string { return c.Target() + "|" + c.Profile }

// lines draws the table with at most that many letters a line and that many lines,
// the newest figure in it: two lines of heads, then a line a row. Columns that do
// not fit are left out, and rows likewise.
func (l *liveTable) lines(width, height int) []string {
	const heads = 2
	rows := min(len(l.rows), height-heads)
	if rows <= 0 {
		return nil
	}
	first := min(max(0, l.latest-rows/2), len(l.rows)-rows)
	lines := []string{"mean so far", ""}
	for _, row := range l.rows[first : first+rows] {
		lines = append(lines, l.label(row))
	}
	used := align(lines, "%-*s")
	for c, column := range l.columns {
		entries := []string{l.name(column), column.Profile}
		for row := first; row < first+rows; row++ {
			entry := ""
			if t, known := l.times[place{row, c}]; known {
				entry = t.String()
			}
			entries = append(entries, entry)
		}
		if used += 2 + align(entries, "%*s"); used > width {
			break
		}
		for i := range lines {
			lines[i] += "  " + entries[i]
		}
	}
	return lines
}

// align makes texts as long as the longest, and returns that length.
func align(texts []string, format string) int {
	width := 0
	for i, text := range texts {
		texts[i] = strings.ReplaceAll(printable.String(text), "\n", " ")
		width = max(width, utf8.RuneCountInString(texts[i]))
	}
	for i, text := range texts {
		texts[i] = fmt.Sprintf(format, width, text)
	}
	return width
}

// name is the driver, with its version where another column has the same driver
// and profile.
func (l *liveTable) name(column assay.Cell) string {
	for _, other := range l.columns {
		if other.Driver == column.Driver && other.Profile == column.Profile && other.Target() != column.Target() {
			return column.Target()
		}
	}
	return column.Driver
}

// label names a row by its operation, its parameters and the other axes along
// which rows differ.
func (l *liveTable) label(row assay.Cell) string {
	words := []string{row.Operation, row.ParamString()}
	for _, axis := range assay.TableCoordinates() {
		differs := slices.ContainsFunc(l.rows, func(other assay.Cell) bool { return axis.Value(other) != axis.Value(row) })
		if differs && axis.Short != nil {
			words = append(words, axis.Short(row))
		}
	}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}
