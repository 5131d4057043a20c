package stat

import (
	"cmp"
	"math"
	"slices"
)

// Holm returns p-values adjusted for all of them being looked at together, by
// Holm's step-down method (Scandinavian Journal of Statistics 6, 1979): where
// those that are at most alpha count as differences, the chance that any of
// them is none is at most alpha. A NaN stays NaN and does not count.
func Holm(ps []float64) []float64 {
	order := make([]int, 0, len(ps))
	for i, p := range ps {
		if !math.IsNaN(p) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted := slices.Clone(ps)
	highest := 0.0
	for rank, i := range order {
		highest = max(highest, min(1, float64(len(order)-rank)*ps[i]))
		adjusted[i] = highest
	}
	return adjusted
}
