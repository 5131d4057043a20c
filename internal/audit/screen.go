package audit

import (
	"io"
	"slices"

	"assay/internal/doc"
)

// WriteScreen prints the verdicts for a terminal: the claims of each, and the commands that
// measure what is open and that show all evidence.
func WriteScreen(w io.Writer, findings []Finding, width int, measure, evidence string) error {
	var d doc.Document
	d.Add(doc.Paragraph, "%s", summary(findings))
	authors, ours := byAuthor(findings)
	addBy := func(of string, some []Finding) {
		for _, v := range verdicts {
			title := of + string(v)
			for _, f := range some {
				if f.Verdict == v {
					d.AddSome(doc.Subheading, title)
					d.Add(doc.Item, "%s", f.line())
					title = ""
				}
			}
		}
	}
	addBy("", authors)
	addBy("our readings of tables: ", ours)
	if slices.ContainsFunc(findings, Finding.open) {
		d.Add(doc.Paragraph, "Measure what is open:")
		d.AddLines(doc.Literal, measure)
	}
	d.Add(doc.Paragraph, "Figures, reasons, doubts and runs:")
	d.AddLines(doc.Literal, evidence)
	return doc.WriteText(w, d, width)
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
