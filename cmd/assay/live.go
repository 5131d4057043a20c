package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"assay"
	"assay/internal/sys/printable"
)

// liveTable has the mean so far of every cell, of the metric by which the report will
// compare it: a row for each table of the report, a column for each target with its
// profile.
type liveTable struct {
	rows, columns []assay.Cell // the first cell that was seen of each
	cells         map[place]liveCell
	latest        int // row of the newest figure
}

type place struct{ row, column int }

type liveCell struct {
	trials    []*assay.Trial // that count
	disturbed bool           // all launches were: they count until one is not
	outcome   assay.Outcome  // the worst so far
}

// text is the cell's mean of a metric.
func (c liveCell) text(metric string) string {
	if c.outcome != assay.OK {
		return string(c.outcome)
	}
	logs, launches := 0.0, 0.0
	for _, t := range c.trials {
		if figure := t.Figures[metric]; figure > 0 {
			logs += math.Log(figure)
			launches++
		}
	}
	mean := math.Exp(logs / launches)
	switch m, _ := assay.MetricByName(metric); {
	case launches == 0:
		return "-"
	case m.Unit == "ns":
		return time.Duration(threeDigits(mean)).String()
	}
	return fmt.Sprintf("%.0f/s", threeDigits(mean))
}

// threeDigits rounds a figure to three digits, and to whole numbers.
func threeDigits(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	return math.Round(math.Round(v/unit) * unit)
}

// add counts a trial, unless the report does not either or it has no figure.
func (l *liveTable) add(t assay.Trial) {
	if t.Twin || t.Cell.Without != "" || t.Outcome == assay.OK && !(t.Figures[t.Primary()] > 0) {
		return
	}
	if l.cells == nil {
		l.cells = map[place]liveCell{}
	}
	l.latest = position(&l.rows, t.Cell, assay.Cell.Peer)
	at := place{l.latest, position(&l.columns, t.Cell, columnKey)}
	cell, known := l.cells[at]
	if !known {
		cell.outcome = assay.OK
	}
	cell.outcome = assay.Worse(cell.outcome, t.Outcome)
	if t.Outcome == assay.OK {
		cell.addLaunch(t)
	}
	l.cells[at] = cell
}

func (c *liveCell) addLaunch(t assay.Trial) {
	switch {
	case len(c.trials) == 0 || c.disturbed && !t.Disqualified:
		c.trials, c.disturbed = nil, t.Disqualified
	case t.Disqualified && !c.disturbed:
		return
	}
	c.trials = append(c.trials, &assay.Trial{Cell: t.Cell, Mode: t.Mode, Outcome: t.Outcome, Figures: t.Figures})
}

// primary is what the cells of a row are compared by: those that have not failed.
func (l *liveTable) primary(row int) string {
	var cells [][]*assay.Trial
	for column := range l.columns {
		if c := l.cells[place{row, column}]; c.outcome == assay.OK {
			cells = append(cells, c.trials)
		}
	}
	return assay.Primary(l.rows[row], cells)
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
	order := l.order()
	for i, c := range order {
		column := l.columns[c]
		entries := []string{l.name(column), column.Profile}
		for row := first; row < first+rows; row++ {
			entry := ""
			if cell, known := l.cells[place{row, c}]; known {
				entry = cell.text(l.primary(row))
			}
			entries = append(entries, entry)
		}
		if used += 2 + align(entries, "%*s"); used > width {
			lines[0] += leftOut(len(order)-i, width-utf8.RuneCountInString(lines[0]))
			break
		}
		for i := range lines {
			lines[i] += "  " + entries[i]
		}
	}
	return lines
}

// leftOut says how many columns are left out, in so many letters; nothing where that does
// not fit.
func leftOut(columns, room int) string {
	text := fmt.Sprintf("  +%d", columns)
	if utf8.RuneCountInString(text) > room {
		return ""
	}
	return text
}

// order is that of the columns: by profile and driver.
func (l *liveTable) order() []int {
	order := make([]int, len(l.columns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := l.columns[i], l.columns[j]
		return cmp.Or(strings.Compare(a.Profile, b.Profile), strings.Compare(a.Target(), b.Target()))
	})
	return order
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

// label names a row by its operation and by what it differs in from other rows.
func (l *liveTable) label(row assay.Cell) string {
	differs := func(value func(assay.Cell) string) bool {
		return slices.ContainsFunc(l.rows, func(other assay.Cell) bool { return value(other) != value(row) })
	}
	words := []string{row.Operation}
	if differs(assay.Cell.ParamString) {
		words = append(words, row.ParamString())
	}
	for _, axis := range assay.TableCoordinates() {
		if differs(axis.Value) {
			words = append(words, axis.ShortWords(row))
		}
	}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}
