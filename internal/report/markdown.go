package report

import (
	"bufio"
	"io"
	"strings"
)

// writeMarkdown prints a document as GitHub's Markdown.
func writeMarkdown(w io.Writer, d document) error {
	out := bufio.NewWriter(w)
	for i, b := range d {
		if i > 0 && !(b.kind == d[i-1].kind && (b.kind == item || b.kind == literal)) {
			out.WriteString("\n")
		}
		out.WriteString(markdown(b))
	}
	return out.Flush()
}

// markdown is one block with its line end.
func markdown(b block) string {
	text := escape(b.text)
	switch b.kind {
	case heading:
		return "## " + text + "\n"
	case subheading:
		return "### " + text + "\n"
	case item:
		return "- " + text + "\n"
	case literal:
		return "    " + b.text + "\n" // an indented block cannot be ended by its content
	case table:
		return b.grid.markdown()
	}
	return text + "\n"
}

// markdown is the grid as a table; short rows are filled up.
func (g *grid) markdown() string {
	rules := make([]string, len(g.right))
	for i, right := range g.right {
		rules[i] = "---"
		if right {
			rules[i] = "---:"
		}
	}
	var s strings.Builder
	s.WriteString(markdownRow(g.header, len(rules)) + "| " + strings.Join(rules, " | ") + " |\n")
	for _, row := range g.rows {
		s.WriteString(markdownRow(row, len(rules)))
	}
	return s.String()
}

func markdownRow(cells []string, columns int) string {
	escaped := make([]string, columns)
	for i, cell := range cells {
		escaped[i] = escape(cell)
	}
	return "| " + strings.Join(escaped, " | ") + " |\n"
}

// escape takes every meaning from the characters that Markdown or HTML give
// one to.
var escape = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "\\", "\\\\", "|", "\\|", "`", "\\`",
	"*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "#", "\\#", "~", "\\~").Replace
