package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"assay/internal/stat"
)

// machineCounts and betweens are the numbers of machines, and the standard deviations
// of their log ratios, that are simulated.
var (
	machineCounts = []int{2, 3, 5, 10}
	betweens      = []float64{0, 0.02, 0.1, 0.3}
)

// over counts what intervals over machines hold.
type over struct{ all, covered, predicted, wrong int }

// across simulates runs of one plan on several machines whose ratios are a sample
// about 1, and checks the interval of their mean, where one more machine lies, and
// the verdict.
func (p *printer) across(s scenario) {
	p.title("One ratio over machines, %v of them, each with a run of %d launches (%s): the mean of the machines' true ratios is 1. Intervals that hold it, %%; those of one more machine that hold its ratio, from 3 machines on, %%; false verdicts, %%.", machineCounts, stat.MinLaunches, s.name)
	p.head("machines differ by", "coverage", "of one more", "false verdicts")
	counts := make([]over, len(betweens)*len(machineCounts))
	parallel(len(counts), func(i int) {
		counts[i] = acrossMachines(s, p.seed, p.draws*5, machineCounts[i%len(machineCounts)], betweens[i/len(machineCounts)])
	})
	for i, between := range betweens {
		var covered, predicted, wrong []float64
		for _, c := range counts[i*len(machineCounts) : (i+1)*len(machineCounts)] {
			covered, wrong = append(covered, percent(c.covered, c.all)), append(wrong, percent(c.wrong, c.all))
			p.bar(s, "coverage over machines", percent(c.covered, c.all), minCovered, 100, c.all)
			p.bar(s, "false verdicts over machines", percent(c.wrong, c.all), 0, 5, c.all)
		}
		for _, c := range counts[i*len(machineCounts)+1 : (i+1)*len(machineCounts)] {
			predicted = append(predicted, percent(c.predicted, c.all))
		}
		p.row(fmt.Sprintf("%g %%", 100*between), list(covered), list(predicted), list(wrong))
	}
}

// acrossMachines asks one question of each table of a run, of many runs.
func acrossMachines(s scenario, seed uint64, draws, machines int, between float64) over {
	random := rand.New(rand.NewPCG(seed, 2014))
	e := experiment{scenario: s, launches: stat.MinLaunches, truth: func(random *rand.Rand, members int) []float64 {
		truth := make([]float64, members)
		truth[1] = between * random.NormFloat64()
		return truth
	}}
	var count over
	for count.all < draws {
		var questions [][]stat.Comparison // by table
		for range machines {
			run := e.begin(random)
			for i, judged := range e.rule().Judge(run.tables) {
				if i == len(questions) {
					questions = append(questions, nil)
				}
				questions[i] = append(questions[i], judged.Comparisons[0]) // of member 1 with the baseline
			}
		}
		for _, of := range questions {
			a := e.rule().Over(of, false)
			count.all++
			if a.Ratio.Low <= 1 && 1 <= a.Ratio.High {
				count.covered++
			}
			if a.Verdict.Differs() {
				count.wrong++
			}
			if next := between * random.NormFloat64(); a.Next.Known() && math.Log(a.Next.Low) <= next && next <= math.Log(a.Next.High) {
				count.predicted++
			}
		}
	}
	return count
}
