package report

import (
	"fmt"
	"slices"
	"strings"

	"assay"
	"assay/internal/stat"
)

// Best returns the cell of the driver and profile that the run suggests, of
// the strongest class of durability that has a suggestion with typed settings;
// false where none is ahead.
func (r *Report) Best() (assay.Cell, bool) {
	for _, s := range r.Suggestions {
		for _, c := range s.Connections {
			if c.cell.Profile != "" && slices.ContainsFunc(c.Settings, func(s assay.Setting) bool { return s.Issued != "" }) {
				return c.cell, true
			}
		}
	}
	return assay.Cell{}, false
}

// compareFactors compares each target that lacks a setting with the same
// target that has it, in the launches that had both.
func (t *Table) compareFactors(rule stat.Rule) {
	for _, row := range t.Factors {
		whole := row.Cell
		whole.Without = ""
		i := slices.IndexFunc(t.bases, func(r *Row) bool { return r.Cell.Key() == whole.Key() })
		if i >= 0 {
			row.Reference = t.bases[i]
			t.compareWithReference(row, rule)
		}
	}
}

// effect says in words what leaving a setting out did.
func (t *Table) effect(row *Row) string {
	f, has := row.Figure(t.Primary.Name)
	if !has || f.Comparison == nil {
		why := string(row.Outcome)
		if row.Reason != "" {
			why += ": " + row.Reason
		}
		return "not measured (" + clean(why) + ")"
	}
	c := *f.Comparison
	with := c.Ratio
	if t.Primary.HigherBetter { // without / with; below 1 the setting helps
		with = stat.Interval{N: with.N, Center: 1 / with.Center, Low: 1 / with.High, High: 1 / with.Low}
	}
	switch c.Verdict {
	case stat.Slower:
		return ratioFormat(with, "%sx [%s, %s] faster with it")
	case stat.Faster:
		against := stat.Interval{N: with.N, Center: 1 / with.Center, Low: 1 / with.High, High: 1 / with.Low}
		return ratioFormat(against, "%sx [%s, %s] slower with it")
	case stat.Equivalent:
		return ratioFormat(with, "makes no difference (%s [%s, %s])")
	}
	return ratioFormat(with, "undecided (%s [%s, %s])") + ": " + c.Reason
}

// addFactors shows which settings made the difference.
func (r *Report) addFactors(d *document) {
	any := slices.ContainsFunc(r.Tables, func(t *Table) bool { return len(t.Factors) > 0 })
	if !any {
		return
	}
	d.add(heading, "Which settings made the difference")
	d.add(paragraph, "Each setting was left out alone, the others kept, in the same launches as the whole profile. "+
		"What a setting costs or gives in durability is not in these ratios: see the durability beside them.")
	for _, t := range r.Tables {
		if len(t.Factors) == 0 {
			continue
		}
		d.add(subheading, "%s, %s", t.Title, t.Factors[0].Name())
		g := &grid{header: []string{"setting", "value", "effect on " + t.Primary.Name, "durability without it", "n"}, right: []bool{false, false, false, false, true}}
		rows := slices.Clone(t.Factors)
		slices.SortFunc(rows, func(a, b *Row) int { return strings.Compare(a.Cell.Without, b.Cell.Without) })
		for _, row := range rows {
			f, _ := row.Figure(t.Primary.Name)
			lasting := "-"
			if t.Changes {
				lasting = durabilityCell(row)
			}
			g.rows = append(g.rows, []string{row.Cell.Without, clean(requested(row)), t.effect(row), lasting, fmt.Sprint(f.Interval.N)})
		}
		*d = append(*d, block{kind: table, grid: g})
	}
}

// requested is what the whole profile asks for the setting that is left out.
func requested(row *Row) string {
	if row.Reference != nil {
		for _, s := range row.Reference.Settings {
			if s.Name == row.Cell.Without && s.Requested != "" {
				return s.Requested
			}
		}
	}
	return "-"
}
