package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"assay/internal/stat"
)

// The bars, in percent.
const (
	leastCovered, mostCovered = 93, 97
	mostCalled                = 5
	mostAlike                 = 1
)

// printer prints tables and notes which bars are missed, and which are in
// scenarios of which that is known.
type printer struct {
	seed   uint64
	draws  int
	out    *tabwriter.Writer
	missed []string
	limits []string
}

func (p *printer) row(cells ...any) {
	var texts []string
	for _, c := range cells {
		if f, ok := c.(float64); ok {
			c = fmt.Sprintf("%.1f", f)
		}
		texts = append(texts, fmt.Sprint(c))
	}
	fmt.Fprintln(p.out, strings.Join(texts, "\t"))
}

func (p *printer) title(format string, arguments ...any) {
	p.out.Flush()
	fmt.Fprintf(p.out, "\n"+format+"\n\n", arguments...)
	p.out.Flush()
}

// sampling is the standard error of a share in percent.
func (p *printer) sampling(percent float64) float64 {
	return math.Sqrt(percent * (100 - percent) / float64(p.draws))
}

// rules compares ways to stop.
func (p *printer) rules() {
	p.title("Ways to decide on the number of launches: at most 48, half-width %g, margin %g.\nPer cell: coverage %%, false alarms %%, mean launches. Standard errors: %.1f at 95 %%, %.1f at 5 %%.",
		precision, margin, p.sampling(95), p.sampling(5))
	chosen := []scenario{scenarios[0], scenarios[1], scenarios[2], scenarios[3], scenarios[6], scenarios[7]}
	header := []any{"rule"}
	for _, s := range chosen {
		header = append(header, s.name)
	}
	p.row(header...)
	for _, rule := range []stopping{fixed, twoStages, stein, discarded, naive, watched} {
		cells := []any{rule.name}
		for _, s := range chosen {
			t := simulate(s, rule, p.seed, p.draws, 48, 1)
			cells = append(cells, fmt.Sprintf("%.1f  %.1f  %.1f", t.share(t.covered), t.share(t.called), float64(t.launches)/float64(t.draws)))
		}
		p.row(cells...)
	}
}

// scenarios checks the chosen rule.
func (p *printer) scenarios() {
	p.title("The chosen rule by scenario, with budgets of %v launches: coverage %%, false alarms %%, wrong \"equivalent\" %% at twice the margin;\nwith 48: mean launches, comparisons %% with a warning, coverage %% of those without.", budgets)
	p.row("scenario", "coverage", "", "", "", "false alarms", "", "", "", "wrong equivalent", "", "", "", "launches", "warned", "coverage without")
	for _, s := range scenarios {
		var covered, called, alike []any
		var last tally
		for _, budget := range budgets {
			last = simulate(s, watched, p.seed, p.draws, budget, 1)
			twice := simulate(s, watched, p.seed+1, p.draws, budget, 1+2*margin)
			covered = append(covered, last.share(last.covered))
			called = append(called, last.share(last.called))
			alike = append(alike, twice.share(twice.alike))
		}
		without := "-"
		if unwarned := last.draws - last.warned; unwarned*10 > last.draws {
			without = fmt.Sprintf("%.1f", 100*float64(last.coveredWithout)/float64(unwarned))
		}
		cells := append([]any{s.name}, slices.Concat(covered, called, alike)...)
		p.row(append(cells, float64(last.launches)/float64(last.draws), last.share(last.warned), without)...)
		p.judge(s, covered, called, alike)
	}
}

// judge holds a scenario's figures to the bars.
func (p *printer) judge(s scenario, covered, called, alike []any) {
	note := func(bad bool, what string, figures []any) {
		line := fmt.Sprintf("%s: %s %.1f", s.name, what, figures)
		switch {
		case !bad || s.known != "":
		case s.limit != "":
			p.limits = append(p.limits, line+"; against it: "+s.limit)
		default:
			p.missed = append(p.missed, line)
		}
	}
	low, high := extremes(covered)
	note(low < leastCovered || high > mostCovered, "coverage", covered)
	_, most := extremes(called)
	note(most > mostCalled, "false alarms", called)
	_, most = extremes(alike)
	note(most > mostAlike, "wrong equivalent", alike)
}

func extremes(figures []any) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, f := range figures {
		low, high = min(low, f.(float64)), max(high, f.(float64))
	}
	return low, high
}

// detectors says how often each finds something, with all of the budget run.
func (p *printer) detectors() {
	p.title("Findings of the detectors, %% of comparisons with 6, 12, 24 and 48 launches.")
	p.row("scenario", "drift", "two modes", "autocorrelation", "skewed")
	for _, s := range scenarios {
		if s.layouts > 0 {
			continue
		}
		var drift, modes, order, skew []string
		for _, budget := range budgets {
			t := simulate(s, fixed, p.seed, p.draws/2, budget, 1)
			for column, count := range map[*[]string]int{&drift: t.drift, &modes: t.modes, &order: t.order, &skew: t.skew} {
				*column = append(*column, fmt.Sprintf("%.1f", t.share(count)))
			}
		}
		p.row(s.name, strings.Join(drift, "  "), strings.Join(modes, "  "), strings.Join(order, "  "), strings.Join(skew, "  "))
	}
}

// windowDetectors says how often the detectors on windows find something.
func (p *printer) windowDetectors() {
	p.title("Findings on windows that spread by %.0f %%, %% of cells: not steady from the first of 5 windows, with 6, 12 and 48 launches;\nnot steady from the first of 20 or 60 windows, of one launch; stalls, with 12 launches.", 100*windowSpread)
	p.row("windows", "SteadyFrom", "Steady", "Stalls")
	for _, shape := range windowShapes {
		var from, alone []string
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
		for _, windows := range []int{20, 60} {
			alone = append(alone, fmt.Sprintf("%.1f", shape.found(p, func(draw func(int) []float64) bool {
				start, _ := stat.Steady(draw(windows))
				return start > 0
			})))
		}
		stalls := shape.found(p, func(draw func(int) []float64) bool { return meanStalls(draw, 12) > stat.StallLimit })
		p.row(shape.name, strings.Join(from, "  "), strings.Join(alone, "  "), stalls)
	}
}

// power says how often a difference is found.
func (p *printer) power() {
	p.title("Differences found (faster or slower), %% by true difference, with budgets of %v launches.", budgets)
	header := []any{"spread"}
	differences := []float64{0.02, 0.05, 0.10, 0.25}
	for _, d := range differences {
		header = append(header, fmt.Sprintf("%.0f %%", 100*d))
	}
	p.row(header...)
	for _, s := range scenarios[:5] {
		cells := []any{s.name}
		for _, d := range differences {
			var found []string
			for _, budget := range budgets {
				t := simulate(s, watched, p.seed, p.draws/4, budget, 1+d)
				found = append(found, fmt.Sprintf("%.0f", t.share(t.called)))
			}
			cells = append(cells, strings.Join(found, "  "))
		}
		p.row(cells...)
	}
}
