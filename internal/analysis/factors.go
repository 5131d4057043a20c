package analysis

import (
	"slices"

	"assay"
	"assay/internal/stat"
)

// Best returns the cell of the driver and profile that the run suggests, of
// the strongest class of durability that has a suggestion with typed settings;
// false where none is ahead.
func (r *Result) Best() (assay.Cell, bool) {
	for _, s := range r.Suggestions {
		for _, c := range s.Connections {
			if c.cell.Profile != "" && slices.ContainsFunc(c.Settings, func(s assay.Setting) bool { return s.Issued != "" }) {
				return c.cell, true
			}
		}
	}
	return assay.Cell{}, false
}

// compareFactors compares each target that lacks a setting with the same
// target that has it, in the launches that had both.
func (t *Table) compareFactors(rule stat.Rule) {
	for _, row := range t.Factors {
		whole := row.Cell
		whole.Without = ""
		i := slices.IndexFunc(t.bases, func(r *Row) bool { return r.Cell.Key() == whole.Key() })
		if i >= 0 {
			row.Reference = t.bases[i]
			t.compareWithReference(row, rule)
		}
	}
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
