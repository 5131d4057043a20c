package report

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"

	"assay/internal/wording"
)

// width is that of paragraphs and of the widest reason in a table.
const width = 100

// writeText prints a document for a terminal.
func writeText(w io.Writer, d document) error {
	out := bufio.NewWriter(w)
	for i, b := range d {
		if i > 0 && (b.kind != d[i-1].kind || b.kind == paragraph) && b.kind != footnote {
			out.WriteString("\n")
		}
		for _, line := range textLines(b) {
			out.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	return out.Flush()
}

func textLines(b block) []string {
	switch b.kind {
	case heading:
		title := strings.ToUpper(b.text)
		return []string{title, strings.Repeat("=", utf8.RuneCountInString(title))}
	case subheading:
		return []string{b.text, strings.Repeat("-", utf8.RuneCountInString(b.text))}
	case item:
		return wrap("- ", "  ", b.text)
	case literal:
		return []string{"    " + b.text}
	case footnote:
		return wrap("", "    ", b.text)
	case table:
		return b.grid.lines()
	}
	return wrap("", "", b.text)
}

// wrap breaks a text at spaces, with what comes before its first and before
// its other lines.
func wrap(first, other, text string) []string { return wording.Wrap(width, first, other, text) }

func (g *grid) lines() []string {
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
		all = append(all, wrap(start, indent, row[len(row)-1])...)
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
