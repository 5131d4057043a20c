package doc

import (
	"bufio"
	"io"
	"strings"
)

// WriteMarkdown prints a document as GitHub's Markdown.
func WriteMarkdown(w io.Writer, d Document) error {
	out, before := bufio.NewWriter(w), Figure
	for _, b := range d {
		if b.Kind == Figure {
			continue
		}
		if before != Figure && !(b.Kind == before && b.Kind.joins()) {
			out.WriteString("\n")
		}
		if (b.Kind == Literal || b.Kind == Code) && (before == Item || before == List) {
			out.WriteString("<!-- -->\n\n") // else it is text of the list's last item, where Markdown has its meaning
		}
		out.WriteString(markdown(b))
		before = b.Kind
	}
	return out.Flush()
}

// markdown is one block with its line end.
func markdown(b Block) string {
	text := escape(b.Text)
	switch b.Kind {
	case Heading:
		return "## " + text + "\n"
	case Subheading, Answer:
		return "### " + text + "\n"
	case Warning:
		return "**!** " + text + "\n"
	case List:
		return text + ":\n\n" + markdownList(b.Items)
	case Fold:
		var folded strings.Builder
		_ = WriteMarkdown(&folded, b.Folded) // a strings.Builder does not fail
		return "<details><summary>" + text + "</summary>\n\n" + folded.String() + "\n</details>\n"
	case Item:
		return "- " + text + "\n"
	case Literal, Code:
		return "    " + b.Text + "\n" // an indented block cannot be ended by its content
	case Table:
		return b.Grid.markdown()
	}
	return text + "\n"
}

func markdownList(items []string) string {
	var all strings.Builder
	for _, item := range items {
		all.WriteString("- " + escape(item) + "\n")
	}
	return all.String()
}

// markdown is the grid as a table; short rows are filled up.
func (g *Grid) markdown() string {
	rules := make([]string, len(g.Header))
	for i := range rules {
		rules[i] = "---"
		if g.IsRight(i) {
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
