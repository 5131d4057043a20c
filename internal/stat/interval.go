package stat

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// level is the two-sided confidence level of every interval.
const level = 0.95

// sequentialLevel is the level of the t interval where the spread seen so far
// decided how many launches there are: that picks samples whose spread came out
// small, and the interval would hold in less than 95 % of runs. At 96 % it holds
// in 95 % and more: docs/statistics.md has the calibration.
const sequentialLevel = 0.96

// Interval is the centre of N launches with its 95 % confidence interval, in
// the unit of the values. Center is NaN where N is 0; Low and High are NaN
// where N < 2.
type Interval struct {
	N                 int
	Center, Low, High float64
}

// Known reports whether the interval has Low and High.
func (i Interval) Known() bool {
	return i.N >= 2 && !math.IsNaN(i.Low) && !math.IsNaN(i.High)
}

// Inverse is the interval of 1 / ratio.
func (i Interval) Inverse() Interval {
	return Interval{N: i.N, Center: 1 / i.Center, Low: 1 / i.High, High: 1 / i.Low}
}

// LogInterval returns the geometric mean of the values, one a launch, with
// the t interval on their logarithms. Where a value is not above zero it
// returns the MeanInterval.
func LogInterval(values []float64) Interval { return Rule{}.Interval(values) }

// Interval is LogInterval, and where there are more values than were fixed
// beforehand (Planned) it allows for that, like Compare. It is for figures whose
// own interval was to become narrow.
func (r Rule) Interval(values []float64) Interval {
	if len(values) == 0 || slices.ContainsFunc(values, notPositive) {
		return MeanInterval(values)
	}
	// Logs relative to the first value keep equal values exactly equal.
	first := math.Log(values[0])
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(v) - first
	}
	s := summarize(logs)
	s.planned, s.looks = r.Planned, r.Looks
	return s.interval(func(x float64) float64 { return values[0] * math.Exp(x) })
}

// MeanInterval returns the arithmetic mean of the values, one a launch, with
// its t interval. It is for figures that may be zero, such as counts of
// allocations or of busy answers; Low may be below zero.
func MeanInterval(values []float64) Interval {
	return summarize(values).interval(func(x float64) float64 { return x })
}

// notPositive reports whether v is anything but a finite number above zero.
func notPositive(v float64) bool { return !(v > 0) || math.IsInf(v, 1) }

// sample holds all that a t interval needs to know of its values.
type sample struct {
	n        int
	mean, sd float64 // NaN where n is too small to tell
	freedom  float64 // of sd
	planned  int     // the launches fixed beforehand; 0: all of them
	looks    int     // as of a Rule
}

// level returns the level of the interval's t quantile. Looks after the first, the k-th at
// 4 % divided by k squared, add about one percent of false differences:
// docs/statistics.md has the calibration.
func (s sample) level() float64 {
	if s.looks > 1 {
		return 1 - (1-sequentialLevel)/float64(s.looks*s.looks)
	}
	if s.planned > 0 && s.n > s.planned {
		return sequentialLevel
	}
	return level
}

// claimed is the level that the interval is said to have.
func (s sample) claimed() float64 {
	if s.looks > 1 {
		return s.level()
	}
	return level
}

// half is the interval's half-width, NaN where n < 2.
func (s sample) half() float64 {
	if s.n < 2 {
		return math.NaN()
	}
	return tQuantile(s.freedom, s.level()) * s.sd / math.Sqrt(float64(s.n))
}

// summarize uses Welford's recurrence: it is exact for equal values, and
// negated values give exactly the negated mean.
func summarize(values []float64) sample {
	s := sample{n: len(values), mean: math.NaN(), sd: math.NaN(), freedom: max(0, float64(len(values)-1))}
	mean, squares := 0.0, 0.0
	for i, v := range values {
		delta := v - mean
		mean += delta / float64(i+1)
		squares += delta * (v - mean)
	}
	if s.n > 0 {
		s.mean = mean
	}
	if s.n > 1 {
		s.sd = math.Sqrt(squares / float64(s.n-1))
	}
	return s
}

// bounds returns the t interval of the mean, NaN where n < 2.
func (s sample) bounds() (low, high float64) {
	half := s.half()
	return s.mean - half, s.mean + half
}

// p is the two-sided p-value of the mean's lying beyond band, by the same t as
// the interval's; 1 where n < 2. It is scaled so that it is below 0.05 where
// the interval lies beyond the band, at whichever level that has.
func (s sample) p(band float64) float64 {
	if s.n < 2 || math.IsNaN(s.sd) {
		return 1
	}
	beyond := math.Abs(s.mean) - band
	if s.sd == 0 {
		return map[bool]float64{true: 0, false: 1}[beyond > 0]
	}
	t := beyond / (s.sd / math.Sqrt(float64(s.n)))
	p := 2 * distuv.StudentsT{Sigma: 1, Nu: s.freedom}.Survival(t)
	return min(1, p*(1-level)/(1-s.level()))
}

// interval returns the t interval with every value mapped back to its unit.
func (s sample) interval(back func(float64) float64) Interval {
	low, high := s.bounds()
	return Interval{N: s.n, Center: back(s.mean), Low: back(low), High: back(high)}
}

// tQuantiles keeps what tQuantile computed, by its arguments: estimates of missing launches need the
// same few again and again.
var tQuantiles sync.Map

// tQuantile is the quantile of Student's t that a two-sided interval needs. Degrees
// of freedom that are borrowed are no whole numbers: they are rounded down, so
// that there are few.
func tQuantile(freedom, level float64) float64 {
	type arguments struct {
		tenths int
		level  float64
	}
	key := arguments{tenths(freedom), level}
	if q, known := tQuantiles.Load(key); known {
		return q.(float64)
	}
	q := distuv.StudentsT{Sigma: 1, Nu: float64(key.tenths) / 10}.Quantile((1 + level) / 2)
	tQuantiles.Store(key, q)
	return q
}

// tenths rounds degrees of freedom down: to tenths, from 20 on to whole numbers,
// from 2000 on to hundreds.
func tenths(freedom float64) int {
	switch {
	case freedom < 20:
		return int(freedom * 10)
	case freedom < 2000:
		return 10 * int(freedom)
	}
	return 1000 * int(min(freedom, 1e6)/100)
}
