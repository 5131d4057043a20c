package report

import (
	"assay"
	"assay/stat"
)

// Rule is the one by which two rows are compared: the first one's, with the
// louder noise of both.
func (r *Row) Rule(other *Row) stat.Rule {
	return stat.Rule{Margin: r.table.Margin, Noise: max(r.table.Noise, other.table.Noise), Least: r.table.least}
}

// Against compares a row's figures of a metric with another row's. Rows of one
// run are paired by the launches that both have, where there are two or more.
// Otherwise paired is false, and what drifted between the launches is in the
// interval. It fails where a figure is not above zero.
func (r *Row) Against(other *Row, metric assay.Metric) (c stat.Comparison, paired bool, err error) {
	x, y := pair(r, other, metric.Name)
	if r.table.run == other.table.run && len(x) > 1 {
		c, err = r.watched(r.Rule(other), len(x)).Compare(x, y, metric.HigherBetter)
		return c, true, err
	}
	x, _ = pair(r, r, metric.Name) // joins launches of one layout
	y, _ = pair(other, other, metric.Name)
	c, err = r.watched(r.Rule(other), len(x)).CompareUnpaired(x, y, metric.HigherBetter)
	return c, false, err
}

// Unequal says in what two rows that change data promise unlike things about it,
// by the settings that were read back; empty where they do not.
func (r *Row) Unequal(other *Row) string { return r.table.unequal(r, other) }
