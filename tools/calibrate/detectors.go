package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"assay/internal/stat"
)

// detectors says how often each finds something in the ratios of one comparison.
func (p *printer) detectors() {
	p.title("Findings of the detectors, %% of comparisons with 6, 12, 24 and 48 launches.")
	some := slices.DeleteFunc(slices.Clone(scenarios), func(s scenario) bool { return s.tables > 0 || s.layouts > 0 })
	var columns []column[[4]float64]
	for i, head := range []string{"drift", "two modes", "autocorrelation", "skewed"} {
		columns = append(columns, column[[4]float64]{head: head, figure: func(shares [4]float64) float64 { return shares[i] }})
	}
	table(p, some, len(budgets), func(s scenario, i int) [4]float64 { return s.findings(p.seed, p.draws/8, budgets[i]) }, columns...)
}

// findings are the shares of comparisons in which each detector finds something.
func (s scenario) findings(seed uint64, draws, n int) [4]float64 {
	random := rand.New(rand.NewPCG(seed, 1979))
	var counts [4]int
	for range draws {
		logs := s.first(s.draw(random, spare*n, []float64{0, 0}), n)
		ratios := each(len(logs[0]), func(k int) float64 { return math.Exp(logs[1][k] - logs[0][k]) })
		_, _, drift := stat.Drift(ratios)
		_, _, modes := stat.TwoModes(ratios)
		_, order := stat.Autocorrelation(ratios)
		_, skew := stat.Skewed(ratios)
		for i, found := range []bool{drift, modes, order, skew} {
			if found {
				counts[i]++
			}
		}
	}
	var shares [4]float64
	for i, c := range counts {
		shares[i] = percent(c, draws)
	}
	return shares
}

// windowDetectors says how often the detectors on windows find something.
func (p *printer) windowDetectors() {
	p.title("Findings on windows that spread by %.0f %%, %% of cells: not steady from the first of 5 windows, with 6, 12 and 48 launches; stalls, with 12 launches.", 100*windowSpread)
	p.head("windows", "SteadyFrom", "Stalls")
	for _, shape := range windowShapes {
		var from []string
		for _, launches := range []int{6, 12, 48} {
			from = append(from, fmt.Sprintf("%.1f", shape.found(p, func(draw func(int) []float64) bool {
				cell := make([][]float64, launches)
				for i := range cell {
					cell[i] = draw(5)
				}
				start, _ := stat.SteadyFrom(cell)
				return start > 0
			})))
		}
		stalls := shape.found(p, func(draw func(int) []float64) bool { return meanStalls(draw, 12) > stat.StallLimit })
		p.row(shape.name, strings.Join(from, "  "), stalls)
	}
}
