package analysis

import (
	"slices"
)

// WithTwins are all rows that a table shows, in its order.
func (t *Table) WithTwins() []*Row { return slices.Concat(t.Rows, t.Twins) }

// ReasonOf is a row's reason after a colon.
func ReasonOf(row *Row) string {
	if row.Reason == "" {
		return ""
	}
	return ": " + row.Reason
}

// PerLaunch are a metric's single figures that count.
func (r *Row) PerLaunch(metric string) []float64 {
	var all []float64
	for _, trial := range r.Counted() {
		if v, has := trial.Figures[metric]; has && Finite(v) {
			all = append(all, v)
		}
	}
	return all
}
