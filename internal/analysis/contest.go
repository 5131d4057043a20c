package analysis

import (
	"cmp"

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
	// places[i][j], of each j < i, is the test of rows i and j, counted from 1; 0: nobody
	// asked for it.
	places [][]int
}

// verdicts are what is judged of one table.
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
	c := &contest{table: t, index: map[*Row]int{}}
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
		c.rows, c.pairs.Pairs, c.places = append(c.rows, row), append(c.pairs.Pairs, pairs), append(c.places, make([]int, i))
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
			c.add(row, ref, stat.Test{Alone: true})
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
			c.add(row, floor, stat.Test{Alone: true})
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
	place := c.place(a, b)
	if place == nil || *place > 0 {
		return
	}
	unlike := a.Unequal(b)
	test.A, test.B, test.HigherBetter = c.index[a], c.index[b], c.table.Primary.HigherBetter
	test.Alone = test.Alone || unlike != nil
	c.pairs.Tests, c.unlike = append(c.pairs.Tests, test), append(c.unlike, unlike)
	*place = len(c.pairs.Tests)
}

// control makes a twin and its row an A/A test.
func (c *contest) control(twin, row *Row) {
	i, has := c.index[twin]
	if j, also := c.index[row]; has && also {
		c.pairs.Controls = append(c.pairs.Controls, stat.Test{A: i, B: j})
	}
}

// place is that of the test of two rows, whichever way round; nil where they cannot be
// compared.
func (c *contest) place(a, b *Row) *int {
	i, has := c.index[a]
	j, also := c.index[b]
	if !has || !also || i == j {
		return nil
	}
	return &c.places[max(i, j)][min(i, j)]
}

// find is the test of two rows, whichever way round.
func (c *contest) find(a, b *Row) (test int, asked bool) {
	if place := c.place(a, b); place != nil && *place > 0 {
		return *place - 1, true
	}
	return 0, false
}

// compare is the comparison of two rows, if it was asked for. Promises about the
// data that differ forbid a verdict.
func (c *contest) compare(a, b *Row) (Comparison, bool) {
	all, ok := c.figures(a, b)
	if !ok {
		return all, false
	}
	i, _ := c.find(a, b)
	if unlike := c.unlike[i]; unlike != nil && all.Reason != Unpaired {
		all = all.unlike(unlike)
	}
	return all, true
}

// figures is what the figures of two rows say, whatever they promise.
func (c *contest) figures(a, b *Row) (Comparison, bool) {
	i, ok := c.find(a, b)
	if !ok {
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
