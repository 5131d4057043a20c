package report

import (
	"cmp"

	"assay"
	"assay/internal/analysis"
	"assay/internal/wording"
)

// class names a class of durability in tables.
func class(d assay.Durability) string { return cmp.Or(string(d), "unknown") }

// ended says how a row ended that is not ok.
func ended(row *analysis.Row) string {
	text := string(row.Outcome)
	if row.Reason != "" {
		text += ": " + row.Reason
	}
	return wording.Clean(text)
}
