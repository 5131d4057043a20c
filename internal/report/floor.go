package report

import (
	"assay/internal/analysis"
)

// floorCell shows how many times the floor a row is.
func floorCell(r *analysis.Row) string {
	switch {
	case r.IsFloor:
		return "floor"
	case r.Floor != nil:
		return ratioText(*r.Floor)
	}
	return "-"
}
