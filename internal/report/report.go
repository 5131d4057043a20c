// Package report prints the analysis of a run: as text, Markdown, HTML, CSV,
// JSON, in the Go benchmark format, and as charts in SVG. All sentences
// are here, and no figure is computed here.
package report

import (
	"io"

	"assay"
	"assay/internal/analysis"
	"assay/internal/doc"
	"assay/internal/sys/format"
)

// Report prints the analysis of one run.
type Report struct {
	*analysis.Result
	Store string // as the user named it, for commands that are printed; empty: the default
	// Links lead from the page to others of the same server; there need be none.
	Links []doc.Link
	// differing are the coordinates that are not the same in all tables.
	differing map[string]bool
}

// New is the report on a run.
func New(r *analysis.Result) *Report {
	report := &Report{Result: r, differing: map[string]bool{}}
	for _, t := range r.Tables {
		first, cell := r.Tables[0].Cell(), t.Cell()
		for _, c := range assay.TableCoordinates() {
			report.differing[c.Name] = report.differing[c.Name] || c.Value(cell) != c.Value(first)
		}
	}
	return report
}

// Write prints the report in one of the formats that are one file.
func (r *Report) Write(w io.Writer, format string) error { return Formats.Write(w, format, r) }

// Formats are all formats of a report. The command, its help and its errors take them
// from here. Charts have a file each.
var Formats = append(doc.Formats((*Report).document, nil),
	format.Format[*Report]{Name: "csv", Write: writeCSV},
	format.Format[*Report]{Name: "json", Write: writeJSON},
	format.Format[*Report]{Name: "benchfmt", Write: writeBenchfmt},
	format.Format[*Report]{Name: "html", Write: writeHTML},
	format.Format[*Report]{Name: "svg", Files: writeCharts})

// VersusFormats holds the formats of a comparison.
var VersusFormats = doc.Formats(VersusDocument, nil)
