package analysis

import (
	"slices"

	"assay"
)

// Best returns the cell whose settings are worth leaving out: that of the driver and
// profile that the run suggests, of the strongest class of durability that has a suggestion
// with typed settings. Where there is none, it is not clear: the cell is the first of those
// that may turn out to be the best; found is false where there is none of these, either.
func (r *Result) Best() (best assay.Cell, clear, found bool) {
	for _, s := range r.Suggestions {
		if c, found := firstTyped(s.Connections); found {
			return c.cell, true, true
		}
	}
	for _, s := range r.Suggestions {
		var open []Connection
		for _, c := range s.Open {
			open = append(open, NewConnection(c.Row))
		}
		if c, found := firstTyped(open); found {
			return c.cell, false, true
		}
	}
	return best, false, false
}

// firstTyped is the first connection with a profile of which a driver was told a setting.
func firstTyped(all []Connection) (Connection, bool) {
	i := slices.IndexFunc(all, func(c Connection) bool {
		return c.cell.Profile != "" && slices.ContainsFunc(c.Settings, func(s assay.Setting) bool { return s.Requested != "" && s.Issued != "" })
	})
	if i < 0 {
		return Connection{}, false
	}
	return all[i], true
}

// Requested returns what the whole profile asks for the setting that is left out.
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
