// Package doc is the tree that every report is built as, and the writers of it: text for a
// terminal, and Markdown.
package doc

import (
	"fmt"
	"strings"

	"assay/internal/analysis/wording"
)

// Document is a list of blocks, from the first to the last.
type Document []Block

// Block is one part of a document.
type Block struct {
	Kind Kind
	Text string // of all but tables
	Grid *Grid
}

// Kind is what a block is.
type Kind int

// The kinds of blocks.
const (
	Heading Kind = iota
	Subheading
	Paragraph
	Item     // of a list
	Literal  // a line to copy as it is
	Footnote // under a table
	Table
)

// Grid is the content of a table. A row with fewer cells than the header ends
// in one that takes the rest of the line.
type Grid struct {
	Header []string
	Right  []bool // columns of numbers
	Rows   [][]string
}

// Add appends a block of text, without what a terminal would take as a command.
func (d *Document) Add(k Kind, format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	*d = append(*d, Block{Kind: k, Text: wording.Clean(text)})
}

// AddLiteral appends lines to copy as they are.
func (d *Document) AddLiteral(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		*d = append(*d, Block{Kind: Literal, Text: wording.Printable(line)})
	}
}
