package analysis

import (
	"cmp"
	"slices"

	"assay"
	"assay/internal/stat"
)

// contest is the rows of a table that are compared with each other, by the
// table's primary metric.
type contest struct {
	table  *Table
	rows   []*Row
	index  map[*Row]int
	pairs  stat.Table
	unlike []*UnlikePromises // of each of pairs.Tests; where it is not nil, there is no verdict
	judged stat.Judged
	tests  map[[2]*Row]int // the one of pairs.Tests that two rows have, either way round
}

// verdicts holds the judgements of one table.
type verdicts struct{ rows, factors stat.Judged }

// judge compares the rows of all tables. Those that were measured in the
// same mode borrow from each other about their variance.
func judge(run assay.Run, tables []*Table) []verdicts {
	all := make([]verdicts, len(tables))
	byMode, places := map[assay.Mode][]stat.Table{}, map[assay.Mode][]*stat.Judged{}
	for i, t := range tables {
		for _, one := range []struct {
			*contest
			verdict *stat.Judged
		}{{t.contest, &all[i].rows}, {t.factors, &all[i].factors}} {
			if len(one.rows) > 0 {
				mode := one.rows[0].mode()
				byMode[mode], places[mode] = append(byMode[mode], one.pairs), append(places[mode], one.verdict)
			}
		}
	}
	rule := stat.Rule{Margin: cmp.Or(run.Options.Margin, DefaultMargin), Planned: run.Options.Launches}
	for mode, pairs := range byMode {
		for i, judged := range rule.Judge(pairs) {
			*places[mode][i] = judged
		}
	}
	return all
}

// newContest pairs the rows that have figures.
func newContest(t *Table, rows []*Row) *contest {
	c := &contest{table: t, index: map[*Row]int{}, tests: map[[2]*Row]int{}}
	for _, row := range rows {
		f, ok := row.Figure(t.Primary.Name)
		if !ok || f.Interval.N == 0 || !row.Comparable() {
			continue
		}
		i := len(c.rows)
		pairs := make([]stat.Pairs, i)
		for j, other := range c.rows {
			pairs[j] = row.pairs(other, t.Primary.Name)
		}
		c.index[row] = i
		c.rows, c.pairs.Pairs = append(c.rows, row), append(c.pairs.Pairs, pairs)
	}
	return c
}

// pairs are the launches that both rows have; none where a figure is not above
// zero.
func (r *Row) pairs(other *Row, metric string) stat.Pairs {
	figures, partners, joined := pair(r, other, metric)
	p, err := stat.NewPairs(figures, partners)
	if err != nil {
		return stat.Pairs{}
	}
	// Of launches there may be more than were planned, and of pairs not.
	launches := min(len(r.Counted()), len(other.Counted()))
	p.Joined, p.Added = joined, p.N < launches && r.Table.Planned > 0 && launches > r.Table.Planned
	p.Looks = r.Looks(other)
	p.Kind = stat.CommonKind(assay.Kind(r.Cell, r.Table.Changes), assay.Kind(other.Cell, other.Table.Changes))
	p.Members = [2]string{r.Name(), other.Name()}
	return p
}

// addTable asks for the comparisons of a table: of each row with its baseline,
// of each two that are ranked together, and of twins and floors.
func (c *contest) addTable() {
	for _, row := range c.rows {
		switch ref := row.Reference; {
		case ref == nil || ref == row:
		case row.Twin:
			c.add(row, ref, stat.Test{NoFamily: true})
			c.control(row, ref)
		default:
			c.add(row, ref, stat.Test{Baseline: true})
		}
	}
	for _, ranking := range c.table.Rankings {
		for i, a := range ranking.Rows {
			for _, b := range ranking.Rows[:i] {
				c.add(a, b, stat.Test{})
			}
		}
	}
	for _, row := range c.rows {
		if floor := c.floorOf(row); floor != nil {
			c.add(row, floor, stat.Test{NoFamily: true})
		}
	}
}

// addFactors asks for the comparison of each target that lacks a setting with the
// same target that has it, in the launches that had both.
func (c *contest) addFactors() {
	for _, row := range c.rows {
		if row.Reference != nil {
			c.add(row, row.Reference, stat.Test{Baseline: true})
		}
	}
}

// add asks for one comparison, once. Classes of durability that differ leave it without a
// verdict and outside of the family.
func (c *contest) add(a, b *Row, test stat.Test) {
	i, has := c.index[a]
	j, also := c.index[b]
	if _, asked := c.tests[[2]*Row{a, b}]; asked || !has || !also || a == b {
		return
	}
	unlike, n := a.Unequal(b), len(c.pairs.Tests)
	test.A, test.B, test.HigherBetter = i, j, c.table.Primary.HigherBetter
	test.NoFamily = test.NoFamily || unlike != nil
	c.pairs.Tests, c.unlike = append(c.pairs.Tests, test), append(c.unlike, unlike)
	c.tests[[2]*Row{a, b}], c.tests[[2]*Row{b, a}] = n, n
}

// control makes a twin and its row an A/A test.
func (c *contest) control(twin, row *Row) {
	i, has := c.index[twin]
	if j, also := c.index[row]; has && also {
		c.pairs.Controls = append(c.pairs.Controls, stat.Test{A: i, B: j})
	}
}

// compare is the comparison of two rows, if it was asked for. Promises about the
// data that differ forbid a verdict.
func (c *contest) compare(a, b *Row) (Comparison, bool) {
	all, ok := c.figures(a, b)
	if !ok {
		return all, false
	}
	if unlike := c.unlike[c.tests[[2]*Row{a, b}]]; unlike != nil && all.Reason != Unpaired {
		all = all.unlike(unlike)
	}
	return all, true
}

// figures returns what the figures of two rows say, whatever they promise.
func (c *contest) figures(a, b *Row) (Comparison, bool) {
	i, asked := c.tests[[2]*Row{a, b}]
	if !asked {
		return Comparison{}, false
	}
	all := Comparison{Comparison: c.judged.Comparisons[i]}
	if all.Ratio.N == 0 {
		all = undecided(Unpaired)
	}
	if c.rows[c.pairs.Tests[i].A] != a {
		all = all.Swapped()
	}
	return all.ofLayouts(a, b), true
}

// floorOf is the first floor with a row's profile: that of its engine or, of
// key-value stores, that of all.
func (c *contest) floorOf(row *Row) *Row {
	if row.IsFloor || row.Twin {
		return nil
	}
	return first(c.rows, func(floor *Row) bool {
		return floor.IsFloor && !floor.Twin && row.Cell.Profile == floor.Cell.Profile && (row.Cell.Engine == floor.Cell.Engine || floor.generalFloor)
	})
}

func (t *Table) compareWithFloor() {
	for _, row := range t.contest.rows {
		if floor := t.contest.floorOf(row); floor != nil {
			if c, ok := t.contest.compare(row, floor); ok && c.Ratio.N > 0 {
				row.Floor = new(c.Ratio) // alone, not all of the comparison
			}
		}
	}
}

// HasFloor reports whether some row was held against a floor.
func (t *Table) HasFloor() bool {
	return slices.ContainsFunc(t.Rows, func(row *Row) bool { return row.Floor != nil })
}
