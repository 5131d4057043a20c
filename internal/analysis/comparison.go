package analysis

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"assay"
	"assay/internal/stat"
)

// Rule returns the rule by which two rows are compared, whichever is the first: with
// the smaller margin and the louder noise.
func (r *Row) Rule(other *Row) stat.Rule {
	return stat.Rule{Margin: min(r.Table.Margin, other.Table.Margin), Noise: max(r.Table.Systematic, other.Table.Systematic), Planned: r.Table.Planned}
}

// Basis says what the launches of two rows that are compared have in common.
type Basis int

// The bases, weakest first.
const (
	Apart  Basis = iota // nothing: what changed between the launches is in the interval
	InTurn              // launches of one run that followed each other, one of each
	Joint               // both rows were measured in the same launches
)

// Against compares a row's figures of a metric with another row's. What the
// table says of the two, it says here. Other rows of one run are paired by the
// launches that both have, where these are enough for a verdict, or as many as
// there are. Rows of other launches are paired by those that were made in turn, where
// launches are found to depend on time. Of rows of pooled runs, the launches of runs that
// have both count. It fails where a figure is not above zero.
func (r *Row) Against(other *Row, metric assay.Metric) (Comparison, Basis, error) {
	return r.AgainstAfter(0, other, metric)
}

// AgainstAfter compares as Against does, after so many earlier looks, each at launches that
// the rows do not have.
func (r *Row) AgainstAfter(looks int, other *Row, metric assay.Metric) (Comparison, Basis, error) {
	c, basis, err := r.againstAfter(looks, other, metric)
	return c.ofLayouts(r, other), basis, err
}

func (r *Row) againstAfter(looks int, other *Row, metric assay.Metric) (Comparison, Basis, error) {
	if r.Table == other.Table && metric.Name == r.Table.Primary.Name {
		if c, ok := r.Table.contest.figures(r, other); ok && c.Reason != Unpaired && c.Ratio.N >= stat.MinPairs {
			c.Comparison = c.After(looks)
			return c, Joint, nil
		}
	}
	r, other = r.Shared(other)
	x, _, _ := pair(r, r, metric.Name) // joins launches of one layout
	y, _, _ := pair(other, other, metric.Name)
	sameRun := r.Table.run == other.Table.run
	if sameRun {
		if p := r.pairs(other, metric.Name); p.N > 0 && p.N >= min(stat.MinPairs, len(x), len(y)) {
			p.Looks += looks
			return Comparison{Comparison: r.Rule(other).JudgeOne(p, r.borrows(other, metric, p), metric.HigherBetter)}, Joint, nil
		}
	}
	rule := r.Rule(other)
	rule.Planned = 0
	if r.added() || other.added() {
		rule.Planned = 1 // both allow for it
	}
	rule.Looks = r.Looks(other) + looks
	dependence := stat.Dependent(x, y)
	if sameRun && dependence.Found() {
		if c, ok := rule.CompareInTurn(inTurn(r, other, metric)); ok {
			return Comparison{Comparison: c}, InTurn, nil
		}
	}
	if sameRun {
		first, second := r.level(other, metric.Name)
		x, _, _ = pair(first, first, metric.Name)
		y, _, _ = pair(second, second, metric.Name)
	}
	c, err := rule.CompareUnpaired(x, y, metric.HigherBetter)
	if err != nil {
		return Comparison{}, Apart, err
	}
	return Comparison{Comparison: c.Allowing(dependence, metric.HigherBetter)}, Apart, nil
}

// Shared are two rows with the launches of the runs that have both: what one has of another
// run is of another time. Rows of two results, or without a common run, are as they were.
func (r *Row) Shared(other *Row) (*Row, *Row) {
	if r.Table.run != other.Table.run {
		return r, other
	}
	common := r.common(other)
	if len(common) == 0 {
		return r, other
	}
	shared := func(t *Trial) bool { return common[t.Run] }
	return r.only(shared), other.only(shared)
}

// InRunOf reports whether some run has launches of both rows.
func (r *Row) InRunOf(other *Row) bool { return len(r.common(other)) > 0 }

// common are the runs that have launches of both rows.
func (r *Row) common(other *Row) map[string]bool {
	both, theirs := r.runs(), other.runs()
	maps.DeleteFunc(both, func(run string, _ bool) bool { return !theirs[run] })
	return both
}

// only is the row with some of its launches.
func (r *Row) only(keep func(*Trial) bool) *Row {
	some := *r
	some.Trials = slices.DeleteFunc(slices.Clone(r.Trials), func(t Trial) bool { return !keep(&t) })
	return &some
}

// level are two rows with the first launches of each run, as many as both have: they are of
// one time, and those of a group that got more are later. Without a common run, all are as if
// of one.
func (r *Row) level(other *Row, metric string) (*Row, *Row) {
	run := func(t *Trial) string { return t.Run }
	if len(r.common(other)) == 0 {
		run = func(*Trial) string { return "" }
	}
	ours, theirs := perRun(r, metric, run), perRun(other, metric, run)
	first := func(row *Row) *Row {
		kept, counted := map[launch]bool{}, map[string]int{}
		for _, t := range Paired(row, metric) {
			if counted[run(t)]++; counted[run(t)] <= min(ours[run(t)], theirs[run(t)]) {
				kept[t.launch()] = true
			}
		}
		return row.only(func(t *Trial) bool { return kept[t.launch()] })
	}
	return first(r), first(other)
}

// perRun counts the launches of a row that can be compared, by run.
func perRun(row *Row, metric string, run func(*Trial) string) map[string]int {
	n := map[string]int{}
	for _, t := range Paired(row, metric) {
		n[run(t)]++
	}
	return n
}

// inTurn are the figures of two rows' launches that followed each other in a run, one of
// each, and no launch twice. Launches of several link layouts are left out: those of one
// layout would have to follow each other.
func inTurn(row, other *Row, metric assay.Metric) (figures, partners []float64, higherBetter bool) {
	type made struct {
		*Trial
		row *Row
	}
	var all []made
	for _, r := range []*Row{row, other} {
		for _, t := range Paired(r, metric.Name) {
			if t.Layout == 0 {
				all = append(all, made{t, r})
			}
		}
	}
	// Where times are unknown, the rows stay apart.
	slices.SortStableFunc(all, func(a, b made) int { return a.Started.Compare(b.Started) })
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if a.row == b.row || a.Run != b.Run {
			continue
		}
		if a.row == other {
			a, b = b, a
		}
		figures, partners = append(figures, a.Figures.Value(metric.Name)), append(partners, b.Figures.Value(metric.Name))
		i++
	}
	return figures, partners, metric.HigherBetter
}

// borrows returns what a comparison of two rows by their tables' primary metric borrows
// about its variance.
func (r *Row) borrows(other *Row, metric assay.Metric, p stat.Pairs) stat.Prior {
	if metric.Name != r.Table.Primary.Name || metric.Name != other.Table.Primary.Name || r.mode() != other.mode() {
		return stat.Prior{}
	}
	return r.Table.contest.judged.Prior(p)
}

// added reports whether the row has more launches than were fixed beforehand.
func (r *Row) added() bool { return r.Table.Planned > 0 && len(r.Counted()) > r.Table.Planned }

// Looks is in how many runs the two were measured, each of which was made because
// those before it left something undecided: in the runs that have both, or, where
// there is none, in those that have the one that was measured more often.
func (r *Row) Looks(other *Row) int {
	return cmp.Or(len(r.common(other)), max(len(r.runs()), len(other.runs())))
}

// SameTime reports whether the launches of two rows are of the same time: what both span
// together is at most twice what each does. What drifts within them says little about
// another time.
func (r *Row) SameTime(other *Row) bool {
	from, to := r.span()
	otherFrom, otherTo := other.span()
	shorter := min(to.Sub(from), otherTo.Sub(otherFrom))
	first, last := slices.MinFunc([]time.Time{from, otherFrom}, time.Time.Compare), slices.MaxFunc([]time.Time{to, otherTo}, time.Time.Compare)
	return last.Sub(first) <= 2*shorter
}

// span is from the start of the row's first launch to that of its last; zero without any.
func (r *Row) span() (from, to time.Time) {
	for i, t := range r.Counted() {
		if i == 0 || t.Started.Before(from) {
			from = t.Started
		}
		if i == 0 || t.Started.After(to) {
			to = t.Started
		}
	}
	return from, to
}

// runs returns the runs that the row's launches are of.
func (r *Row) runs() map[string]bool {
	runs := map[string]bool{}
	for _, t := range r.Counted() {
		runs[t.Run] = true
	}
	return runs
}

// Change says what another value of a coordinate does to one target with one profile.
type Change struct {
	Row, Base *Row
	Comparison
}

// Changes compares a figure of rows that differ in one coordinate, which a function takes
// away, each with the row of the first value.
func (r *Result) Changes(metricName string, clear func(*assay.Cell)) []Change {
	metric, _ := assay.MetricByName(metricName)
	bases := map[string]*Row{}
	var all []Change
	for row := range r.Rows() {
		if _, has := row.Figure(metric.Name); !has || !row.Comparable() {
			continue
		}
		alike := row.Cell
		clear(&alike)
		base := bases[alike.Key()]
		if base == nil {
			bases[alike.Key()] = row
			continue
		}
		if c, _, err := row.Against(base, metric); err == nil {
			all = append(all, Change{row, base, c})
		}
	}
	return all
}

// Comparison is a comparison of two rows.
type Comparison struct {
	stat.Comparison
	Unlike *UnlikePromises // of Reason Unlike
	NotOK  *Row            // of Reason NotOK: the row
}

// Reasons that lie in what was measured, not in the figures.
const (
	Unlike   stat.Reason = UnequalDurability
	Unpaired stat.Reason = "unpaired" // not measured in the same launches
	NotOK    stat.Reason = "not ok"
)

func undecided(reason stat.Reason) Comparison {
	return Comparison{Comparison: stat.Comparison{Verdict: stat.Undecided, Reason: reason}}
}

// unlike takes the verdict from a comparison of rows that promise unlike things
// about the data; its interval stays.
func (c Comparison) unlike(how *UnlikePromises) Comparison {
	ratio := c.Ratio
	c = undecided(Unlike)
	c.Ratio, c.Unlike = ratio, how
	return c
}

// Swapped compares the other way round.
func (c Comparison) Swapped() Comparison {
	c.Comparison = c.Comparison.Swapped()
	return c
}
