package doc

import (
	"bufio"
	"io"
	"strings"
)

// WriteMarkdown prints a document as GitHub's Markdown.
func WriteMarkdown(w io.Writer, d Document) error {
	out := bufio.NewWriter(w)
	for i, b := range d {
		if i > 0 && !(b.Kind == d[i-1].Kind && (b.Kind == Item || b.Kind == Literal)) {
			out.WriteString("\n")
		}
		out.WriteString(markdown(b))
	}
	return out.Flush()
}

// markdown is one block with its line end.
func markdown(b Block) string {
	text := escape(b.Text)
	switch b.Kind {
	case Heading:
		return "## " + text + "\n"
	case Subheading:
		return "### " + text + "\n"
	case Item:
		return "- " + text + "\n"
	case Literal:
		return "    " + b.Text + "\n" // an indented block cannot be ended by its content
	case Table:
		return b.Grid.markdown()
	}
	return text + "\n"
}

// markdown is the grid as a table; short rows are filled up.
func (g *Grid) markdown() string {
	rules := make([]string, len(g.Right))
	for i, right := range g.Right {
		rules[i] = "---"
		if right {
			rules[i] = "---:"
		}
	}
	var s strings.Builder
	s.WriteString(markdownRow(g.Header, len(rules)) + "| " + strings.Join(rules, " | ") + " |\n")
	for _, row := range g.Rows {
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
