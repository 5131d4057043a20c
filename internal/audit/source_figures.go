package audit

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"

	"assay"
	"assay/internal/stat"
	"assay/published"
)

// sourceMargin is within which two figures of a source count as equal.
const sourceMargin = 0.02

// addPublished takes what the source printed of a comparison.
func (e *Evidence) addPublished(a, b published.Figure, metric assay.Metric) {
	for i, figure := range []published.Figure{a, b} {
		e.Published[i] = figure.Printed + " " + figure.Unit
	}
	e.Apart = whyIncomparable(a, b)
	if b.Value != 0 {
		e.Claimed = a.Value / b.Value
		e.Against = e.Apart == "" && !agrees(e.Comparison, e.Claimed, metric.HigherBetter || isRate(a.Unit))
	}
}

// rateUnit is how sources write what is done in a second.
var rateUnit = regexp.MustCompile(`(?i)(/ *s(ec(ond)?)?|per second|\b(i?o|q|r|t)ps)$`)

// isRate reports whether more of a unit is better, whatever the metric of a claim is.
func isRate(unit string) bool { return rateUnit.MatchString(strings.TrimSpace(unit)) }

// whyIncomparable says why two figures of a source cannot be compared; empty where they can.
func whyIncomparable(a, b published.Figure) string {
	const format = "its figures are of different %s: %s, and %s"
	switch {
	case a.Unit != b.Unit:
		return fmt.Sprintf(format, "units", a.Unit, b.Unit)
	case a.Machine != b.Machine:
		return fmt.Sprintf(format, "machines", orNotStated(a.Machine), orNotStated(b.Machine))
	case a.When != b.When:
		return fmt.Sprintf(format, "days", orNotStated(a.When), orNotStated(b.When))
	}
	return ""
}

func orNotStated(s string) string {
	return cmp.Or(s, notStated)
}

// judgeBySource judges by the source's own figures.
func (e *Evidence) judgeBySource(a, b published.Figure, metric assay.Metric) {
	e.Open = false
	if e.Apart != "" {
		e.Reason = e.Apart
		return
	}
	if !(a.Value > 0 && b.Value > 0) {
		e.Reason = "a ratio needs figures above zero"
		return
	}
	higherBetter := metric.HigherBetter || isRate(a.Unit)
	c, known := ofSource(a, b, higherBetter)
	if !known {
		e.Verdict = Agrees
		if e.Against {
			e.Verdict, e.Reason = Contradicted, fmt.Sprintf("A / B is %.3g by its figures", e.Claimed)
		}
		return
	}
	e.Verdict, e.Missed, e.Reason = expect(e.Comparison, c, func() string {
		return fmt.Sprintf("A / B is %.3g [%.3g, %.3g] by its figures", c.Ratio.Center, c.Ratio.Low, c.Ratio.High)
	}, higherBetter)
	switch e.Verdict {
	case Holds:
		e.Verdict = Agrees
	case Fails:
		e.Verdict = Contradicted
	case NotReproduced:
		e.Verdict = Unknown
	}
	e.Against = e.Verdict == Contradicted
}

// ofSource compares two figures by their samples, or by intervals that the source has of them;
// known is false where it has neither.
func ofSource(a, b published.Figure, higherBetter bool) (c stat.Comparison, known bool) {
	rule := stat.Rule{Margin: sourceMargin}
	if len(a.Samples) >= stat.MinPairs && len(b.Samples) >= stat.MinPairs {
		c, err := rule.CompareUnpaired(a.Samples, b.Samples, higherBetter)
		return c, err == nil
	}
	if a.Half <= 0 && b.Half <= 0 {
		return c, false
	}
	half := math.Hypot(math.Log1p(a.Half), math.Log1p(b.Half))
	ratio := stat.Interval{N: max(stat.MinPairs, min(a.N, b.N)), Center: a.Value / b.Value}
	ratio.Low, ratio.High = ratio.Center*math.Exp(-half), ratio.Center*math.Exp(half)
	return rule.OfInterval(ratio, higherBetter), true
}
