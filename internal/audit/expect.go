package audit

import (
	"fmt"
	"math"

	"assay/internal/stat"
	"assay/published"
)

// expect compares a comparison with what the claim expects of it; why says of an undecided one
// what it lacks. Alike always has a size. What ties neither shows nor refutes a difference whose
// size nobody stated; and what excludes the claimed direction is as good as a tie.
func expect(p published.Comparison, here stat.Comparison, why func() string, higherBetter bool) (Verdict, Miss, string) {
	if p.Size+p.AtLeast > 0 && here.Ratio.N >= stat.MinPairs {
		return expectSize(p, here, gain(here.Ratio, higherBetter))
	}
	is := here.Verdict
	differs := p.Expect.Differs()
	switch {
	case is == stat.Undecided:
		return expectDirection(p, here, gain(here.Ratio, higherBetter), why)
	case is == stat.Equivalent && differs:
		return NotReproduced, "", fmt.Sprintf("they tie within %.3g %%, and the source states no size", 100*here.Rule().Margin)
	case differs && string(is) != string(p.Expect), p.Expect == published.NotFaster && is == stat.Faster, p.Expect == published.NotSlower && is == stat.Slower:
		return Fails, "", fmt.Sprintf("it is %s", is)
	}
	return Holds, "", ""
}

// expectDirection asks whether an undecided comparison excludes what the claim expects, or what it
// rules out.
func expectDirection(p published.Comparison, here stat.Comparison, gain stat.Interval, why func() string) (Verdict, Miss, string) {
	faster, slower := here.Excludes(gain)
	switch {
	case p.Expect == published.Faster && faster, p.Expect == published.Slower && slower:
		return NotReproduced, "", fmt.Sprintf("it is not %s by more than %.3g %%, and the source states no size", p.Expect, 100*here.Rule().Margin)
	case p.Expect == published.NotFaster && faster, p.Expect == published.NotSlower && slower:
		return Holds, "", ""
	}
	return Unknown, "", "undecided: " + why()
}

// against is the p-value of what refutes the claim.
func (e *Evidence) against(higherBetter bool) float64 {
	low, high := e.Comparison.Bounds()
	if !higherBetter {
		low, high = 1/high, 1/low
	}
	return e.Here.Beyond(low, high)
}

// gain returns how much better A is than B, above 1 where it is.
func gain(ratio stat.Interval, higherBetter bool) stat.Interval {
	if higherBetter {
		return ratio
	}
	return ratio.Inverse()
}

// expectSize asks whether the gain is shown to be as large as the claim says.
func expectSize(p published.Comparison, here stat.Comparison, gain stat.Interval) (Verdict, Miss, string) {
	rule := here.Rule()
	low, high := p.Bounds()
	_, outside := rule.Place(gain, low, high)
	low, high = holding(p, here)
	inside, _ := rule.Place(gain, low, high)
	noise := ""
	if here.OfLayout() && !p.Expect.Differs() {
		noise = fmt.Sprintf("; one link layout, of which others can differ by %.0f %%", 100*(layouts-1))
	}
	if rule.Noise > 0 {
		noise += fmt.Sprintf("; the baseline differs from itself by %.3g %%, which widens the limits on both sides", 100*rule.Noise)
	}
	switch {
	case inside:
		return Holds, "", ""
	case outside:
		missed := beyond(p, gain)
		return Fails, missed, missed.before(size(p, gain) + noise)
	}
	return Unknown, "", "undecided: " + size(p, gain) + noise
}

// layouts is what the order of functions alone can make of a ratio (Mytkowicz and others 2009),
// as the warning layout says.
const layouts = 1.1

// holding are the gains with which a claim holds: with programs of one link layout each, a tie
// has to be one whatever another layout does.
func holding(p published.Comparison, here stat.Comparison) (low, high float64) {
	low, high = p.Bounds()
	if here.OfLayout() && !p.Expect.Differs() {
		return low * layouts, high / layouts
	}
	return low, high
}

// size says what the gain is and what was expected, both in the direction of the
// claim.
func size(p published.Comparison, gain stat.Interval) string {
	low, high := p.Bounds()
	as := "fast"
	if p.Expect == published.Slower {
		low, high = 1/high, 1/low
		gain = gain.Inverse()
		as = "slow"
	}
	expected := fmt.Sprintf("%.4gx to %.4gx", low, high)
	switch {
	case low == 0:
		expected = fmt.Sprintf("at most %.4gx", high)
	case math.IsInf(high, 1):
		expected = fmt.Sprintf("at least %.4gx", low)
	}
	return fmt.Sprintf("measured %.3gx as %s (%.3gx to %.3gx), claimed %s", gain.Center, as, gain.Low, gain.High, expected)
}

// Miss is the side on which a claimed size is missed; empty where none is, or the claim has
// no side.
type Miss string

const (
	more Miss = "more than claimed"
	less Miss = "less than claimed"
)

// before puts the side before a text.
func (m Miss) before(text string) string {
	if m == "" {
		return text
	}
	return string(m) + ": " + text
}

// beyond tells on which side of the claimed size the gain is.
func beyond(p published.Comparison, gain stat.Interval) Miss {
	low, high := p.Bounds()
	switch {
	case p.Expect == published.Faster && gain.Center > high, p.Expect == published.Slower && gain.Center < low:
		return more
	case p.Expect.Differs():
		return less
	}
	return ""
}

// agrees reports whether a published ratio A / B is what its source claims.
func agrees(p published.Comparison, ratio float64, higherBetter bool) bool {
	if !higherBetter {
		ratio = 1 / ratio
	}
	low, high := p.Bounds()
	return low <= ratio && ratio <= high
}
