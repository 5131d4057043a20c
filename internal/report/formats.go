package report

import (
	"io"

	"assay/internal/doc"
	"assay/internal/sys/format"
)

// Formats are all formats of a report. The command, its help and its errors take them
// from here. Charts have a file each.
var Formats = append(ofDocument((*Report).document),
	format.Format[*Report]{Name: "csv", Write: writeCSV},
	format.Format[*Report]{Name: "json", Write: writeJSON},
	format.Format[*Report]{Name: "benchfmt", Write: writeBenchfmt},
	format.Format[*Report]{Name: "html", Write: writeHTML},
	format.Format[*Report]{Name: "svg", Files: writeCharts})

// VersusFormats are those of a comparison.
var VersusFormats = ofDocument(VersusDocument)

// ofDocument are the formats of what a document says.
func ofDocument[T any](document func(T) doc.Document) format.List[T] {
	return format.List[T]{
		{Name: "text", Write: func(w io.Writer, v T) error { return doc.WriteText(w, document(v), 0) }},
		{Name: "markdown", Write: func(w io.Writer, v T) error { return doc.WriteMarkdown(w, document(v)) }},
	}
}
