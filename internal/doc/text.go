package doc

import (
	"bufio"
	"cmp"
	"io"
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

// WriteText prints a document for a terminal of so many columns; 0: there is none.
func WriteText(w io.Writer, d Document, columns int) error {
	out, width := bufio.NewWriter(w), max(min(cmp.Or(columns, textWidth), textWidth), minTextWidth)
	for i, b := range d {
		if i > 0 && (b.Kind != d[i-1].Kind || b.Kind == Paragraph) && b.Kind != Footnote {
			out.WriteString("\n")
		}
		for _, line := range textLines(b, width) {
			out.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	return out.Flush()
}

func textLines(b Block, width int) []string {
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
	case Footnote:
		return wording.Wrap(width, "", "    ", b.Text)
	case Table:
		return b.Grid.lines(width)
	}
	return wording.Wrap(width, "", "", b.Text)
}

func (g *Grid) lines(width int) []string {
	widths := make([]int, len(g.Header))
	for _, row := range append([][]string{g.Header}, g.Rows...) {
		for i, cell := range row {
			if i < len(row)-1 || len(row) == len(widths) {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	all := []string{g.line(g.Header, widths)}
	for _, row := range g.Rows {
		if len(row) == len(g.Header) {
			all = append(all, g.line(row, widths))
			continue
		}
		start := g.line(row[:len(row)-1], widths) + "  "
		indent := strings.Repeat(" ", utf8.RuneCountInString(start))
		reason := max(width, min(textWidth, len(indent)+minTextReason))
		all = append(all, wording.Wrap(reason, start, indent, row[len(row)-1])...)
	}
	return all
}

func (g *Grid) line(row []string, widths []int) string {
	var cells []string
	for i, cell := range row {
		space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if g.Right[i] {
			cells = append(cells, space+cell)
		} else {
			cells = append(cells, cell+space)
		}
	}
	return strings.Join(cells, "  ")
}
