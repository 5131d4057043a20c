package main

import (
	"math"
	"math/rand/v2"

	"assay/internal/stat"
)

// windowSpread is the standard deviation of windows within a launch; real ones
// have 5 to 10 %.
const windowSpread = 0.07

// windowShape says how the windows of a launch differ in their order: step is the
// log ratio of window i to the last of n. nil: one in ten takes twice as long.
type windowShape struct {
	name string
	step func(i, n int) float64
}

var windowShapes = []windowShape{
	{"steady", func(int, int) float64 { return 0 }},
	{"the first fifth 10 % slower", func(i, n int) float64 { return math.Log(1.1) * float64(1-min(1, 5*i/n)) }},
	{"30 % slower at first, falling to the end", func(i, n int) float64 { return math.Log(1.3) * float64(n-1-i) / float64(n-1) }},
	{"one in ten takes twice as long", nil},
}

// found returns in what percentage of cells something is found.
func (s windowShape) found(p *printer, find func(draw func(n int) []float64) bool) float64 {
	random := rand.New(rand.NewPCG(p.seed, 1979))
	draw := func(n int) []float64 {
		return each(n, func(i int) float64 {
			x := windowSpread * random.NormFloat64()
			switch {
			case s.step != nil:
				x += s.step(i, n)
			case random.Float64() < 0.1:
				x += math.Ln2
			}
			return 1000 * math.Exp(x)
		})
	}
	hits := 0
	for range p.draws {
		if find(draw) {
			hits++
		}
	}
	return 100 * float64(hits) / float64(p.draws)
}

// meanStalls is the mean of Stalls over launches of five windows.
func meanStalls(draw func(n int) []float64, launches int) float64 {
	sum := 0.0
	for range launches {
		var nanos, operations []int64
		for _, w := range draw(5) {
			nanos, operations = append(nanos, int64(1000*w)), append(operations, 1000)
		}
		sum += stat.Stalls(nanos, operations)
	}
	return sum / float64(launches)
}
