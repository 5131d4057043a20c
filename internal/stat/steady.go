package stat

import (
	"math"
	"slices"
)

// StallLimit is the ratio of Stalls above which there are stalls.
const StallLimit = 1.05

// Stalls returns the total time per operation over that of the median window: a
// few windows that took far longer, through a checkpoint or a collection, move
// the total and not the median. Nanos and operations are of each window. It is
// 1 with fewer than two windows of at least one operation each.
func Stalls(nanos, operations []int64) float64 {
	var each []float64
	var total, count float64
	for i := range min(len(nanos), len(operations)) {
		if operations[i] > 0 && nanos[i] > 0 {
			each = append(each, float64(nanos[i])/float64(operations[i]))
			total += float64(nanos[i])
			count += float64(operations[i])
		}
	}
	if len(each) < 2 {
		return 1
	}
	return total / count / median(each)
}

// steadyWithin is by what share windows may differ and still be steady: with
// enough launches every difference is certain, and most are of no interest.
const steadyWithin = 0.01

// SteadyFrom returns the position of the window from which the launches of a cell, all together,
// are steady. A position is not where
// its windows differ from the later ones of their launches by over 1 % on
// average, certain at 1 % by t over launches for all positions together. It is
// false where fewer than half of the windows are left. Launches is the time per
// operation by launch and window; those without as many windows as the first do
// not count. With fewer than six launches nothing can be found.
func SteadyFrom(launches [][]float64) (start int, steady bool) {
	if len(launches) == 0 {
		return 0, true
	}
	windows := len(launches[0])
	complete := slices.DeleteFunc(slices.Clone(launches), func(l []float64) bool {
		return len(l) != windows || slices.ContainsFunc(l, notPositive)
	})
	if len(complete) < minToDetect {
		return 0, true
	}
	for position := range max(0, windows-1) {
		if stepsAt(complete, position, detectLevel/float64(windows-1)) {
			start = position + 1
		}
	}
	return start, 2*(windows-start) >= windows
}

// stepsAt reports whether the windows at a position differ from the later ones.
func stepsAt(launches [][]float64, position int, alpha float64) bool {
	var steps []float64
	for _, l := range launches {
		later := 0.0
		for _, w := range l[position+1:] {
			later += math.Log(w)
		}
		steps = append(steps, math.Log(l[position])-later/float64(len(l)-position-1))
	}
	s := summarize(steps)
	return math.Abs(s.mean) > math.Log1p(steadyWithin) &&
		math.Abs(s.mean) > tQuantile(s.freedom, 1-alpha)*s.sd/math.Sqrt(float64(s.n))
}
