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
	maxEquivalent          = 2.5       // that differ by the margin
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

// column is a figure of each cell of a table, side by side in a row.
type column[T any] struct {
	head   string
	figure func(T) float64
	bar    func(s scenario, cell T) // notes whether it is missed; nil: it has none
}

// barred is a column with a bar: a figure from low to high, of so many independent draws.
func barred[T any](p *printer, head, what string, low, high float64, figure func(T) float64, draws func(T) int) column[T] {
	return column[T]{head, figure, func(s scenario, cell T) { p.bar(s, what, figure(cell), low, high, draws(cell)) }}
}

// table simulates the cells of all scenarios, of which a row has so many, and prints a row for each.
func table[T any](p *printer, all []scenario, inRow int, simulate func(s scenario, i int) T, columns ...column[T]) {
	head := []any{"scenario"}
	for _, c := range columns {
		head = append(head, c.head)
	}
	p.head(head...)
	cells := make([]T, len(all)*inRow)
	parallel(len(cells), func(i int) { cells[i] = simulate(all[i/inRow], i%inRow) })
	for i, s := range all {
		figures := make([][]float64, len(columns))
		for _, cell := range cells[i*inRow : (i+1)*inRow] {
			for k, c := range columns {
				figures[k] = append(figures[k], c.figure(cell))
				if c.bar != nil {
					c.bar(s, cell)
				}
			}
		}
		row := []any{s.name}
		for _, side := range figures {
			row = append(row, list(side))
		}
		p.row(row...)
	}
}

// The columns of tables of members.

func (p *printer) coverage(head, what string) column[tally] {
	return column[tally]{head, tally.shareCovered, func(s scenario, t tally) { p.covered(s, what, t) }}
}

func (p *printer) alarms(what string) column[tally] {
	return barred(p, "false verdicts", what, 0, maxAlarmed, func(t tally) float64 { return percent(t.alarmed, t.tables) }, tally.judged)
}

func (p *printer) order(what string) column[tally] {
	return barred(p, "ordered", what, 0, maxOrdered, func(t tally) float64 { return percent(t.ordered, t.tables) }, tally.judged)
}

// mean is a column of a mean over comparisons.
func mean(head string, sum func(tally) float64) column[tally] {
	return column[tally]{head: head, figure: func(t tally) float64 { return sum(t) / float64(t.comparisons) }}
}

var (
	halfWidths = mean("half-width", func(t tally) float64 { return 100 * t.half })
	launched   = mean("launches", func(t tally) float64 { return t.launches })
)

// of is a column of a part of the cells.
func of[T, U any](part func(U) T, c column[T]) column[U] {
	whole := column[U]{head: c.head, figure: func(cell U) float64 { return c.figure(part(cell)) }}
	if c.bar != nil {
		whole.bar = func(s scenario, cell U) { c.bar(s, part(cell)) }
	}
	return whole
}

var fixedLaunches = []int{2, 3, 6, 12}

// equals checks whole tables of members that are alike, with launches fixed
// beforehand.
func (p *printer) equals(judge judge, all []scenario) {
	p.title("Tables of equals, with %v launches: coverage %%, tables %% with a false verdict against the baseline, tables %% of which any two members are ordered, half-widths %% (and those of the same launches without borrowing), degrees of freedom borrowed.", fixedLaunches)
	table(p, all, len(fixedLaunches), func(s scenario, i int) tally {
		return experiment{scenario: s, judge: judge, launches: fixedLaunches[i], truth: equals}.simulate(p.seed, p.draws)
	}, p.coverage("coverage", "coverage"), p.alarms("false verdicts"), p.order("ordered"), halfWidths,
		mean("alone", func(t tally) float64 { return 100 * t.alone }), mean("borrowed", func(t tally) float64 { return t.borrowed }))
}

var budgets = []int{6, 12, 24, 48}

// adaptive checks the same where launches go on until intervals are narrow.
func (p *printer) adaptive(all []scenario) {
	p.title("Adaptive stopping from %d launches, with budgets of %v: as above; half-widths %%; mean launches.", stat.MinLaunches, budgets)
	table(p, all, len(budgets), func(s scenario, i int) tally {
		return experiment{scenario: s, judge: chosen, launches: stat.MinLaunches, budget: budgets[i], truth: equals}.simulate(p.seed, p.draws/2)
	}, p.coverage("coverage", "coverage"), p.alarms("false verdicts"), p.order("ordered"), halfWidths, launched)
}

// likeness is a cell of two tables: one of members that are alike, or all that differ by
// as much, and one of members that differ as drivers do.
type likeness struct{ alike, real tally }

// smallBudgets checks the same where the budget is too small for the planned launches of
// all: tables that are narrow with two wait, and the others go on. Members differ as drivers
// do, or are alike with so little spread that two launches are often enough.
func (p *printer) smallBudgets(all []scenario) {
	p.title("Adaptive stopping from %d launches of %d that were planned, with budgets of %v: tables of equals as above; then the coverage and the mean launches of tables of which two thirds differ by 1 to 40 %%.", stat.MinPairs, stat.MinLaunches, smallBudgets)
	all = append([]scenario{{name: "spread 0.5 %", members: 5, tables: 7, spread: always(0.005)}, {name: "spread 1 %", members: 5, tables: 7, spread: always(0.01)}}, all...)
	alike, real := func(c likeness) tally { return c.alike }, func(c likeness) tally { return c.real }
	launchedReal := launched
	launchedReal.head = "launches of differences"
	table(p, all, len(smallBudgets), func(s scenario, i int) likeness {
		waiting := func(truth func(*rand.Rand, int) []float64) tally {
			return experiment{scenario: s, judge: chosen, launches: stat.MinPairs, planned: stat.MinLaunches, budget: smallBudgets[i], truth: truth}.simulate(p.seed, p.draws/2)
		}
		return likeness{waiting(equals), waiting(mixed)}
	}, of(alike, p.coverage("coverage", "coverage")), of(alike, p.alarms("false verdicts")), of(alike, p.order("ordered")), of(alike, halfWidths), of(alike, launched),
		of(real, p.coverage("coverage of differences", "coverage of differences with a small budget")), of(real, launchedReal))
}

var smallBudgets = []int{3, 4, 6, 12}

// different checks tables in which members differ: intervals hold, none is
// ordered the wrong way round, and what differs by the margin is not
// equivalent, which is hardest.
func (p *printer) different(all []scenario) {
	p.title("Tables of members of which two thirds differ by 1 to 40 %%, with adaptive stopping and budgets of %v: as above; then, of members that differ by the margin, wrong \"equivalent\" %%.", budgets[:3])
	alike, real := func(c likeness) tally { return c.alike }, func(c likeness) tally { return c.real }
	table(p, all, len(budgets[:3]), func(s scenario, i int) likeness {
		adaptive := func(truth func(*rand.Rand, int) []float64) tally {
			return experiment{scenario: s, judge: chosen, launches: stat.MinLaunches, budget: budgets[i], truth: truth}.simulate(p.seed, p.draws/2)
		}
		return likeness{adaptive(apart(1 + margin)), adaptive(mixed)}
	}, of(real, p.coverage("coverage", "coverage of differences")), of(real, p.alarms("false verdicts among differences")), of(real, p.order("falsely ordered among differences")),
		of(real, column[tally]{head: "decided", figure: func(t tally) float64 { return percent(t.decided, t.comparisons) }}),
		of(alike, barred(p, "wrong equivalent", "wrong equivalent", 0, maxEquivalent, func(t tally) float64 { return percent(t.equivalent, t.different) }, func(t tally) int { return t.different })))
}

// power says how often a difference is found.
func (p *printer) power(all []scenario) {
	differences := []float64{0.05, 0.10, 0.15, 0.25}
	p.title("Differences found (faster or slower) in tables of 5, %%, by true difference, with %v launches.", fixedLaunches)
	var columns []column[[]tally]
	for i, d := range differences {
		columns = append(columns, column[[]tally]{head: fmt.Sprintf("%.0f %%", 100*d), figure: func(all []tally) float64 { return percent(all[i].found, all[i].different) }})
	}
	table(p, all, len(fixedLaunches), func(s scenario, i int) (tallies []tally) {
		for _, d := range differences {
			tallies = append(tallies, experiment{scenario: s, judge: chosen, launches: fixedLaunches[i], truth: apart(1 + d)}.simulate(p.seed, p.draws/4))
		}
		return tallies
	}, columns...)
}
