package stat

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// away is how many half-widths a ratio has to be from a bound, for it to be placed likely: where
// it will be is known as little as where it is. TestToPlaceIsLikelyEnough simulates it.
const away = 1.7

// Needed holds what likely places a ratio.
type Needed struct {
	Launches int     // in all; above [MaxMore] where it takes more, 0 where that is unknown
	Half     float64 // of an interval of 95 % then, as a fraction
}

// ToPlace estimates what it takes, with that look, that Place tells whether the ratio lies
// between two bounds: by its interval alone, whichever way that was made.
func (c Comparison) ToPlace(look int, low, high float64) Needed {
	if c.Ratio.N < MinPairs || !(c.Ratio.Low > 0) || math.IsInf(c.Ratio.High, 1) {
		return Needed{}
	}
	n, center := float64(c.Ratio.N), math.Log(c.Ratio.Center)
	distance := min(math.Abs(center-math.Log(low)), math.Abs(math.Log(high)-center)) - c.rule.band()
	sd := c.standardError() * math.Sqrt(n)
	then := sample{looks: look}.level()
	freedom := least(func(freedom int) bool {
		return away*sd*tQuantile(float64(freedom), then)/math.Sqrt(float64(freedom+1)) <= distance
	})
	usual := tQuantile(float64(freedom), level) / tQuantile(float64(freedom), then)
	return Needed{1 + freedom, math.Expm1(max(0, distance) / away * usual)}
}

// standardError returns the standard error of the logarithm of the ratio, by its interval.
func (c Comparison) standardError() float64 {
	return math.Log(c.Ratio.High/c.Ratio.Low) / 2 / tQuantile(c.freedom(), c.Level)
}

// freedom are the degrees of freedom of the interval.
func (c Comparison) freedom() float64 { return cmp.Or(c.Own+c.Borrowed, float64(c.Ratio.N-1)) }

// Beyond is the p-value of the ratio's lying outside of two bounds, by its interval alone: below
// 0.05 where Place says that it is outside, and 1 where the ratio is between them or unknown.
func (c Comparison) Beyond(low, high float64) float64 {
	if c.Ratio.N < MinPairs || !(c.Ratio.Low > 0) || math.IsInf(c.Ratio.High, 1) {
		return 1
	}
	center := math.Log(c.Ratio.Center)
	distance := max(math.Log(low)-center, center-math.Log(high)) - c.rule.band()
	switch {
	case distance <= 0:
		return 1
	case c.Ratio.Low == c.Ratio.High:
		return 0
	}
	p := 2 * distuv.StudentsT{Sigma: 1, Nu: c.freedom()}.Survival(distance/c.standardError())
	return min(1, p*(1-level)/(1-c.Level))
}
