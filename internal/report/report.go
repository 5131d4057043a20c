// Package report prints the analysis of a run: as text, Markdown, HTML, CSV,
// JSON, in the Go benchmark format, and as charts in SVG and PNG. All sentences
// are here, and no figure is computed here.
package report

import (
	"fmt"
	"io"
	"strings"

	"assay/internal/analysis"
)

// Report prints the analysis of one run.
type Report struct{ *analysis.Result }

// New is the report on a run.
func New(r *analysis.Result) *Report { return &Report{r} }

// Formats lists the formats that Write knows.
var Formats = []string{"text", "markdown", "csv", "json", "benchfmt"}

// Write prints the report in one of Formats.
func (r *Report) Write(w io.Writer, format string) error {
	switch format {
	case "text":
		return writeText(w, r.document())
	case "markdown":
		return writeMarkdown(w, r.document())
	case "csv":
		return r.writeCSV(w)
	case "json":
		return r.writeJSON(w)
	case "benchfmt":
		return r.writeBenchfmt(w)
	}
	return fmt.Errorf("unknown format %q: use one of %s", format, strings.Join(Formats, ", "))
}
