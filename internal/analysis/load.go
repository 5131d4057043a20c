package analysis

import (
	"slices"

	"assay"
)

// Served reports whether the row was asked for over HTTP: only then it has figures of
// requests.
func (r *Row) Served() bool {
	return slices.ContainsFunc(r.Figures, func(f Figure) bool { return f.Metric.Of == assay.OfRequest })
}

// Any reports whether a figure of some row is above 0.
func (t *Table) Any(metric string) bool {
	return slices.ContainsFunc(t.WithTwins(), func(r *Row) bool { f, has := r.Figure(metric); return has && f.Interval.Center > 0 })
}
