package report

import (
	"fmt"

	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/stat"
)

// VersusDocument is the comparison, in words.
func VersusDocument(v *analysis.Versus) doc.Document {
	var d doc.Document
	d.Add(doc.Subheading, "%s against %s", v.A.Name, v.B.Name)
	addRunDifference(&d, v.Runs)
	counts := map[stat.Verdict]int{}
	g := &doc.Grid{Header: []string{"operation", "cells", "A", "B", "A / B", "n", "verdict"}, Right: []bool{2: true, 3: true, 4: true, 5: true, 6: false}}
	for _, l := range v.Lines {
		counts[l.Comparison.Verdict]++
		g.Rows = append(g.Rows, lineCells(l))
	}
	d.Add(doc.Paragraph, "%s is faster in %d, slower in %d, equivalent in %d, undecided in %d of %s.", v.A.Name, counts[stat.Faster],
		counts[stat.Slower], counts[stat.Equivalent], counts[stat.Undecided], wording.Plural(len(v.Lines), "comparison"))
	d = append(d, doc.Block{Kind: doc.Table, Grid: g})
	addAlone(&d, v.A.Name, v.OnlyA)
	addAlone(&d, v.B.Name, v.OnlyB)
	return d
}

// addRunDifference says what else differs between two runs; nothing of one run.
func addRunDifference(d *doc.Document, runs *analysis.RunDifference) {
	if runs == nil {
		return
	}
	d.Add(doc.Item, "two runs: launches are not paired, and what changed between %s and %s is in every ratio, noise or not",
		runs.Started[0].Format("2006-01-02 15:04"), runs.Started[1].Format("2006-01-02 15:04"))
	for _, fact := range runs.Host {
		d.Add(doc.Item, "%s: %s against %s", fact.Name, fact.Values[0], fact.Values[1])
	}
	if runs.Plan {
		d.Add(doc.Item, "the text of the plan is not the same")
	}
}

func addAlone(d *doc.Document, name string, cells []string) {
	if len(cells) == 0 {
		return
	}
	d.Add(doc.Paragraph, "Only %s has these %s, which are not compared:", name, wording.Plural(len(cells), "cell"))
	for _, cell := range cells {
		d.Add(doc.Item, "%s", cell)
	}
}

func lineCells(l analysis.VersusLine) []string {
	figures := [2]string{"-", "-"}
	for i, row := range []*analysis.Row{l.A, l.B} {
		if f, ok := row.Figure(l.Metric.Name); ok && f.Interval.N > 0 {
			figures[i] = wording.Human(f.Interval.Center, l.Metric.Unit)
		}
	}
	c := l.Comparison
	ratio, n := "-", "-"
	if c.Ratio.N > 0 {
		ratio, n = ratioText(c.Ratio), fmt.Sprint(c.Ratio.N)
		n += map[analysis.Basis]string{analysis.Apart: " unpaired", analysis.InTurn: " in turn"}[l.Basis]
	}
	verdict := string(c.Verdict)
	if c.Reason != "" {
		verdict += ": " + Why(c)
	}
	if syncs := l.A.Synced(l.B); syncs != nil {
		verdict += "; " + WarningLine(syncs.Warning())
	}
	return []string{wording.Clean(l.Title), wording.Clean(l.Cell), figures[0], figures[1], ratio, n, wording.Clean(verdict)}
}
