//go:build unix

package runner

import (
	"math"
	"slices"
	"time"

	"assay"
	"assay/internal/stat"
)

// need holds what a group's confidence intervals need to reach the target half-width.
type need struct {
	further  []int           // launches, of each interval
	launches int             // that the group is to have, as far as is known
	open     map[string]bool // operations with such an interval, or of which a sum has one
}

// wide counts the intervals that are too wide.
func (n *need) wide() int {
	wide := 0
	for _, further := range n.further {
		wide += min(1, further)
	}
	return wide
}

// most returns the largest number of further launches that any interval needs.
func (n *need) most() int { return slices.Max(append(n.further, 0)) }

// assess finds out how many more launches each group needs until every confidence
// interval that was asked for reaches the target half-width, from their width alone.
func (r *Runner) assess() {
	for _, g := range r.groups {
		g.need.further, g.need.open, g.apart = nil, map[string]bool{}, map[string]bool{}
	}
	rule := stat.Rule{Margin: r.config.Precision, Planned: r.config.Launches}
	all, tables := map[assay.Mode][]comparisons{}, map[assay.Mode][]stat.Table{}
	for _, g := range slices.Concat(r.groups, r.totals.update()) {
		mode := g.mode()
		for _, peer := range g.operations() {
			c := g.comparisons(peer, r.baseline)
			all[mode], tables[mode] = append(all[mode], c), append(tables[mode], c.table)
		}
	}
	for mode, compared := range all {
		further := rule.LaunchesToWidth(tables[mode], stat.Width{Half: r.config.Precision, Exact: r.config.Exact})
		for i, c := range compared {
			for _, figures := range c.uncompared {
				further[i] = append(further[i], rule.LaunchesToWidthUncompared(figures, r.config.Precision))
			}
			c.addNeed(further[i])
			tables[mode][i].Tests = c.rivals
		}
		// Ranking does not need an exact ratio.
		for i, further := range rule.LaunchesToWidth(tables[mode], stat.Width{Half: r.config.Precision}) {
			if !r.totals.terms[compared[i].peer] { // else the sum may need what the operation does not
				compared[i].noteApart(further)
			}
		}
	}
}

// addNeed adds the launches that an operation's intervals need: to its own group; of a sum,
// to those of its operations; to none where it is measured for a sum alone.
func (c *comparisons) addNeed(further []int) {
	g := c.group
	switch {
	case len(g.parts) > 0:
		var peers []string
		for _, term := range g.members[0].first.Operation.Terms {
			peers = append(peers, term.Peer)
		}
		for _, part := range g.parts {
			part.need.add(further, peers...)
		}
	case !g.forSum(c.peer):
		g.need.add(further, c.peer)
	}
}

// add adds what intervals need that are of some operations.
func (n *need) add(further []int, peers ...string) {
	n.further = append(n.further, further...)
	for _, peer := range peers {
		n.open[peer] = n.open[peer] || slices.Max(append(further, 0)) > 0
	}
}

// comparisons holds the comparisons of an operation's cells, as far as they are measured.
type comparisons struct {
	group *group
	peer  string
	jobs  []*job
	// table has the figures of the launches that cells share. Twins are compared with
	// nothing, but tell how much figures spread, here as in a report.
	table stat.Table
	// uncompared has the figures of cells that have no baseline, because it failed or was not
	// selected; a baseline's own figures are among them only where nothing is compared.
	uncompared [][]float64
	// apart are the cells that get no verdict because their promises are not their
	// baseline's, and the baselines with which nothing is compared for that reason; none
	// where nothing else is compared.
	apart []int
	// rivals compare the cells that are apart with those of other profiles that they are
	// ranked with and that are not.
	rivals []stat.Test
}

// comparisons compares an operation's cells with their baselines. Cells whose settings did
// not apply or whose requests failed are not compared.
func (g *group) comparisons(peer string, baseline assay.Baseline) comparisons {
	c := comparisons{group: g, peer: peer}
	for _, m := range g.members {
		if j := m.job(peer); j != nil && !m.twin && !g.record.unlike[j.Cell.Key()] {
			c.jobs = append(c.jobs, j)
		}
	}
	var bases, unequal, theirs []int // theirs are the baselines of the unequal ones
	metric, changes := g.primary(c.jobs), g.record.changes(c.jobs)
	for i, j := range c.jobs {
		var pairs []stat.Pairs
		for _, other := range c.jobs[:i] {
			pairs = append(pairs, g.record.pairs(j.Cell.Key(), other.Cell.Key(), metric, changes))
		}
		c.table.Pairs = append(c.table.Pairs, pairs)
		own := g.record.figures(j.Cell.Key(), metric)
		switch base := g.compared(j, baseline); {
		case len(own) == 0 && g.launches.counted() >= stat.MinPairs: // nor would it have a figure after more
		case base == nil || g.record.unlike[base.Cell.Key()]:
			c.uncompared = append(c.uncompared, own)
		case base == j:
			bases = append(bases, i)
		case g.record.unequal(j.Cell, base.Cell):
			unequal, theirs = append(unequal, i), append(theirs, slices.Index(c.jobs, base))
		case g.launches.counted() >= stat.MinPairs && g.record.pairs(j.Cell.Key(), base.Cell.Key(), metric, changes).N == 0: // they have no ratio
		default:
			c.table.Tests = append(c.table.Tests, stat.Test{A: i, B: slices.Index(c.jobs, base), Baseline: true})
		}
	}
	if len(c.table.Tests) == 0 {
		c.table.Tests = g.amongThemselves(c.jobs, unequal)
	}
	if len(c.table.Tests)+len(c.uncompared) == 0 {
		for _, i := range bases {
			c.uncompared = append(c.uncompared, g.record.figures(c.jobs[i].Cell.Key(), metric))
		}
	}
	if len(c.table.Tests) > 0 {
		c.findApart(slices.Concat(unequal, slices.Compact(slices.Sorted(slices.Values(theirs)))))
	}
	c.table.Pairs = append(c.table.Pairs, g.twinPairs(peer, c.jobs, metric, changes)...)
	return c
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

// primary returns what the report will compare the cells of an operation by, as far as
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
func (g *group) twinPairs(peer string, jobs []*job, metric string, changes bool) (rows [][]stat.Pairs) {
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
			pairs = append(pairs, g.record.pairs(key, other, metric, changes))
		}
		rows, keys = append(rows, pairs), append(keys, key)
	}
	return rows
}

// maxWindows bounds how many windows an operation gets in a launch.
const maxWindows = 6 * windowsPerLaunch

// effort holds what the windows of an operation took so far, on all instances.
type effort struct {
	launches int
	rounds   int // windows of each instance
	took     time.Duration
}

// round returns what one window on each instance takes.
func (e effort) round() time.Duration { return e.took / time.Duration(max(1, e.rounds)) }

// windowUse holds what the windows of a group's operations used so far.
type windowUse struct {
	efforts   map[string]effort // by operation
	sequences map[string]int64  // how far they have used up the arguments, by operation
}

func (u *windowUse) add(peer string, rounds int, took time.Duration) {
	e := u.efforts[peer]
	u.efforts[peer] = effort{e.launches + 1, e.rounds + rounds, e.took + took}
}

// windowCount returns how many windows of a length an operation gets in a launch: a
// fixed number in the launches that every cell gets, and then the number that
// gives the narrowest interval for the time, by what windows and launches have
// varied and cost. Only spreads have a say in it, never the ratios themselves. It is
// never fewer than that fixed number: what disturbs a machine lasts longer than a window,
// so that launches with few windows differ more than the estimate knows.
func (r *Runner) windowCount(g *group, peer string, w window) int {
	e, v := g.windows.efforts[peer], g.variances(peer, r.baseline)
	if g.launches.counted() < r.config.Launches || e.rounds == 0 || math.IsNaN(v.Windows) {
		return w.count(r.first.scarce && g.launches.finished == 0)
	}
	return max(w.count(false), stat.Repetitions(v.Windows, v.Launches, float64(e.round()), float64(g.overhead()), maxWindows))
}

// window is a window of an operation on the slowest of its instances.
type window struct {
	length time.Duration // about
	units  int64         // operations or transactions; 0: as many as fit into it
}

// minCounted is how many operations a window has at least that counts them: more than
// three times as many as a short call, or the two would not show a slow clock.
const minCounted = 4

// windowOf is the window of a case whose operations take so long each. One client
// that does few operations in a window counts them, and does as many on each slow
// instance, so that instances alternate after a few operations, and what the machine
// does in between strikes all of them alike.
func windowOf(each time.Duration, c assay.Case) window {
	unit := each * time.Duration(max(1, c.Operation.Transaction))
	switch {
	case minPerWindow*unit <= windowLength:
		return window{length: windowLength}
	case c.Cell.Clients > 1:
		return window{length: minPerWindow * unit}
	}
	units := max(minCounted, windowLength/unit)
	return window{length: units * unit, units: int64(units)}
}

// count returns how many windows a launch has while nothing is known of their spread: one of an
// operation that takes long, whose launches tell more for their time than its windows; a
// fourth where time is scarce, so that every operation has some.
func (w window) count(scarce bool) int {
	count := int(min(windowsPerLaunch, longWindows/w.length))
	if scarce {
		count /= 4
	}
	return max(1, count)
}

// overhead returns each operation's part of what a launch costs outside of its windows: to
// start and warm up the instances, to check answers and to end them.
func (g *group) overhead() time.Duration {
	rest, use := g.launches.cost, g.windows
	for _, e := range use.efforts {
		rest -= e.took / time.Duration(e.launches)
	}
	return max(time.Millisecond, rest/time.Duration(max(1, len(use.efforts))))
}

// variances returns the variances of an operation's ratios to the baseline, the mean over
// its cells.
func (g *group) variances(peer string, baseline assay.Baseline) stat.Variances {
	var all []stat.Variances
	for _, m := range g.members {
		j := m.job(peer)
		if j == nil || m.twin {
			continue
		}
		base := g.compared(j, baseline)
		if base == nil || base.Cell.Key() == j.Cell.Key() {
			continue
		}
		if v, err := stat.EstimateVariances([][][]float64{g.record.windowRatios(j.Cell.Key(), base.Cell.Key())}); err == nil {
			all = append(all, v)
		}
	}
	return meanVariances(all)
}

// meanVariances is NaN where there are none.
func meanVariances(all []stat.Variances) stat.Variances {
	n := float64(len(all))
	if n == 0 {
		return stat.Variances{Windows: math.NaN(), Launches: math.NaN()}
	}
	var sum stat.Variances
	for _, v := range all {
		sum.Windows += v.Windows / n
		sum.Launches += v.Launches / n
	}
	return sum
}
