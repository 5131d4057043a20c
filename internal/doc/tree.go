// Package doc is the tree that every report is built as, and the writers of it: text for a
// terminal, Markdown, and HTML.
package doc

import (
	"fmt"
	"io"
	"math"
	"strings"

	"assay/internal/analysis/wording"
	"assay/internal/doc/chart"
	"assay/internal/stat"
	"assay/internal/sys/format"
)

// Document is a list of blocks, from the first to the last.
type Document []Block

// Block is one part of a document.
type Block struct {
	Kind   Kind
	Text   string // the title of a list or of what is folded
	Items  []string
	Grid   *Grid
	Chart  *chart.Chart
	Folded Document
}

// Kind says what a block is.
type Kind int

// The kinds of blocks.
const (
	Heading Kind = iota
	Subheading
	Paragraph
	Item     // of a list
	Literal  // a line to copy as it is
	Code     // a line of a file, which text does not indent
	Footnote // under a table or an answer
	Table
	Answer  // the sentence that says how it came out
	Warning // what must not be missed
	List    // a title with items
	Figure  // a chart, which text and Markdown leave out
	Fold    // what most readers need not see, which text leaves out
)

// joins reports whether blocks of the kind that follow each other are one list or text.
func (k Kind) joins() bool { return k == Item || k == Literal || k == Code }

// Grid is the content of a table. A row with fewer cells than the header ends
// in one that takes the rest of the line.
type Grid struct {
	Header []string // empty names: text leaves it out
	Right  []bool   // columns of numbers; nil: there are none
	Rows   [][]string
	Most   int  // rows that text shows; 0: all
	Prose  bool // the last column has sentences: text breaks them where a row is too wide
}

// named reports whether the columns have names.
func (g *Grid) named() bool { return strings.Join(g.Header, "") != "" }

// IsRight reports whether a column has numbers.
func (g *Grid) IsRight(column int) bool { return column < len(g.Right) && g.Right[column] }

// Class is the look of a cell in a page: n of a number, words of a text that may take
// several lines.
func (g *Grid) Class(row []string, cell int) string {
	switch {
	case g.Rest(row, cell) > 0 || len(row[cell]) > 40:
		return "words"
	case g.IsRight(cell):
		return "n"
	}
	return ""
}

// Rest is over how many columns the last cell of a row reaches that has too few; else 0.
func (g *Grid) Rest(row []string, cell int) int {
	if cell < len(row)-1 || len(row) == len(g.Header) {
		return 0
	}
	return len(g.Header) - cell
}

// Add appends a block of text, without what a terminal would take as a command.
func (d *Document) Add(k Kind, format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	*d = append(*d, Block{Kind: k, Text: wording.Clean(text)})
}

// AddLines appends lines to copy as they are, of the kind Literal or Code.
func (d *Document) AddLines(k Kind, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		*d = append(*d, Block{Kind: k, Text: wording.Printable(line)})
	}
}

// AddSome appends a block of a kind for each text.
func (d *Document) AddSome(k Kind, texts ...string) {
	for _, text := range texts {
		if text != "" {
			d.Add(k, "%s", text)
		}
	}
}

// AddList appends a title with items, if there are some.
func (d *Document) AddList(title string, items []string) {
	if len(items) > 0 {
		*d = append(*d, Block{Kind: List, Text: wording.Clean(title), Items: cleaned(items)})
	}
}

// AddTable appends a table, if it has rows.
func (d *Document) AddTable(g Grid) {
	for i, row := range g.Rows {
		g.Rows[i] = cleaned(row)
	}
	if len(g.Rows) > 0 {
		*d = append(*d, Block{Kind: Table, Grid: &g})
	}
}

// Listing is a document of one table that says what there is, also where that is nothing.
func Listing(g Grid) Document {
	for i, row := range g.Rows {
		g.Rows[i] = cleaned(row)
	}
	return Document{{Kind: Table, Grid: &g}}
}

// AddChart appends a chart, if there is one.
func (d *Document) AddChart(c *chart.Chart) {
	if c != nil {
		*d = append(*d, Block{Kind: Figure, Chart: c})
	}
}

// AddFold appends what opens on demand, if there is something.
func (d *Document) AddFold(title string, folded Document) {
	if len(folded) > 0 {
		*d = append(*d, Block{Kind: Fold, Text: wording.Clean(title), Folded: folded})
	}
}

func cleaned(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = wording.Clean(text)
	}
	return all
}

// Drawable is an interval as charts take it.
func Drawable(i stat.Interval) chart.Interval {
	if !i.Known() {
		return chart.Interval{Center: i.Center, Low: math.NaN(), High: math.NaN()}
	}
	return chart.Interval{Low: i.Low, Center: i.Center, High: i.High}
}

// Formats are text and Markdown of what a document says; columns are those of the terminal
// that text is for; nil: there is none.
func Formats[T any](document func(T) Document, columns func(T) int) format.List[T] {
	if columns == nil {
		columns = func(T) int { return 0 }
	}
	return format.List[T]{
		{Name: "text", Write: func(w io.Writer, v T) error { return WriteText(w, document(v), columns(v)) }},
		{Name: "markdown", Write: func(w io.Writer, v T) error { return WriteMarkdown(w, document(v)) }},
	}
}
