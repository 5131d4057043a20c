package analysis

import (
	"cmp"
	"slices"
	"time"

	"assay"
	"assay/internal/stat"
)

// Rule is the one by which two rows are compared, whichever is the first: with
// the smaller margin and the louder noise.
func (r *Row) Rule(other *Row) stat.Rule {
	return stat.Rule{Margin: min(r.Table.Margin, other.Table.Margin), Noise: max(r.Table.Systematic, other.Table.Systematic), Planned: r.Table.Planned}
}

// Basis is what the launches of two rows that are compared have in common.
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
// launches are found to depend on time. It fails where a figure is not above zero.
func (r *Row) Against(other *Row, metric assay.Metric) (Comparison, Basis, error) {
	if r.Table == other.Table && metric.Name == r.Table.Primary.Name {
		if c, ok := r.Table.contest.figures(r, other); ok && c.Reason != Unpaired && c.Ratio.N >= stat.MinPairs {
			return c, Joint, nil
		}
	}
	x, _, _ := pair(r, r, metric.Name) // joins launches of one layout
	y, _, _ := pair(other, other, metric.Name)
	sameRun := r.Table.run == other.Table.run
	if sameRun {
		if p := r.pairs(other, metric.Name); p.N > 0 && p.N >= min(stat.MinPairs, len(x), len(y)) {
			return Comparison{Comparison: r.Rule(other).JudgeOne(p, r.borrows(other, metric, p), metric.HigherBetter)}, Joint, nil
		}
	}
	rule := r.Rule(other)
	rule.Planned = 0
	if r.added() || other.added() {
		rule.Planned = 1 // both allow for it
	}
	rule.Looks = r.Looks(other)
	dependence := stat.Dependent(x, y)
	if sameRun && dependence.Found() {
		if c, ok := rule.CompareInTurn(inTurn(r, other, metric)); ok {
			return Comparison{Comparison: c}, InTurn, nil
		}
	}
	if sameRun {
		// The first ones of both are of one time, the others of a group that got more are later.
		n := min(len(x), len(y))
		x, y = x[:n], y[:n]
	}
	c, err := rule.CompareUnpaired(x, y, metric.HigherBetter)
	if err != nil {
		return Comparison{}, Apart, err
	}
	return Comparison{Comparison: c.Allowing(dependence, metric.HigherBetter)}, Apart, nil
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

// borrows is what a comparison of two rows by their tables' primary metric borrows
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
	ours, theirs, both := r.runs(), other.runs(), 0
	for run := range ours {
		if theirs[run] {
			both++
		}
	}
	return cmp.Or(both, max(len(ours), len(theirs)))
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

// runs are those that the row's launches are of.
func (r *Row) runs() map[string]bool {
	runs := map[string]bool{}
	for _, t := range r.Counted() {
		runs[t.Run] = true
	}
	return runs
}
