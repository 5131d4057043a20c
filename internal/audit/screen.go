package audit

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/internal/wording"
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
	for _, v := range verdicts {
		title := "\n" + string(v) + "\n"
		for _, f := range findings {
			if f.Verdict != v {
				continue
			}
			b.WriteString(title)
			title = ""
			text := f.Claim.Says + " (" + f.Source.Name + ")"
			if f.Missed != "" {
				text += ", " + string(f.Missed)
			}
			if _, takes := f.outlook(); takes != "" {
				text += ": takes " + takes
			}
			add("- ", "  ", text)
		}
	}
	b.WriteString("\n")
	if slices.ContainsFunc(findings, Finding.open) {
		fmt.Fprintf(&b, "Measure what is open: %s\n", measure)
	}
	fmt.Fprintf(&b, "Figures, reasons, doubts and runs: %s\n", evidence)
	_, err := io.WriteString(w, b.String())
	return err
}
