package stat

import (
	"fmt"
	"math"
	"sort"
)

// MinLaunches is the least number of pairs for a verdict.
const MinLaunches = 6

// mostMore is the largest number of further launches that is worth advising.
const mostMore = 1000

// Verdict is what a comparison with the reference says.
type Verdict string

// The verdicts. Faster and slower mean better and worse by the metric.
const (
	Faster     Verdict = "faster"
	Slower     Verdict = "slower"
	Equivalent Verdict = "equivalent" // within the margin, shown by the whole interval
	Undecided  Verdict = "undecided"
)

// Rule says what a comparison has to show. Margin and Noise are fractions:
// 0.02 is 2 %.
type Rule struct {
	Margin float64 // within which two figures count as equivalent
	Noise  float64 // what the reference's twin differed by in the same run
	// Least is the number of launches that was fixed beforehand, where more
	// were added because an interval was still too wide (Enough). With more
	// launches than that the interval allows for it. 0: all were fixed.
	Least int
}

// Comparison is a figure against the reference's.
type Comparison struct {
	Ratio        Interval // figure / reference figure, from paired log ratios
	Verdict      Verdict
	Reason       string // why undecided, in plain words; empty otherwise
	MoreLaunches int    // further launches that would decide, estimated from the spread; 0 where decided or not estimable
	// P is the chance of a ratio at least so far beyond the noise where there is
	// no difference; 1 with fewer than two pairs. It is below 0.05 where the
	// interval lies beyond the noise, and is for Holm.
	P float64
}

// Compare judges figures against the reference's, paired by index: one pair a
// launch. It fails where the lengths differ, where a figure is not a finite
// number above zero, and where the rule has a negative part.
func (r Rule) Compare(figures, reference []float64, higherBetter bool) (Comparison, error) {
	if !(r.Margin >= 0) || !(r.Noise >= 0) {
		return Comparison{}, fmt.Errorf("compare: margin %g, noise %g: both must be 0 or more", r.Margin, r.Noise)
	}
	logs, err := logRatios(figures, reference)
	if err != nil {
		return Comparison{}, fmt.Errorf("compare: %w", err)
	}
	ratios := summarize(logs)
	ratios.least = r.Least
	gain := ratios
	if !higherBetter {
		gain.mean = -gain.mean
	}
	c := Comparison{Ratio: ratios.interval(math.Exp), Verdict: r.decide(gain), P: gain.p(r.band())}
	if c.Verdict == Undecided {
		c.Reason = r.reason(c.Ratio)
		c.MoreLaunches = r.moreLaunches(gain)
	}
	return c, nil
}

// Place tells whether a ratio is shown to lie between two bounds (inside: its
// whole interval does) or beyond them (outside). The noise counts as in Compare.
// Neither holds where that is open, and with too few launches.
func (r Rule) Place(ratio Interval, low, high float64) (inside, outside bool) {
	if ratio.N < MinLaunches {
		return false, false
	}
	band := math.Exp(r.band())
	least, most := ratio.Low/band, ratio.High*band
	return low <= least && most <= high, most < low || high < least
}

// Noise returns by how much a twin of the reference differs from it, as a
// fraction: exp(|mean log ratio|) - 1. Figures are paired by index; those
// without a partner and pairs with a figure that is not above zero do not
// count. With fewer than two pairs it is 0: unknown.
func Noise(twin, reference []float64) float64 {
	var logs []float64
	for i := range min(len(twin), len(reference)) {
		if pair, err := logRatios(twin[i:i+1], reference[i:i+1]); err == nil {
			logs = append(logs, pair...)
		}
	}
	if len(logs) < 2 {
		return 0
	}
	return math.Expm1(math.Abs(summarize(logs).mean))
}

// logRatios takes the difference of logarithms, not the logarithm of the
// ratio: swapped arguments then give exactly the negated values.
func logRatios(figures, reference []float64) ([]float64, error) {
	if len(figures) != len(reference) {
		return nil, fmt.Errorf("%d figures against %d of the reference: pair them by launch first", len(figures), len(reference))
	}
	logs := make([]float64, len(figures))
	for i, f := range figures {
		if notPositive(f) || notPositive(reference[i]) {
			return nil, fmt.Errorf("pair %d: figure %g, reference %g: a ratio needs finite figures above zero", i+1, f, reference[i])
		}
		logs[i] = math.Log(f) - math.Log(reference[i])
	}
	return logs, nil
}

// decide judges log ratios that are above zero where the figure is better.
func (r Rule) decide(gain sample) Verdict {
	low, high := gain.bounds()
	return r.decideBounds(gain.n, low, high)
}

// decideBounds judges the interval of a log ratio over n launches.
func (r Rule) decideBounds(n int, low, high float64) Verdict {
	margin, band := math.Log1p(r.Margin), r.band()
	quiet := r.Noise <= r.Margin
	switch {
	case n < MinLaunches:
		return Undecided
	case quiet && -margin <= low && high <= margin:
		return Equivalent
	case low > band:
		return Faster
	case high < -band:
		return Slower
	}
	return Undecided
}

// band is the log ratio by which A against A differed, where that exceeds the
// margin; a difference has to lie beyond it.
func (r Rule) band() float64 {
	if r.Noise <= r.Margin {
		return 0
	}
	return math.Log1p(r.Noise)
}

// reason says why decide could not tell.
func (r Rule) reason(ratio Interval) string {
	if ratio.N < MinLaunches {
		return fmt.Sprintf("%d of at least %d launches", ratio.N, MinLaunches)
	}
	if r.Noise > r.Margin {
		return fmt.Sprintf("noise of A against A exceeds the margin: %.3g %% against %.3g %%, and the interval %.4g to %.4g is not beyond that noise",
			100*r.Noise, 100*r.Margin, ratio.Low, ratio.High)
	}
	return fmt.Sprintf("interval %.4g to %.4g contains 1 and reaches beyond the margin of %.3g %%", ratio.Low, ratio.High, 100*r.Margin)
}

// moreLaunches searches by halves: an interval that narrows around the same
// mean stays decided.
func (r Rule) moreLaunches(gain sample) int {
	if !(gain.sd > 0) {
		return 0
	}
	more := 1 + sort.Search(mostMore, func(k int) bool {
		longer := gain
		longer.n += 1 + k
		return r.decide(longer) != Undecided
	})
	if more > mostMore {
		return 0
	}
	return more
}
