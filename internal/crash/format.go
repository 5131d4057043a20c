package crash

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"assay/internal/analysis/wording"
	"assay/internal/sys/format"
)

// Formats are those of a report.
var Formats = format.List[*Report]{
	{Name: "text", Write: writeText},
	{Name: "markdown", Write: writeMarkdown},
	{Name: "html", Write: func(w io.Writer, r *Report) error { return pageTemplate.Execute(w, r) }},
}

// legend explains the words of the cells.
var legend = []string{
	"held: all that was acknowledged is there. lost: the newest commits are gone, the rest is whole. unmade: it does not open, cut off while it was created.",
	"inconsistent: parts of transactions. corrupt: the engine's own check fails. unopened: it does not open. unwritable, unstable: it cannot be written to, or changes when opened again.",
	"unmounted: the file system itself did not mount, so that nothing is known of the database; these are not counted as states.",
	"!: refutes what the settings claim. Counts are of states of the disk, or of attempts: no probability, and nothing about a disk that lies about flushes.",
}

// controlWords says what became of the controls; empty where none were tried.
func (r *Report) controlWords() string {
	caught, tried := r.Controls()
	if tried == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d controls that must fail did: a disk that ignores flushes, a database that does not sync, a worker that acknowledges too early.", caught, tried)
}

// Notes are what is to be known of all results.
func (r *Report) Notes() []string {
	notes := append(slices.Clone(legend), r.Lessened()...)
	if words := r.controlWords(); words != "" {
		notes = append(notes, words)
	}
	return notes
}

func writeText(out io.Writer, r *Report) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "driver\tprofile\tclaims\t%s\n", strings.Join(wording.Texts(r.Faults()), "\t"))
	for _, t := range r.Targets() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Driver, t.Profile, t.Claims(), strings.Join(t.Cells(), "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(r.Faults()) > 0 {
		b.WriteString("\nWhat each fault does\n")
	}
	for _, t := range r.Targets() {
		sentences := t.Sentences()
		if len(sentences) == 0 {
			continue // why is below
		}
		fmt.Fprintf(&b, "\n%s, profile %s", t.Name(), t.Profile)
		if settings := t.Settings(); settings != "" {
			fmt.Fprintf(&b, " (%s)", settings)
		}
		fmt.Fprintf(&b, ", claims %s\n", t.Claims())
		for _, s := range sentences {
			r.paragraph(&b, "  ", s)
		}
		if words := t.Documentation(); words != "" {
			r.paragraph(&b, "  ", words)
			fmt.Fprintf(&b, "  %s\n", t.Source())
		}
	}
	r.writeRest(&b, "  ")
	_, err := io.WriteString(out, b.String())
	return err
}

// writeRest lists counterexamples, what could not be tried, and notes.
func (r *Report) writeRest(b *strings.Builder, indent string) {
	for i, result := range r.Findings() {
		if i == 0 {
			b.WriteString("\nSmallest counterexamples\n\n")
		}
		words, again := r.Example(result)
		fmt.Fprintf(b, "%s%s\n", indent, below(words, indent))
		if again != "" {
			fmt.Fprintf(b, "%s  again: %s\n", indent, again)
		}
	}
	for i, line := range r.NotTried() {
		if i == 0 {
			b.WriteString("\nNot tried\n\n")
		}
		fmt.Fprintf(b, "%s%s\n", indent, below(line, indent))
	}
	b.WriteString("\n")
	for _, note := range r.Notes() {
		r.paragraph(b, "", note)
	}
}

// below indents all lines but the first.
func below(text, indent string) string { return strings.ReplaceAll(text, "\n", "\n"+indent) }

// The width of text where there is no terminal, and of the narrowest one whose lines are broken here.
const defaultWidth, minWidth = 100, 60

// paragraph writes sentences, in lines that are broken at the width. What workers said, and
// what holds commands, is none.
func (r *Report) paragraph(b *strings.Builder, indent, text string) {
	width := max(cmp.Or(r.Width, defaultWidth), minWidth)
	for line := range strings.SplitSeq(text, "\n") {
		lines := []string{indent + line}
		if utf8.RuneCountInString(lines[0]) > width {
			lines = wording.Wrap(width, indent, indent+"  ", line)
		}
		fmt.Fprintf(b, "%s\n", strings.Join(lines, "\n"))
	}
}

// writeMarkdown prints the tables of results/durability.md and the sentences below.
func writeMarkdown(out io.Writer, r *Report) error {
	var b strings.Builder
	cell := strings.NewReplacer("|", "\\|", "\n", " ")
	fmt.Fprintf(&b, "### %s\n\n```sh\n%s\n```\n\n| target | profile | settings | claims | documented |", r.Title, r.Command)
	for _, f := range r.Faults() {
		fmt.Fprintf(&b, " %s |", f)
	}
	fmt.Fprintf(&b, "\n| --- | --- | --- | --- | --- |%s\n", strings.Repeat(" --- |", len(r.Faults())))
	for _, t := range r.Targets() {
		documented := "-"
		if p, ok := t.shown().Documented(); ok {
			documented = fmt.Sprintf("[%s](%s)", p.Class, p.Source)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |", cell.Replace(t.Name()), cell.Replace(t.Profile), cell.Replace(t.Settings()), t.Claims(), documented)
		for _, c := range t.Cells() {
			fmt.Fprintf(&b, " %s |", c)
		}
		b.WriteString("\n")
	}
	for _, list := range []struct {
		title string
		lines []string
	}{{"Not tried", r.NotTried()}, {"States by moment", r.Moments()}} {
		for i, line := range list.lines {
			if i == 0 {
				fmt.Fprintf(&b, "\n%s:\n\n", list.title)
			}
			fmt.Fprintf(&b, "- %s\n", cell.Replace(line))
		}
	}
	for _, note := range append(r.Lessened(), r.controlWords()) {
		if note != "" {
			fmt.Fprintf(&b, "\n%s\n", note)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"example": func(r *Report, result *Result) []string {
		words, again := r.Example(result)
		return []string{words, again}
	},
}).Parse(pageText))
