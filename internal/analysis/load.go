package analysis

import (
	"slices"

	"assay"
)

// Served tells whether the row was asked for over HTTP.
func (r *Row) Served() bool {
	_, is := r.Figure(assay.LimitPerS)
	return is
}

// Any tells whether a figure of some row is above 0.
func (t *Table) Any(metric string) bool {
	return slices.ContainsFunc(t.WithTwins(), func(r *Row) bool { f, has := r.Figure(metric); return has && f.Interval.Center > 0 })
}
