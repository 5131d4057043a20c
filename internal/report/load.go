package report

import (
	"assay"
	"assay/internal/analysis"
)

// loadColumns lists what became of requests. The closed loop has no rate.
func loadColumns(t *analysis.Table) []column {
	if t.Primary.Name == assay.CapacityPerS {
		return nil
	}
	names := []string{assay.P50, assay.P99, assay.OpPerS, assay.FailedOp}
	if t.Cell().Rate > 0 {
		names = []string{assay.P50, assay.P99, assay.OpPerS, assay.OfferedPerS, assay.Lag, assay.LateOp, assay.DroppedOp, assay.FailedOp}
	}
	var all []column
	for _, name := range names {
		if name != t.Primary.Name {
			all = append(all, column{name, true, centreColumn(name)})
		}
	}
	return all
}
