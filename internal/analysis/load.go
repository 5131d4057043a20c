package analysis

import (
	"slices"
	"strconv"

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

// saturates reports whether the row's clients keep all processors busy without a pause, and not
// over HTTP: how long an operation takes is then up to who runs next.
func (r *Row) saturates(run assay.Run) bool {
	processors, err := strconv.Atoi(run.Host["cores"])
	return err == nil && r.Cell.AllClients() > processors && r.Cell.Rate == 0 && !r.Served()
}
