package report

import (
	"cmp"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
)

// class names a class of durability in tables.
func class(d assay.Durability) string { return cmp.Or(string(d), "unknown") }

// noFigure says why a row has none of what its table is compared by.
func noFigure(t *analysis.Table, row *analysis.Row) string {
	if row.Outcome == assay.OK {
		return "no figure of " + t.Primary.Name
	}
	return ended(row)
}

// ended says how a row ended that is not ok.
func ended(row *analysis.Row) string {
	text := string(row.Outcome)
	if row.Reason != "" {
		text += ": " + row.Reason
	}
	return wording.Clean(text)
}
