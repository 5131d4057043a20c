package audit

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/internal/analysis/wording"
)

// minWidth is the narrowest screen whose lines are broken.
const minWidth = 60

// WriteScreen prints the verdicts for a terminal: the claims of each, and the commands that
// measure what is open and that show all evidence.
func WriteScreen(w io.Writer, findings []Finding, width int, measure, evidence string) error {
	var b strings.Builder
	add := func(first, other, text string) {
		fmt.Fprintln(&b, strings.Join(wording.Wrap(max(width, minWidth), first, other, text), "\n"))
	}
	add("", "  ", strings.TrimSpace(summary(findings)))
	authors, ours := byAuthor(findings)
	addBy := func(of string, some []Finding) {
		for _, v := range verdicts {
			title := "\n" + of + string(v) + "\n"
			for _, f := range some {
				if f.Verdict == v {
					b.WriteString(title)
					add("- ", "  ", f.line())
					title = ""
				}
			}
		}
	}
	addBy("", authors)
	addBy("our readings of tables: ", ours)
	b.WriteString("\n")
	if slices.ContainsFunc(findings, Finding.open) {
		fmt.Fprintf(&b, "Measure what is open: %s\n", measure)
	}
	fmt.Fprintf(&b, "Figures, reasons, doubts and runs: %s\n", evidence)
	_, err := io.WriteString(w, b.String())
	return err
}

// line is a claim in one line.
func (f Finding) line() string {
	text := f.Claim.Says + " (" + f.Source.Name + ")"
	if f.Missed != "" {
		text += ", " + string(f.Missed)
	}
	if differs := f.differs(); f.Verdict == NotReproduced && len(differs) > 0 {
		text += ": " + inWords(differs)
	}
	if _, takes := f.outlook(); takes != "" {
		text += ": takes " + takes
	}
	return text
}
