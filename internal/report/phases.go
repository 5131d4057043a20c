package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
)

// addPhases shows where the time goes.
func addPhases(t *analysis.Table, d *doc.Document) {
	if !t.HasPhases() {
		return
	}
	g := &doc.Grid{Header: []string{"phases: driver", "profile"}, Right: []bool{false, false}}
	used := t.Have(assay.PhaseMetrics)
	for _, name := range used {
		g.Header, g.Right = append(g.Header, strings.TrimSuffix(name, assay.PhaseSuffix)), append(g.Right, true)
	}
	g.Header, g.Right = append(g.Header, "sum", "of which clock", t.Primary.Name+" without"), append(g.Right, true, true, true)
	for _, row := range t.Rows {
		if phases := row.Phases(); len(phases) > 0 {
			g.Rows = append(g.Rows, phaseCells(row, phases, used, t.Primary))
		}
	}
	*d = append(*d, doc.Block{Kind: doc.Table, Grid: g})
	addBars(t, d)
	d.Add(doc.Footnote, "assay times phases in separate windows, and they include the cost of reading the clock between them; "+
		"the last column excludes it. A phase that a driver's API does not separate is absent (-), not zero.")
}

func phaseCells(row *analysis.Row, phases []analysis.Phase, used []string, primary assay.Metric) []string {
	cells := []string{row.Driver, wording.Clean(row.Cell.Profile)}
	sum := 0.0
	for _, name := range used {
		i := slices.IndexFunc(phases, func(p analysis.Phase) bool { return p.Name+assay.PhaseSuffix == name })
		if i < 0 {
			cells = append(cells, "-")
			continue
		}
		p := phases[i]
		sum += p.Figure.Interval.Center
		cells = append(cells, fmt.Sprintf("%s %.0f %%", human(p.Figure.Interval.Center, p.Figure.Metric.Unit), 100*p.Share))
	}
	clock, _ := row.Figure(assay.ClockPerOp)
	whole, _ := row.Figure(primary.Name)
	return append(cells, human(sum, "ns"), human(clock.Interval.Center, "ns"), human(whole.Interval.Center, primary.Unit))
}

// barWidth is how many characters the longest bar of phases has.
const barWidth = 60

// phaseLetters stand for the phases in bars.
var phaseLetters = map[string]string{"prepare": "p", "bind": "b", "query": "q", "next": "n", "scan": "s", "close-rows": "r", "close-stmt": "f"}

// addBars draws the phases of each row one behind the other, all to one scale.
func addBars(t *analysis.Table, d *doc.Document) {
	longest, widest := 0.0, 0
	for _, row := range t.Rows {
		sum := 0.0
		for _, p := range row.Phases() {
			sum += p.Figure.Interval.Center
		}
		longest = max(longest, sum)
		widest = max(widest, len(row.Name()))
	}
	for _, row := range t.Rows {
		if phases := row.Phases(); len(phases) > 0 {
			d.AddLiteral(fmt.Sprintf("%-*s  %s", widest, row.Name(), bar(phases, longest)))
		}
	}
	d.AddLiteral("p prepare, b bind, q query, n next, s scan, r close-rows, f close-stmt")
}

// bar rounds where phases end, not how long they are, so that the bar's length
// is right.
func bar(phases []analysis.Phase, longest float64) string {
	var text strings.Builder
	end := 0.0
	for _, p := range phases {
		end += p.Figure.Interval.Center
		until := int(math.Round(end / longest * barWidth))
		text.WriteString(strings.Repeat(phaseLetters[p.Name], max(0, until-text.Len())))
	}
	return text.String()
}
