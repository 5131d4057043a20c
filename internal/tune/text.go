package tune

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"assay/internal/analysis/wording"
)

const (
	defaultWidth = 100 // columns of a screen
	minWidth     = 60  // a narrower terminal breaks the lines by itself
	fullWidth    = 80  // from which on a title says more
	maxRows      = 14  // operations of it
	maxHarm      = 6   // lines that say what is slower
)

// WriteScreen prints one screen of so many columns, and below it the configuration that was
// asked for. No width is that of no terminal. What is there to be copied is not broken:
// commands, statements and configuration.
func (r *Report) WriteScreen(out io.Writer, width int) error {
	s := screen{bufio.NewWriter(out), max(cmp.Or(width, defaultWidth), minWidth)}
	s.indexes(r)
	s.text(r.answer(), "  ")
	if prices := r.prices(); len(prices) > 0 {
		s.text("  "+pricesTitle+": "+strings.Join(prices, "; "), "  ")
	}
	if basis := r.basis(); basis != "" {
		s.text("  "+basis, "  ")
	}
	harmed := r.harmed()
	for _, text := range harmed[:min(maxHarm, len(harmed))] {
		s.text("! "+text, "  ")
	}
	if more := len(harmed) - maxHarm; more > 0 {
		s.text(fmt.Sprintf("! and %d more: --format markdown has all", more), "  ")
	}
	s.operations(r)
	for _, section := range r.sections() {
		s.text(section.Title+": "+strings.Join(section.Items, "; "), "  ")
	}
	s.text(r.evidence(), "  ")
	for i, step := range r.next() {
		s.step([]string{"next: ", "then: "}[min(i, 1)], step)
	}
	if r.Emitted != "" {
		fmt.Fprintf(s.out, "\n%s", r.Emitted)
	}
	return s.out.Flush()
}

// screen prints lines that are at most so many columns wide.
type screen struct {
	out   *bufio.Writer
	width int
}

// text prints a text between whose words a line may end.
func (s screen) text(text, indent string) {
	for _, line := range wrap(text, indent, s.width) {
		s.line(line)
	}
}

func (s screen) line(line string) { fmt.Fprintln(s.out, wording.Printable(line)) }

// indexes prints what helps before any setting.
func (s screen) indexes(r *Report) {
	helping, _ := r.indexes()
	if len(helping) == 0 {
		return
	}
	s.text(r.indexTitle(), "    ")
	for i, f := range helping {
		if i == shownIndexes {
			s.text(fmt.Sprintf("  and %d more: --format markdown has all", len(helping)-shownIndexes), "    ")
			break
		}
		statements := r.Space.Prepare(f.Point)
		for _, statement := range statements {
			s.line("  " + statement + ";")
		}
		if len(statements) == 0 {
			s.text("  "+r.change(f), "    ")
		}
		s.text("    "+r.effect(f), "    ")
	}
	s.line("")
}

// step prints something to do, with its command.
func (s screen) step(word string, step step) {
	if step.command == "" || utf8.RuneCountInString(word+step.String()) <= s.width {
		s.text(word+step.String(), "  ")
		return
	}
	s.text(word+step.text+":", "  ")
	s.line("  " + step.command)
}

// operations prints the table of operations. A name that leaves no room for the figures
// takes several lines.
func (s screen) operations(r *Report) {
	all := r.table()
	if len(all) == 0 {
		return
	}
	title := "confirmed: above 1 is faster"
	if s.width < fullWidth {
		title = "confirmed"
	}
	rows := append([][3]string{{"", "now", title}}, all[:min(maxRows, len(all))]...)
	longest := [3]int{}
	for _, row := range rows {
		for i, cell := range row {
			longest[i] = max(longest[i], utf8.RuneCountInString(cell))
		}
	}
	const gap = 2
	longest[0] = min(longest[0], s.width-longest[1]-longest[2]-3*gap)
	s.line("")
	for _, row := range rows {
		names := wrap(row[0], "", longest[0])
		for _, name := range names[:len(names)-1] {
			s.line("  " + name)
		}
		s.line(fmt.Sprintf("  %-*s  %*s  %s", longest[0], names[len(names)-1], longest[1], row[1], row[2]))
	}
	if left := len(all) - maxRows; left > 0 {
		s.text(fmt.Sprintf("  and %d more: --format markdown has all", left), "  ")
	}
	s.line("")
}

// wrap breaks a text into lines of at most so many columns: between words, and where one
// is longer than a line within it. Lines behind the first are indented.
func wrap(text, indent string, width int) []string {
	var lines []string
	line, empty := text[:len(text)-len(strings.TrimLeft(text, " "))], true
	for _, word := range strings.Fields(text) {
		switch {
		case !empty && utf8.RuneCountInString(line+" "+word) <= width:
			line += " " + word
			continue
		case !empty:
			lines = append(lines, line)
			line = indent
		}
		letters := []rune(word)
		for room := width - utf8.RuneCountInString(line); len(letters) > room; room = width - len(indent) {
			lines = append(lines, line+string(letters[:room]))
			line, letters = indent, letters[room:]
		}
		line, empty = line+string(letters), false
	}
	return append(lines, line)
}
