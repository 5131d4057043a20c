package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/report"
)

// Doubt is a warning about a cell that was compared, or about both.
type Doubt struct {
	Cell string // its coordinates; empty: about both
	analysis.Warning
}

// doubt collects what is to be known about the figures. That a row promises
// something else about the data than its own reference is not about these two.
func (e *Evidence) doubt(a, b *analysis.Row) {
	if unlike := a.Unequal(b); unlike != nil {
		e.Doubts = append(e.Doubts, Doubt{Warning: unlike.Warning()})
	}
	if unlike := a.Synced(b); unlike != nil {
		e.Doubts = append(e.Doubts, Doubt{Warning: unlike.Warning()})
	}
	add := func(cell map[string]string, row *analysis.Row) {
		for _, w := range row.Warnings {
			if w.Code != analysis.UnequalDurability && w.Code != analysis.UnequalSyncs {
				e.Doubts = append(e.Doubts, Doubt{coordinates(cell), w})
			}
		}
	}
	add(e.Comparison.A, a)
	add(e.Comparison.B, b)
	for i, row := range []*analysis.Row{a, b} {
		if share := failures(row); share > 0 {
			e.Doubts = append(e.Doubts, Doubt{coordinates([]map[string]string{e.Comparison.A, e.Comparison.B}[i]), failedRequests(share)})
		}
	}
}

// failedRequests says how many requests of a row failed: its figures are of the others.
func failedRequests(share float64) analysis.Warning {
	return analysis.Warning{Warning: assay.Warning{Code: "failed-requests",
		Evidence: fmt.Sprintf("%.2g %% of the requests failed, and the figures are of the others", 100*share),
		Advice:   "look at the rate, and whether it matters to the claim"}}
}

// String is the doubt in one line.
func (d Doubt) String() string {
	if d.Cell != "" {
		return d.Cell + ": " + d.text()
	}
	return d.text()
}

// text is the doubt without its cell.
func (d Doubt) text() string {
	w := d.Warning
	if w.Code == analysis.UnequalDurability || w.Code == analysis.UnequalSyncs { // the claim chose the two profiles: there is nothing to set
		w.Advice = ""
	}
	return report.WarningLine(w)
}

// kind is a doubt that several figures of a claim have: one with the highest severity stands
// for all. Others of that severity may have larger numbers.
type kind struct {
	worst Doubt
	cells []string // that have it, each once; none where it is about two of them
	alike bool     // all say the same
}

// kinds returns the kinds of a claim's doubts, in the order in which its comparisons have them.
func (f Finding) kinds() []kind {
	var all []kind
	for _, e := range f.Evidence {
		for _, d := range e.Doubts {
			i := slices.IndexFunc(all, func(k kind) bool { return k.holds(d) })
			if i < 0 {
				i, all = len(all), append(all, kind{worst: d, alike: true})
			}
			all[i].add(d)
		}
	}
	return all
}

// digits are a number in a doubt's text, such as 11000, -1.1 and 2e-09, and not part of a name,
// such as P7.
var digits = regexp.MustCompile(`-?\b[0-9][0-9.]*(e[+-]?[0-9]+)?`)

// holds reports whether a doubt is of the kind: it says the same but for its numbers. One about
// two cells is a kind of its own.
func (k kind) holds(d Doubt) bool {
	if d.Cell == "" || k.worst.Cell == "" {
		return d.String() == k.worst.String()
	}
	return digits.ReplaceAllString(d.text(), "") == digits.ReplaceAllString(k.worst.text(), "")
}

func (k *kind) add(d Doubt) {
	k.alike = k.alike && d.text() == k.worst.text()
	if d.Cell != "" && !slices.Contains(k.cells, d.Cell) {
		k.cells = append(k.cells, d.Cell)
	}
	if d.Severity > k.worst.Severity {
		k.worst = d
	}
}

// says is the kind in one line, of a claim with so many figures.
func (k kind) says(figures int) string {
	others := slices.DeleteFunc(slices.Clone(k.cells), func(cell string) bool { return cell == k.worst.Cell })
	switch {
	case len(others) == 0:
		return k.worst.String()
	case len(k.cells) < figures:
		return k.worst.String() + "; likewise: " + strings.Join(others, ", ")
	case k.alike:
		return "all figures: " + k.worst.text()
	}
	return "all figures, such as " + k.worst.String()
}

// figures counts the cells that are compared.
func (f Finding) figures() int {
	var cells []string
	for _, e := range f.Evidence {
		cells = append(cells, coordinates(e.Comparison.A), coordinates(e.Comparison.B))
	}
	slices.Sort(cells)
	return len(slices.Compact(cells))
}

// Codes returns the codes of the doubts, each once.
func (f Finding) Codes() []string {
	var codes []string
	for _, k := range f.kinds() {
		codes = append(codes, k.worst.Code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
