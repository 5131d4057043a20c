//go:build unix

package runner

import (
	"slices"

	"assay"
	"assay/internal/stat"
)

// need is what a group's confidence intervals need to reach the target half-width.
type need struct {
	further  []int // launches, of each interval
	launches int   // that are aimed at, together; zero while unknown
}

// wide counts the intervals that are too wide.
func (n need) wide() int {
	wide := 0
	for _, further := range n.further {
		wide += min(1, further)
	}
	return wide
}

// enough is the number of launches at which every confidence interval of the group
// would reach the target half-width: as many as it has where that is so.
func (g *group) enough() int { return g.launches.counted() + slices.Max(append(g.need.further, 0)) }

// assess finds out how many more launches each group needs until every confidence
// interval that was asked for reaches the target half-width, from their width alone.
func (r *Runner) assess() {
	for _, g := range r.groups {
		g.need.further = nil
	}
	rule := stat.Rule{Margin: r.config.Precision, Planned: r.config.Launches}
	tables, launched := map[assay.Mode][]stat.Table{}, map[assay.Mode][][]*group{}
	for _, g := range slices.Concat(r.groups, r.totals.update()) {
		mode := g.mode()
		for _, peer := range g.operations() {
			table, alone := g.table(peer, r.baseline)
			groups := g.launchedFor(peer)
			tables[mode], launched[mode] = append(tables[mode], table), append(launched[mode], groups)
			for _, figures := range alone {
				addNeed(groups, rule.FurtherAlone(figures, r.config.Precision))
			}
		}
	}
	for mode, groups := range launched {
		for i, further := range rule.Further(tables[mode], stat.Width{Half: r.config.Precision, Exact: r.config.Exact}) {
			addNeed(groups[i], further...)
		}
	}
}

// launchedFor are the groups that get more launches where an interval of an operation is
// too wide: its own; of a sum, those of its operations; none where it is measured for a
// sum alone.
func (g *group) launchedFor(peer string) []*group {
	switch {
	case len(g.parts) > 0:
		return g.parts
	case g.forSum(peer):
		return nil
	}
	return []*group{g}
}

// addNeed gives each group the launches that intervals need.
func addNeed(groups []*group, further ...int) {
	for _, g := range groups {
		g.need.further = append(g.need.further, further...)
	}
}

// table is what an operation has measured: its cells' figures in the launches that
// they share, compared with their baselines; cells whose settings did not apply or
// whose requests failed are not in it. Alone are the figures of cells that have no
// baseline, because it failed or was not selected; a baseline's own figures decide
// only where nothing is compared with it. Twins are compared with nothing, but tell how
// much figures spread, here as in a report.
func (g *group) table(peer string, baseline assay.Baseline) (table stat.Table, alone [][]float64) {
	var jobs []*job
	for _, m := range g.members {
		if j := m.job(peer); j != nil && !m.twin && !g.record.unlike[j.Cell.Key()] {
			jobs = append(jobs, j)
		}
	}
	var baselines [][]float64
	var unequal []int // whose promises are not their baseline's: they get no verdict against it
	metric := g.primary(jobs)
	for i, j := range jobs {
		var pairs []stat.Pairs
		for _, other := range jobs[:i] {
			pairs = append(pairs, g.record.pairs(j.Cell.Key(), other.Cell.Key(), metric))
		}
		table.Pairs = append(table.Pairs, pairs)
		own := g.record.figures(j.Cell.Key(), metric)
		switch base := g.compared(j, baseline); {
		case len(own) == 0 && g.launches.counted() >= stat.MinPairs: // nor would it have a figure after more
		case base == nil || g.record.unlike[base.Cell.Key()]:
			alone = append(alone, own)
		case base == j:
			baselines = append(baselines, own)
		case j.Cell.Without == "" && g.record.unequal(j.Cell, base.Cell):
			unequal = append(unequal, i)
		case g.launches.counted() >= stat.MinPairs && g.record.pairs(j.Cell.Key(), base.Cell.Key(), metric).N == 0: // they have no ratio
		default:
			table.Tests = append(table.Tests, stat.Test{A: i, B: slices.Index(jobs, base), Baseline: true})
		}
	}
	if len(table.Tests) == 0 {
		table.Tests = g.amongThemselves(jobs, unequal)
	}
	if len(table.Tests)+len(alone) == 0 {
		alone = baselines
	}
	table.Pairs = append(table.Pairs, g.twinPairs(peer, jobs, metric)...)
	return table, alone
}

// amongThemselves compares each of some jobs with the first before it that promises alike.
func (g *group) amongThemselves(jobs []*job, some []int) (tests []stat.Test) {
	for k, i := range some {
		for _, first := range some[:k] {
			if !g.record.unequal(jobs[i].Cell, jobs[first].Cell) {
				tests = append(tests, stat.Test{A: i, B: first, Baseline: true})
				break
			}
		}
	}
	return tests
}

// primary is what the report will compare the cells of an operation by, as far as
// they are measured.
func (g *group) primary(jobs []*job) string {
	var cells [][]*assay.Trial
	for _, j := range jobs {
		cells = append(cells, g.record.trials(j.Cell.Key()))
	}
	if len(jobs) == 0 {
		return assay.NsPerOp
	}
	return assay.Primary(jobs[0].Cell, cells)
}

// twinPairs compares each twin with all jobs, and with the twins before it.
func (g *group) twinPairs(peer string, jobs []*job, metric string) (rows [][]stat.Pairs) {
	var keys []string
	for _, j := range jobs {
		keys = append(keys, j.Cell.Key())
	}
	for _, m := range g.members {
		j := m.job(peer)
		if j == nil || !m.twin || g.record.unlike[j.Cell.Key()] {
			continue
		}
		key := figuresKey(j.Cell, true)
		var pairs []stat.Pairs
		for _, other := range keys {
			pairs = append(pairs, g.record.pairs(key, other, metric))
		}
		rows, keys = append(rows, pairs), append(keys, key)
	}
	return rows
}
