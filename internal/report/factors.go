package report

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/stat"
)

// effect says in words what leaving a setting out did.
func effect(t *analysis.Table, row *analysis.Row) string {
	f, has := row.Figure(t.Primary.Name)
	if !has || f.Comparison == nil {
		return "not measured (" + ended(row) + ")"
	}
	c := *f.Comparison
	with := analysis.Cost(c.Ratio, t.Primary) // without / with
	switch c.Verdict {
	case stat.Slower:
		return wording.Ratio(with, "%sx [%s, %s] faster with it")
	case stat.Faster:
		return wording.Ratio(with.Inverse(), "%sx [%s, %s] slower with it")
	case stat.Equivalent:
		return wording.Ratio(with, "no difference (%s [%s, %s])")
	}
	return wording.Ratio(with, "undecided (%s [%s, %s])") + ": " + Why(c)
}

func (r *Report) addFactors(d *doc.Document) {
	any := slices.ContainsFunc(r.Tables, func(t *analysis.Table) bool { return len(t.Factors) > 0 })
	if !any {
		return
	}
	d.Add(doc.Heading, "Which settings made the difference")
	d.Add(doc.Paragraph, "Ablation: assay left out one setting at a time and kept the others, in the same launches as the complete profile. "+
		"These ratios do not show what a setting costs or gives in durability: see the durability beside them.")
	for _, t := range r.Tables {
		if len(t.Factors) == 0 {
			continue
		}
		d.Add(doc.Subheading, "%s, %s", t.Title, t.Factors[0].Name())
		g := &doc.Grid{Header: []string{"setting", "value", "effect on " + t.Primary.Name, "durability without it", "n"}, Right: []bool{false, false, false, false, true}}
		rows := slices.Clone(t.Factors)
		slices.SortFunc(rows, func(a, b *analysis.Row) int { return strings.Compare(a.Cell.Without, b.Cell.Without) })
		for _, row := range rows {
			f, _ := row.Figure(t.Primary.Name)
			lasting := "-"
			if t.Changes {
				lasting = durabilityCell(row)
			}
			g.Rows = append(g.Rows, []string{row.Cell.Without, wording.Clean(analysis.Requested(row)), effect(t, row), lasting, fmt.Sprint(f.Interval.N)})
		}
		*d = append(*d, doc.Block{Kind: doc.Table, Grid: g})
	}
}
