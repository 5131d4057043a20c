package analysis

import (
	"fmt"

	"assay/internal/stat"
	"assay/internal/wording"
)

// Comparison is a comparison of two rows.
type Comparison struct {
	stat.Comparison
	Detail string // facts that belong to the reason, such as settings that differ
}

// Reasons that lie in what was measured, not in the figures.
const (
	Unlike   stat.Reason = UnequalDurability
	Unpaired stat.Reason = "unpaired" // not measured in the same launches
	NotOK    stat.Reason = "not ok"
	NoRatio  stat.Reason = "no ratio" // a figure that is not above zero
)

// undecided is a comparison without a verdict.
func undecided(reason stat.Reason, detail string) Comparison {
	return Comparison{stat.Comparison{Verdict: stat.Undecided, Reason: reason}, detail}
}

// without takes the verdict from a comparison; its interval stays.
func (c Comparison) without(reason stat.Reason, detail string) Comparison {
	ratio := c.Ratio
	c = undecided(reason, detail)
	c.Ratio = ratio
	return c
}

// Swapped compares the other way round.
func (c Comparison) Swapped() Comparison {
	c.Comparison = c.Comparison.Swapped()
	return c
}

// Why says why a comparison is undecided; empty where it is not.
func (c Comparison) Why() string {
	rule := c.Rule()
	switch c.Reason {
	case "":
		return ""
	case stat.TooFew:
		return fmt.Sprintf("%s of at least %d", wording.Plural(c.Ratio.N, "launch"), stat.MinPairs)
	case stat.TooWide:
		return fmt.Sprintf("the 95 %% CI of the ratio, %s, includes 1 and reaches beyond the margin of %s %%",
			wording.Ratio(c.Ratio, "%[2]s to %[3]s"), wording.Digits(100*rule.Margin))
	case stat.NotClear:
		return fmt.Sprintf("the 95 %% CI of the ratio, %s, does not lie beyond the %s %% by which the A/A test of this table differs",
			wording.Ratio(c.Ratio, "%[2]s to %[3]s"), wording.Digits(100*rule.Noise))
	case stat.TooMany:
		return fmt.Sprintf("adjusted for the %d comparisons of this table, p is %s (Holm), above 0.05", c.Together, wording.Digits(c.Adjusted))
	case Unpaired:
		return "not measured in the same launches"
	case Unlike:
		return UnequalDurability + ": " + c.Detail
	}
	return c.Detail
}
