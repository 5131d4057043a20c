package stat

import (
	"cmp"
	"slices"
)

// alpha is the chance, at most, that some difference that a family of
// comparisons claims is none.
const alpha = 0.05

// member is one comparison of a family. Weight is its part of alpha, relative to
// the others'; 0 where too little was measured to be tested.
type member struct {
	pairs        Pairs
	prior        Prior
	higherBetter bool
	weight       float64
}

// settle judges a family of comparisons, with all of which together some
// difference is claimed that is none in at most 5 % of cases: by Holm's
// step-down method with weights (Holm 1979). Every member belongs to it, however
// its own verdict comes about. What is equivalent is shown by its whole interval
// and needs no adjusting.
func (r Rule) settle(family []member) []Comparison {
	all := make([]Comparison, len(family))
	ps, weights, tested := make([]float64, len(family)), make([]float64, len(family)), 0
	for i, m := range family {
		all[i] = r.JudgeOne(m.pairs, m.prior, m.higherBetter)
		ps[i], weights[i] = all[i].P, m.weight
		if m.weight > 0 {
			tested++
		}
	}
	total := sum(weights)
	for i, adjusted := range holm(ps, weights) {
		switch p := all[i].P; {
		case weights[i] == 0:
		case p > 0 && adjusted < 1:
			all[i].settle(adjusted, adjusted/p, tested)
		default:
			all[i].settle(adjusted, total/weights[i], tested)
		}
	}
	return all
}

// Holm returns p-values adjusted for all of them being looked at together (Holm 1979).
func Holm(ps []float64) []float64 {
	weights := make([]float64, len(ps))
	for i := range weights {
		weights[i] = 1
	}
	return holm(ps, weights)
}

// holm returns p-values adjusted for all of them being looked at together. Those
// without a weight do not count, and are 1.
func holm(ps, weights []float64) []float64 {
	var order []int
	adjusted := make([]float64, len(ps))
	for i, w := range weights {
		adjusted[i] = 1
		if w > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a]/weights[a], ps[b]/weights[b]) })
	left, highest := sum(weights), 0.0
	for _, i := range order {
		highest = max(highest, min(1, left*ps[i]/weights[i]))
		adjusted[i] = highest
		left -= weights[i]
	}
	return adjusted
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}
