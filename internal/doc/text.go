package doc

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"assay/internal/analysis/wording"
)

// The columns of a text: of its paragraphs and of the widest reason in a table.
const (
	textWidth     = 100 // longer lines are harder to read
	minTextWidth  = 60  // a narrower terminal breaks the lines by itself
	minTextReason = 24  // beside the other columns of a table, which are not broken
)

// How much text shows of what can be long; Markdown has all.
const (
	maxItems    = 8  // of a list
	maxWarnings = 12 // one behind the other
)

// WriteText prints a document for a terminal of so many columns; 0: there is none.
func WriteText(w io.Writer, d Document, columns int) error {
	return writeText(w, d, min(cmp.Or(columns, textWidth), textWidth))
}

// WriteList prints a document that lists what there is, as wide as the terminal. Where there is
// none, programs read it, and no line is broken.
func WriteList(w io.Writer, d Document, columns int) error {
	return writeText(w, d, cmp.Or(columns, math.MaxInt32))
}

func writeText(w io.Writer, d Document, width int) error {
	out := bufio.NewWriter(w)
	width = max(width, minTextWidth)
	var before *Block
	warnings := 0
	for i := range d {
		b := &d[i]
		if b.Kind == Figure || b.Kind == Fold {
			continue
		}
		if before != nil && b.separated(before) {
			out.WriteString("\n")
		}
		if before = b; b.Kind != Warning {
			warnings = 0
		} else if warnings++; warnings > maxWarnings {
			continue
		}
		for _, line := range textLines(b, width) {
			out.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		if warnings == maxWarnings {
			out.WriteString(more(d[i+1:], Warning))
		}
	}
	return out.Flush()
}

// more says how many blocks of a kind follow that are not shown.
func more(d Document, k Kind) string {
	n := 0
	for n < len(d) && d[n].Kind == k {
		n++
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("! and %s\n", left(n))
}

func left(n int) string { return fmt.Sprintf("%d more: --format markdown has all", n) }

// separated reports whether an empty line parts a block from the one before.
func (b *Block) separated(before *Block) bool {
	short := func(k Kind) bool { return k == Answer || k == Warning || k == List || k == Footnote }
	switch {
	case b.Kind == Answer:
		return true
	case b.Kind == Table && before.Kind == Table && !before.Grid.named():
		return true
	case b.Kind == Footnote, short(b.Kind) && short(before.Kind):
		return false
	}
	return b.Kind != before.Kind || b.Kind == Paragraph
}

func textLines(b *Block, width int) []string {
	switch b.Kind {
	case Heading:
		title := strings.ToUpper(b.Text)
		return []string{title, strings.Repeat("=", utf8.RuneCountInString(title))}
	case Subheading:
		return []string{b.Text, strings.Repeat("-", utf8.RuneCountInString(b.Text))}
	case Item:
		return wording.Wrap(width, "- ", "  ", b.Text)
	case Literal:
		return []string{"    " + b.Text}
	case Code:
		return []string{b.Text}
	case Footnote:
		return wording.Wrap(width, "", "    ", b.Text)
	case Table:
		return b.Grid.lines(width)
	case Warning:
		return wording.Wrap(width, "! ", "  ", b.Text)
	case List:
		items := b.Items
		if len(items) > maxItems+1 { // one more takes no more room than the word of it
			items = append(slices.Clone(items[:maxItems]), "and "+left(len(items)-maxItems))
		}
		return wording.Wrap(width, b.Text+": ", "  ", strings.Join(items, "; "))
	}
	return wording.Wrap(width, "", "", b.Text)
}

// lines are the table. Where that makes it as narrow as the terminal, long texts of the
// first column take several lines.
func (g *Grid) lines(width int) []string {
	rows := g.Rows
	if g.Most > 0 {
		rows = rows[:min(g.Most, len(rows))]
	}
	widths, total := make([]int, len(g.Header)), 0
	for _, row := range append([][]string{g.Header}, rows...) {
		for i, cell := range row {
			if i < len(row)-1 || len(row) == len(widths) {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	for _, w := range widths {
		total += w + 2
	}
	if g.Prose && total-2 > width {
		return g.broken(width, widths)
	}
	if first := widths[0] - (total - 2 - width); first < widths[0] && first >= minTextReason {
		widths[0] = first
	}
	var all []string
	if g.named() {
		all = append(all, g.line(g.Header, widths))
	}
	for _, row := range rows {
		if len(row) == len(g.Header) {
			names := wording.Wrap(widths[0], "", "", row[0])
			last := len(names) - 1
			all = append(all, names[:last]...)
			all = append(all, g.line(append([]string{names[last]}, row[1:]...), widths))
			continue
		}
		start := g.line(row[:len(row)-1], widths) + "  "
		indent := strings.Repeat(" ", utf8.RuneCountInString(start))
		reason := max(width, min(textWidth, len(indent)+minTextReason))
		all = append(all, wording.Wrap(reason, start, indent, row[len(row)-1])...)
	}
	if n := len(g.Rows) - len(rows); n > 0 {
		all = append(all, "and "+left(n))
	}
	return all
}

func (g *Grid) line(row []string, widths []int) string {
	var cells []string
	for i, cell := range row {
		space := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
		if g.IsRight(i) {
			cells = append(cells, space+cell)
		} else {
			cells = append(cells, cell+space)
		}
	}
	return strings.Join(cells, "  ")
}

const (
	columnGap = 2
	rowIndent = 4  // of what is below the beginning of its row
	minProse  = 24 // columns that prose needs beside other columns
)

// broken are the lines of a table with sentences that is wider than the terminal: they are
// broken between words, and where the other columns leave them no room, they are below these.
func (g *Grid) broken(width int, widths []int) (all []string) {
	rows, last := g.Rows, len(widths)-1
	if g.named() {
		rows = append([][]string{g.Header}, rows...)
	}
	for _, row := range rows {
		line := ""
		for i, text := range row[:last] {
			if line != "" && utf8.RuneCountInString(line)+widths[i] > width {
				all, line = append(all, line), strings.Repeat(" ", rowIndent)
			}
			line += text + strings.Repeat(" ", widths[i]+columnGap-utf8.RuneCountInString(text))
		}
		if used := utf8.RuneCountInString(line); row[last] == "" || used+min(minProse, widths[last]) <= width {
			all = append(all, wording.Wrap(width, line, strings.Repeat(" ", used), row[last])...)
		} else {
			indent := strings.Repeat(" ", rowIndent)
			all = append(append(all, line), wording.Wrap(width, indent, indent, row[last])...)
		}
	}
	return all
}
