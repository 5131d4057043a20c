package analysis

import (
	"assay/internal/stat"
)

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
