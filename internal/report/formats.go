package report

import (
	"assay/internal/doc"
	"assay/internal/sys/format"
)

// Formats are all formats of a report. The command, its help and its errors take them
// from here. Charts have a file each.
var Formats = append(doc.Formats((*Report).document, nil),
	format.Format[*Report]{Name: "csv", Write: writeCSV},
	format.Format[*Report]{Name: "json", Write: writeJSON},
	format.Format[*Report]{Name: "benchfmt", Write: writeBenchfmt},
	format.Format[*Report]{Name: "html", Write: writeHTML},
	format.Format[*Report]{Name: "svg", Files: writeCharts})

// VersusFormats are those of a comparison.
var VersusFormats = doc.Formats(VersusDocument, nil)
