package analysis

import (
	"slices"

	"assay"
)

// Best returns the cell of the driver and profile that the run suggests, of
// the strongest class of durability that has a suggestion with typed settings;
// false where none is ahead.
func (r *Result) Best() (assay.Cell, bool) {
	for _, s := range r.Suggestions {
		for _, c := range s.Connections {
			if c.cell.Profile != "" && slices.ContainsFunc(c.Settings, func(s assay.Setting) bool { return s.Requested != "" && s.Issued != "" }) {
				return c.cell, true
			}
		}
	}
	return assay.Cell{}, false
}

// Requested is what the whole profile asks for the setting that is left out.
func Requested(row *Row) string {
	if row.Reference != nil {
		for _, s := range row.Reference.Settings {
			if s.Name == row.Cell.Without && s.Requested != "" {
				return s.Requested
			}
		}
	}
	return "-"
}
