package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"

	"assay/internal/stat"
)

// The bars, in percent.
const (
	minCovered, maxCovered = 93, 97
	maxAlarmed             = 5
	maxOrdered             = 5
	maxLooked              = 6         // of comparisons that are measured again while undecided
	maxEquivalent          = 1         // that differ by twice the margin
	minHeld                = 94        // bounds on what a pick loses
	minTimely              = 200 / 3.0 // undecided comparisons that decide in twice the time said
	maxOverstated          = 3         // points by which odds are better than what comes true
)

// printer prints tables in Markdown and notes which bars are missed, and which are
// in scenarios of which that is known.
type printer struct {
	seed   uint64
	draws  int // tables of a scenario
	out    io.Writer
	missed []string
	limits []string
}

func newPrinter(w io.Writer, seed uint64, draws int) *printer {
	return &printer{seed: seed, draws: draws, out: w}
}

func (p *printer) row(cells ...any) {
	var texts []string
	for _, c := range cells {
		if f, ok := c.(float64); ok {
			c = fmt.Sprintf("%.1f", f)
		}
		texts = append(texts, fmt.Sprint(c))
	}
	fmt.Fprintf(p.out, "| %s |\n", strings.Join(texts, " | "))
}

// head begins a table.
func (p *printer) head(cells ...any) {
	p.row(cells...)
	fmt.Fprintln(p.out, "|"+strings.Repeat(" --- |", len(cells)))
}

func (p *printer) title(format string, arguments ...any) {
	fmt.Fprintf(p.out, "\n"+format+"\n\n", arguments...)
}

// bar notes a share that is not within low and high by more than chance explains:
// two standard errors, those of so many independent draws.
func (p *printer) bar(s scenario, what string, figure, low, high float64, draws int) {
	chance := func(share float64) float64 { return 100 * math.Sqrt(share/100*(1-share/100)/float64(max(1, draws))) }
	if figure < low-2*chance(low) || figure > high+2*chance(high) {
		p.miss(s, what, figure)
	}
}

// covered notes a coverage that misses its bar likewise.
func (p *printer) covered(s scenario, what string, t tally) {
	if share, chance := t.coverage(); share < minCovered-2*chance || share > maxCovered+2*chance {
		p.miss(s, what, share)
	}
}

func (p *printer) miss(s scenario, what string, figure float64) {
	line := fmt.Sprintf("%s: %s %.1f", s.name, what, figure)
	if s.limit != "" {
		p.limits = append(p.limits, line+"; against it: "+s.limit)
		return
	}
	p.missed = append(p.missed, line)
}

func percent(count, of int) float64 { return 100 * float64(count) / float64(of) }

// list is figures side by side.
func list(figures []float64) string {
	texts := make([]string, len(figures))
	for i, f := range figures {
		texts[i] = fmt.Sprintf("%.1f", f)
	}
	return strings.Join(texts, " · ")
}

// grid simulates each scenario with each number, and returns the tallies by both.
func (p *printer) grid(all []scenario, numbers []int, make func(s scenario, n int) experiment, draws int) [][]tally {
	tallies := make2(len(all), len(numbers))
	parallel(len(all)*len(numbers), func(i int) {
		s, n := i/len(numbers), i%len(numbers)
		tallies[s][n] = make(all[s], numbers[n]).simulate(p.seed, draws)
	})
	return tallies
}

func make2(n, m int) [][]tally {
	all := make([][]tally, n)
	for i := range all {
		all[i] = make([]tally, m)
	}
	return all
}

var fixedLaunches = []int{2, 3, 6, 12}

// equals checks whole tables of members that are alike, with launches fixed
// beforehand.
func (p *printer) equals(judge judge, all []scenario) {
	p.title("Tables of equals, with %v launches: coverage %%, tables %% with a false verdict against the baseline, tables %% of which any two members are ordered, half-widths %% (and those of the same launches without borrowing), degrees of freedom borrowed.", fixedLaunches)
	p.head("scenario", "coverage", "false verdicts", "ordered", "half-width", "alone", "borrowed")
	for i, tallies := range p.grid(all, fixedLaunches, func(s scenario, n int) experiment {
		return experiment{scenario: s, judge: judge, launches: n, truth: equals}
	}, p.draws) {
		p.alarms(all[i], tallies, true)
	}
}

// alarms prints and judges the row of a scenario, with more cells behind.
func (p *printer) alarms(s scenario, tallies []tally, fixed bool, more ...any) {
	var covered, alarmed, ordered, half, alone, borrowed, launches []float64
	for _, t := range tallies {
		n := float64(t.comparisons)
		covered, alarmed = append(covered, percent(t.covered, t.comparisons)), append(alarmed, percent(t.alarmed, t.tables))
		ordered = append(ordered, percent(t.ordered, t.tables))
		half, alone, borrowed = append(half, 100*t.half/n), append(alone, 100*t.alone/n), append(borrowed, t.borrowed/n)
		launches = append(launches, t.launches/n)
		p.covered(s, "coverage", t)
		p.bar(s, "false verdicts", alarmed[len(alarmed)-1], 0, maxAlarmed, t.tables)
		p.bar(s, "ordered", ordered[len(ordered)-1], 0, maxOrdered, t.tables)
	}
	if fixed {
		p.row(s.name, list(covered), list(alarmed), list(ordered), list(half), list(alone), list(borrowed))
		return
	}
	p.row(append([]any{s.name, list(covered), list(alarmed), list(ordered), list(half), list(launches)}, more...)...)
}

var budgets = []int{6, 12, 24, 48}

// adaptive checks the same where launches go on until intervals are narrow.
func (p *printer) adaptive(all []scenario) {
	p.title("Adaptive stopping from %d launches, with budgets of %v: as above; half-widths %%; mean launches.", stat.MinLaunches, budgets)
	p.head("scenario", "coverage", "false verdicts", "ordered", "half-width", "launches")
	for i, tallies := range p.grid(all, budgets, func(s scenario, n int) experiment {
		return experiment{scenario: s, judge: chosen, launches: stat.MinLaunches, budget: n, truth: equals}
	}, p.draws/2) {
		p.alarms(all[i], tallies, false)
	}
}

// smallBudgets checks the same where the budget is too small for the planned launches of
// all: tables that are narrow with two wait, and the others go on. Members differ as drivers
// do, or are alike with so little spread that two launches are often enough.
func (p *printer) smallBudgets(all []scenario) {
	p.title("Adaptive stopping from %d launches of %d that were planned, with budgets of %v: tables of equals as above; then the coverage and the mean launches of tables of which two thirds differ by 1 to 40 %%.", stat.MinPairs, stat.MinLaunches, smallBudgets)
	p.head("scenario", "coverage", "false verdicts", "ordered", "half-width", "launches", "coverage of differences", "launches of differences")
	waiting := func(truth func(*rand.Rand, int) []float64) func(scenario, int) experiment {
		return func(s scenario, n int) experiment {
			return experiment{scenario: s, judge: chosen, launches: stat.MinPairs, planned: stat.MinLaunches, budget: n, truth: truth}
		}
	}
	all = append([]scenario{{name: "spread 0.5 %", members: 5, tables: 7, spread: always(0.005)}, {name: "spread 1 %", members: 5, tables: 7, spread: always(0.01)}}, all...)
	alike, real := p.grid(all, smallBudgets, waiting(equals), p.draws/2), p.grid(all, smallBudgets, waiting(mixed), p.draws/2)
	for i, s := range all {
		var covered, launches []float64
		for _, t := range real[i] {
			covered, launches = append(covered, percent(t.covered, t.comparisons)), append(launches, t.launches/float64(t.comparisons))
			p.covered(s, "coverage of differences with a small budget", t)
		}
		p.alarms(s, alike[i], false, list(covered), list(launches))
	}
}

var smallBudgets = []int{3, 4, 6, 12}

// different checks tables in which members differ: intervals hold, none is
// ordered the wrong way round, and what differs by twice the margin is not
// equivalent.
func (p *printer) different(all []scenario) {
	p.title("Tables of members of which two thirds differ by 1 to 40 %%, with adaptive stopping and budgets of %v: as above; then, of members that differ by twice the margin, wrong \"equivalent\" %%.", budgets[:3])
	p.head("scenario", "coverage", "false verdicts", "ordered", "decided", "wrong equivalent")
	adaptive := func(truth func(*rand.Rand, int) []float64) func(scenario, int) experiment {
		return func(s scenario, n int) experiment {
			return experiment{scenario: s, judge: chosen, launches: stat.MinLaunches, budget: n, truth: truth}
		}
	}
	real := p.grid(all, budgets[:3], adaptive(mixed), p.draws/2)
	twice := p.grid(all, budgets[:3], adaptive(apart(1+2*margin)), p.draws/2)
	for i, s := range all {
		var covered, alarmed, ordered, decided, equivalent []float64
		for j, t := range real[i] {
			covered, alarmed = append(covered, percent(t.covered, t.comparisons)), append(alarmed, percent(t.alarmed, t.tables))
			ordered, decided = append(ordered, percent(t.ordered, t.tables)), append(decided, percent(t.decided, t.comparisons))
			equivalent = append(equivalent, percent(twice[i][j].equivalent, twice[i][j].different))
			p.covered(s, "coverage of differences", t)
			p.bar(s, "wrong equivalent", equivalent[j], 0, maxEquivalent, twice[i][j].different)
			p.bar(s, "false verdicts among differences", alarmed[j], 0, maxAlarmed, t.tables)
			p.bar(s, "falsely ordered among differences", ordered[j], 0, maxOrdered, t.tables)
		}
		p.row(s.name, list(covered), list(alarmed), list(ordered), list(decided), list(equivalent))
	}
}

// power says how often a difference is found.
func (p *printer) power(all []scenario) {
	differences := []float64{0.05, 0.10, 0.15, 0.25}
	p.title("Differences found (faster or slower) in tables of 5, %%, by true difference, with %v launches.", fixedLaunches)
	header := []any{"scenario"}
	for _, d := range differences {
		header = append(header, fmt.Sprintf("%.0f %%", 100*d))
	}
	p.head(header...)
	rows := make([][]any, len(all))
	for i, s := range all {
		rows[i] = []any{s.name}
	}
	for _, d := range differences {
		for i, tallies := range p.grid(all, fixedLaunches, func(s scenario, n int) experiment {
			return experiment{scenario: s, judge: chosen, launches: n, truth: apart(1 + d)}
		}, p.draws/4) {
			var found []float64
			for _, t := range tallies {
				found = append(found, percent(t.found, t.different))
			}
			rows[i] = append(rows[i], list(found))
		}
	}
	for _, row := range rows {
		p.row(row...)
	}
}
