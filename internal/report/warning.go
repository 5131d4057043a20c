package report

import (
	"fmt"
	"strconv"

	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/stat"
)

// WarningLine is a warning in one line: what was found, how often, and what to do.
func WarningLine(w analysis.Warning) string {
	s := w.Code + ": " + w.Evidence
	if w.Of > 0 {
		s += fmt.Sprintf(" (in %d of %s)", w.Launches, wording.Plural(w.Of, "launch"))
	}
	if w.Advice != "" {
		s += "; advice: " + w.Advice
	}
	return wording.Clean(s)
}

// Level returns the level of a comparison's interval, such as 95 %.
func Level(c analysis.Comparison) string {
	return strconv.FormatFloat(100*c.Level, 'g', 4, 64) + " %"
}

// span says what a ratio may be by its interval.
func span(c analysis.Comparison) string {
	return "the ratio could be " + wording.Ratio(c.Ratio, "%[2]s or %[3]s") + " (" + Level(c) + " CI)"
}

// Why says why a comparison is undecided; empty where it is not.
func Why(c analysis.Comparison) string {
	rule := c.Rule()
	switch c.Reason {
	case stat.TooFew:
		return fmt.Sprintf("%s of at least %d", wording.Plural(c.Ratio.N, "launch"), stat.MinPairs)
	case stat.TooWide:
		if limit := 1 + rule.Margin; c.Ratio.High > limit || c.Ratio.Low < 1/limit {
			return fmt.Sprintf("%s, and the margin is %s %%", span(c), wording.Digits(100*rule.Margin))
		}
		return fmt.Sprintf("%s, and the baseline differs from itself by %s %% in this table", span(c), wording.Digits(100*rule.Noise))
	case stat.NotClear:
		return fmt.Sprintf("%s, not beyond the %s %% by which the baseline differs from itself in this table", span(c), wording.Digits(100*rule.Noise))
	case stat.TooMany:
		return fmt.Sprintf("adjusted for the %d comparisons of this table, p is %s (Holm), above 0.05", c.Together, wording.Digits(c.Adjusted))
	case stat.OneLayout:
		return fmt.Sprintf("equal within %s %%, but the functions of one of the two drivers lie in one order in all launches: in another they can differ by more", wording.Digits(100*rule.Margin))
	case analysis.Unpaired:
		return "not measured in the same launches"
	case analysis.Unlike:
		return analysis.UnequalDurability + ": " + c.Unlike.Warning().Evidence
	case analysis.NotOK:
		return fmt.Sprintf("%s is %s: %s", c.NotOK.Name(), c.NotOK.Outcome, c.NotOK.Reason)
	}
	return ""
}
