package report

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

// WriteText prints the report as text for a terminal of so many columns; 0: there is none.
func (r *Report) WriteText(w io.Writer, columns int) error {
	return writeText(w, r.document(), columns)
}

// writeText prints a document for a terminal of so many columns; 0: there is none.
func writeText(w io.Writer, d document, columns int) error {
	out, width := bufio.NewWriter(w), max(min(cmp.Or(columns, textWidth), textWidth), minTextWidth)
	for i, b := range d {
		if i > 0 && (b.kind != d[i-1].kind || b.kind == paragraph) && b.kind != footnote {
			out.WriteString("\n")
		}
		for _, line := range textLines(b, width) {
			out.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	return out.Flush()
}

func textLines(b block, width int) []string {
	switch b.kind {
	case heading:
		title := strings.ToUpper(b.text)
		return []string{title, strings.Repeat("=", utf8.RuneCountInString(title))}
	case subheading:
		return []string{b.text, strings.Repeat("-", utf8.RuneCountInString(b.text))}
	case item:
		return wording.Wrap(width, "- ", "  ", b.text)
	case literal:
		return []string{"    " + b.text}
	case footnote:
		return wording.Wrap(width, "", "    ", b.text)
	case table:
		return b.grid.lines(width)
	}
	return wording.Wrap(width, "", "", b.text)
}

func (g *grid) lines(width int) []string {
	widths := make([]int, len(g.header))
	for _, row := range append([][]string{g.header}, g.rows...) {
		for i, cell := range row {
			if i < len(row)-1 || len(row) == len(widths) {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	all := []string{g.line(g.header, widths)}
	for _, row := range g.rows {
		if len(row) == len(g.header) {
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

func (g *grid) line(row []string, widths []int) string {
	var cells []string
	for i, cell := range row {
		space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if g.right[i] {
			cells = append(cells, space+cell)
		} else {
			cells = append(cells, cell+space)
		}
	}
	return strings.Join(cells, "  ")
}
