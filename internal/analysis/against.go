package analysis

import (
	"assay"
	"assay/internal/stat"
)

// Rule is the one by which two rows are compared, whichever is the first: with
// the smaller margin and the louder noise.
func (r *Row) Rule(other *Row) stat.Rule {
	return stat.Rule{Margin: min(r.Table.Margin, other.Table.Margin), Noise: max(r.Table.Noise, other.Table.Noise), Least: r.Table.Least}
}

// Against compares a row's figures of a metric with another row's. Rows of one
// run are paired by the launches that both have, where these are enough for a
// verdict, or as many as there are. Otherwise paired is false, and what drifted
// between the launches is in the interval. It fails where a figure is not above
// zero.
func (r *Row) Against(other *Row, metric assay.Metric) (c stat.Comparison, paired bool, err error) {
	rule, sameRun := r.Rule(other), r.Table.run == other.Table.run
	both, partners := pair(r, other, metric.Name)
	x, y := both, partners
	if !sameRun || len(both) < stat.MinLaunches {
		x, _ = pair(r, r, metric.Name) // joins launches of one layout
		y, _ = pair(other, other, metric.Name)
	}
	if sameRun && len(both) > 0 && len(both) >= min(stat.MinLaunches, len(x), len(y)) {
		c, err = r.watched(rule, len(both)).Compare(both, partners, metric.HigherBetter)
		return c, true, err
	}
	if sameRun { // the first ones of both are of one time, the others of a group that got more are later
		n := min(len(x), len(y))
		x, y = x[:n], y[:n]
	}
	rule.Least = 0
	if r.added() || other.added() {
		rule.Least = 1 // both allow for it
	}
	c, err = rule.CompareUnpaired(x, y, metric.HigherBetter)
	return c, false, err
}

// added tells whether the row has more launches than were fixed beforehand.
func (r *Row) added() bool { return r.Table.Least > 0 && len(r.Counted()) > r.Table.Least }

// Unequal says in what two rows that change data promise unlike things about it,
// by the settings that were read back; empty where they do not.
func (r *Row) Unequal(other *Row) string {
	t := r.Table
	if other.Table.Changes {
		t = other.Table
	}
	return t.unequal(r, other)
}
