package stat

import (
	"math"
)

const (
	// MinLaunches is how many launches are fixed beforehand, where the plan does
	// not ask for more.
	MinLaunches = 3
	// MinPairs is the number of pairs below which there is no verdict: where a
	// budget ends early, two launches and what is borrowed can do.
	MinPairs = 2
)

// MaxMore is the largest number of further launches that is worth advising.
const MaxMore = 1000

// Verdict says what a comparison with the baseline says.
type Verdict string

// The verdicts. Faster and slower mean better and worse by the metric.
const (
	Faster     Verdict = "faster"
	Slower     Verdict = "slower"
	Equivalent Verdict = "equivalent" // within the margin, shown by the whole interval
	Undecided  Verdict = "undecided"
)

// Decided reports whether the verdict is one.
func (v Verdict) Decided() bool { return v != "" && v != Undecided }

// Differs reports whether the verdict is a difference.
func (v Verdict) Differs() bool { return v == Faster || v == Slower }

// Reason says why a comparison is undecided.
type Reason string

// The reasons.
const (
	TooFew   Reason = "too few launches"
	TooWide  Reason = "too wide"         // the interval includes 1 and reaches beyond the margin
	NotClear Reason = "not beyond noise" // the interval excludes 1, but not by more than the A/A test differed
	TooMany  Reason = "many comparisons" // the interval excludes 1, but not with all comparisons of the family together
	// OneLayout: equivalent in the link layout that was measured, which is no sample of them.
	OneLayout Reason = "one link layout"
)

// Rule says what a comparison has to show. Margin and Noise are fractions:
// 0.02 is 2 %.
type Rule struct {
	Margin float64 // within which two figures count as equivalent
	// Noise is what an A/A test of the same run differed by beyond what chance
	// explains; Judge finds it.
	Noise float64
	// Planned is the number of launches that was fixed beforehand, where more
	// were added because an interval was still too wide. With more launches than
	// that the interval allows for it. 0: all were fixed.
	Planned int
	// Looks is how often a verdict was looked for by now, where measuring went on
	// because there was none. 0 is once.
	Looks int
}

// Comparison is a figure against the baseline's.
type Comparison struct {
	Ratio   Interval // figure / baseline's figure, from paired log ratios
	Verdict Verdict
	Reason  Reason // empty where decided
	// P is the two-sided p-value of a ratio at least so far beyond the noise; 1
	// where the interval is unknown. It is below 0.05 where the interval lies
	// beyond the noise. Adjusted is P in the family of Together comparisons.
	P, Adjusted float64
	Together    int
	// Own and Borrowed are the degrees of freedom of the interval.
	Own, Borrowed float64
	// Level is the level of the interval: 0.95, and more where it is not the first look.
	Level float64

	rule   Rule
	gain   sample  // above zero where the figure is better
	factor float64 // by which the family raises P
	joined bool    // as of its Pairs

	oneLayout bool // see OfOneLayout
}

// JudgeOne compares by pairs, with what is borrowed about their variance, as if
// it were the only comparison.
func (r Rule) JudgeOne(p Pairs, prior Prior, higherBetter bool) Comparison {
	ratios := r.sample(p, prior)
	c := Comparison{Ratio: ratios.interval(math.Exp), Own: p.freedom(), Borrowed: prior.Freedom, Level: ratios.claimed(), rule: r, gain: ratios, joined: p.Joined}
	if !higherBetter {
		c.gain.mean = -c.gain.mean
	}
	c.P = c.gain.p(r.band())
	c.settle(c.P, 1, 1)
	return c
}

// Ratio returns the ratio of pairs, with nothing borrowed and no verdict.
func (r Rule) Ratio(p Pairs) Interval { return r.sample(p, Prior{}).interval(math.Exp) }

// settle takes what the comparison is worth in a family.
func (c *Comparison) settle(adjusted, factor float64, together int) {
	c.Adjusted, c.factor, c.Together = adjusted, factor, together
	c.conclude(c.rule.decide(c.gain, factor))
}

// conclude takes what was decided, but for an equivalence of one layout.
func (c *Comparison) conclude(verdict Verdict, reason Reason) {
	if c.oneLayout && verdict == Equivalent {
		verdict, reason = Undecided, OneLayout
	}
	c.Verdict, c.Reason = verdict, reason
}

// Rule returns the rule that judged, with the noise that was found.
func (c Comparison) Rule() Rule { return c.rule }

// After is the comparison of paired launches as it is after so many earlier looks, each at
// launches that are not in it.
func (c Comparison) After(looks int) Comparison {
	if looks == 0 {
		return c
	}
	c.gain.looks = max(1, c.gain.looks) + looks
	center, half := math.Log(c.Ratio.Center), c.gain.half()
	c.Ratio.Low, c.Ratio.High = math.Exp(center-half), math.Exp(center+half)
	c.Level, c.P = c.gain.claimed(), c.gain.p(c.rule.band())
	c.settle(min(1, c.P*c.factor), c.factor, c.Together)
	return c
}

// Within judges paired launches with a margin, where that is smaller than the rule's.
func (c Comparison) Within(margin float64) Comparison {
	if margin < c.rule.Margin {
		c.rule.Margin = margin
		c.settle(c.Adjusted, c.factor, c.Together)
	}
	return c
}

// OfOneLayout takes an equivalence away from programs of which one has a single link layout:
// further launches do not show what another one would do.
func (c Comparison) OfOneLayout() Comparison {
	c.oneLayout = true
	c.conclude(c.Verdict, c.Reason)
	return c
}

// Swapped compares the other way round.
func (c Comparison) Swapped() Comparison {
	c.Ratio = c.Ratio.Inverse()
	c.gain.mean = -c.gain.mean
	switch c.Verdict {
	case Faster:
		c.Verdict = Slower
	case Slower:
		c.Verdict = Faster
	}
	return c
}

// sample is the pairs as a sample whose spread is moderated.
func (r Rule) sample(p Pairs, prior Prior) sample {
	variance, freedom := p.moderated(prior)
	return sample{n: p.N, mean: p.Mean, sd: math.Sqrt(variance), freedom: freedom, planned: r.planned(p), looks: max(r.Looks, p.Looks)}
}

// planned is the number of launches beyond which the interval allows for their
// number having been decided by its width.
func (r Rule) planned(p Pairs) int {
	if p.Added {
		return max(1, p.N-1)
	}
	return r.Planned
}

// Compare judges figures against the baseline's by themselves: nothing is
// borrowed. It fails as NewPairs does.
func (r Rule) Compare(figures, baseline []float64, higherBetter bool) (Comparison, error) {
	p, err := NewPairs(figures, baseline)
	if err != nil {
		return Comparison{}, err
	}
	return r.JudgeOne(p, Prior{}, higherBetter), nil
}

// OfInterval judges the interval of a ratio that somebody else made.
func (r Rule) OfInterval(ratio Interval, higherBetter bool) Comparison {
	c := Comparison{Ratio: ratio, Level: level, rule: r}
	low, high := math.Log(ratio.Low), math.Log(ratio.High)
	if !higherBetter {
		low, high = -high, -low
	}
	c.Verdict, c.Reason = r.decideBounds(ratio.N, low, high)
	return c
}

// Place reports whether a ratio is shown to lie between two bounds (inside: its
// whole interval does) or beyond them (outside). The noise counts as in JudgeOne.
// Neither holds where that is open, and with too few launches.
func (r Rule) Place(ratio Interval, low, high float64) (inside, outside bool) {
	if ratio.N < MinPairs {
		return false, false
	}
	band := math.Exp(r.band())
	lowest, highest := ratio.Low/band, ratio.High*band
	return low <= lowest && highest <= high, highest < low || high < lowest
}

// OfLayout reports whether the comparison is of programs of which one has a single link layout.
func (c Comparison) OfLayout() bool { return c.oneLayout }

// Excludes reports what the interval of an undecided gain excludes: that it is above the margin, or
// below it. Programs of one link layout exclude neither.
func (c Comparison) Excludes(gain Interval) (faster, slower bool) {
	if c.oneLayout || c.Reason != TooWide && c.Reason != NotClear {
		return false, false
	}
	margin := 1 + c.rule.Margin
	faster, _ = c.rule.Place(gain, 0, margin)
	slower, _ = c.rule.Place(gain, 1/margin, math.Inf(1))
	return faster, slower
}

// systematicNoise is by how much an A/A test differed, as a fraction, where its
// interval shows that this is more than chance; otherwise 0: what launches
// differ by is in every interval already.
func (r Rule) systematicNoise(twin Pairs, prior Prior) float64 {
	low, high := r.sample(twin, prior).bounds()
	if low > 0 || high < 0 {
		return math.Expm1(math.Abs(twin.Mean))
	}
	return 0
}

// Noise is by how much an A/A test differed, as a fraction; 0 with fewer than
// two launches, which means unknown.
func Noise(twin Pairs) float64 {
	if twin.N < MinPairs {
		return 0
	}
	return math.Expm1(math.Abs(twin.Mean))
}

// decide judges log ratios that are above zero where the figure is better.
// Factor is by how much the family raises its p-value.
func (r Rule) decide(gain sample, factor float64) (Verdict, Reason) {
	low, high := gain.bounds()
	verdict, reason := r.decideBounds(gain.n, low, high)
	if verdict.Differs() && gain.p(r.band())*factor > alpha {
		return Undecided, TooMany
	}
	return verdict, reason
}

// decideBounds judges the interval of a log ratio over n launches.
func (r Rule) decideBounds(n int, low, high float64) (Verdict, Reason) {
	margin, band := math.Log1p(r.Margin), r.band()
	switch {
	case n < MinPairs:
		return Undecided, TooFew
	case -margin <= low-band && high+band <= margin:
		return Equivalent, ""
	case low > band:
		return Faster, ""
	case high < -band:
		return Slower, ""
	case low > 0 || high < 0:
		return Undecided, NotClear
	}
	return Undecided, TooWide
}

// band is the log ratio that a difference has to exceed.
func (r Rule) band() float64 { return math.Log1p(r.Noise) }

// longer returns what a sample would be with more launches of the same spread.
func (s sample) longer(launches int) sample {
	s.n += launches
	s.freedom += float64(launches)
	return s
}
