package report

import (
	"slices"

	"assay"
)

// served tells whether the row was asked for over HTTP.
func (r *Row) served() bool {
	_, is := r.Figure(assay.LimitPerS)
	return is
}

// loadColumns lists what became of requests. The closed loop has no rate, and a
// pool that opens nothing no column.
func (t *Table) loadColumns() []column {
	if t.Primary.Name == assay.CapacityPerS {
		return nil
	}
	names := []string{assay.P50, assay.P99, assay.OpPerS, assay.FailedOp}
	if t.cell().Rate > 0 {
		names = []string{assay.P50, assay.P99, assay.OpPerS, assay.OfferedPerS, assay.Lag, assay.LateOp, assay.DroppedOp, assay.FailedOp}
	}
	if t.any(assay.ReopensOp) {
		names = append(names, assay.ReopensOp)
	}
	var all []column
	for _, name := range names {
		if name != t.Primary.Name {
			all = append(all, column{name, true, centreColumn(name)})
		}
	}
	return all
}

// any tells whether a figure of some row is above 0.
func (t *Table) any(metric string) bool {
	return slices.ContainsFunc(t.withTwins(), func(r *Row) bool { f, has := r.Figure(metric); return has && f.Interval.Center > 0 })
}
