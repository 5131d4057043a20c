package stat

import (
	"math"
	"math/rand/v2"
)

const (
	// minSegment is the fewest values between two change points.
	minSegment = 3
	// changeLevel is the chance, at most, that a series without a change shows one.
	changeLevel = 0.01
	// permutations decide whether a shift is more than chance.
	permutations = 999
)

// ChangePoint says where the mean of a series shifts.
type ChangePoint struct {
	At            int     // the first value behind the shift
	Before, After float64 // means of the segments on both sides
	P             float64 // of the permutation test
}

// ChangePoints finds shifts of the mean, in the order of the series: binary
// segmentation (Vostrikova 1981) by the largest standardized difference of means,
// which is the maximum of the CUSUM (Page 1954). A permutation test says whether
// a series without a shift has one so large: it needs no distribution of the
// noise, only that its order is by chance (Matteson and James 2014 do so, too). The
// same series always gives the same answer.
func ChangePoints(values []float64) []ChangePoint {
	random := rand.New(rand.NewPCG(uint64(len(values)), 1954))
	found := segment(values, 0, random)
	edges := []int{0}
	for _, c := range found {
		edges = append(edges, c.At)
	}
	edges = append(edges, len(values))
	for i := range found {
		found[i].Before = mean(values[edges[i]:edges[i+1]])
		found[i].After = mean(values[edges[i+1]:edges[i+2]])
	}
	return found
}

// segment divides a part of a series that begins at a place of it.
func segment(values []float64, begin int, random *rand.Rand) []ChangePoint {
	at, shift := largestShift(values)
	if at == 0 {
		return nil
	}
	larger, shuffled := 1, append([]float64{}, values...)
	for range permutations {
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if _, by := largestShift(shuffled); by >= shift {
			larger++
		}
	}
	p := float64(larger) / (permutations + 1)
	if p > changeLevel {
		return nil
	}
	all := segment(values[:at], begin, random)
	all = append(all, ChangePoint{At: begin + at, P: p})
	return append(all, segment(values[at:], begin+at, random)...)
}

// largestShift returns where the means of both sides differ most, and by how much: in
// standard deviations within the sides, times the root of what each side weighs.
// At 0 there is none.
func largestShift(values []float64) (at int, shift float64) {
	n, total, squares := float64(len(values)), 0.0, 0.0
	for _, v := range values {
		total += v
		squares += v * v
	}
	left := 0.0
	for k := 1; k <= len(values)-minSegment; k++ {
		left += values[k-1]
		if k < minSegment {
			continue
		}
		x, y := float64(k), n-float64(k)
		difference := left/x - (total-left)/y
		within := squares - left*left/x - (total-left)*(total-left)/y
		by := math.Abs(difference) * math.Sqrt(x*y/n) / math.Sqrt(max(within, 1e-12*squares, math.SmallestNonzeroFloat64)/max(1, n-2))
		if by > shift {
			at, shift = k, by
		}
	}
	return at, shift
}

func mean(values []float64) float64 { return sum(values) / float64(len(values)) }
