package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// span is what an axis covers.
type span struct{ min, max float64 }

// empty is a span of nothing yet.
var empty = span{math.Inf(1), math.Inf(-1)}

// largest is the largest value that is drawn, and the inverse of the smallest on
// a logarithmic axis: beyond them, steps of an axis would be lost in rounding.
const largest = 1e30

func (a Axis) usable(v float64) bool {
	return math.Abs(v) <= largest && (!a.Log || v >= 1/largest)
}

// with includes a value that can be shown.
func (s span) with(a Axis, v float64) span {
	if !a.usable(v) {
		return s
	}
	return span{math.Min(s.min, v), math.Max(s.max, v)}
}

// reach is how much wider than the figures themselves an axis gets for the ends
// of intervals: one that few launches make very wide must not press all others
// into a corner. What is cut ends in an arrow.
const reach = 1.0

// span covers all centres, and the ends of intervals as far as reach.
func (a Axis) span(centres, ends []float64) span {
	s := empty
	for _, v := range centres {
		s = s.with(a, v)
	}
	if s.min > s.max {
		return span{1, 10}
	}
	low, high := a.unit(s.min), a.unit(s.max)
	room := math.Max((high-low)*reach, a.minSpan(high))
	all := s
	for _, v := range ends {
		all = all.with(a, v)
	}
	low, high = math.Max(a.unit(all.min), low-room), math.Min(a.unit(all.max), high+room)
	if high-low < a.minSpan(high) {
		low, high = low-a.minSpan(high)/2, high+a.minSpan(high)/2
	}
	pad := (high - low) * 0.04
	return span{a.value(low - pad), a.value(high + pad)}
}

// unit is a value on a scale on which equal steps are equally long.
func (a Axis) unit(v float64) float64 {
	if a.Log {
		return math.Log10(v)
	}
	return v
}

// value is the inverse of unit.
func (a Axis) value(u float64) float64 {
	if a.Log {
		return math.Pow(10, u)
	}
	return u
}

// minSpan is the shortest span: a tenth of the value.
func (a Axis) minSpan(u float64) float64 {
	if a.Log {
		return math.Log10(1.1)
	}
	return math.Max(math.Abs(u)/10, 1e-12)
}

// apply sets up an axis of a plot that is drawn that long.
func (a Axis) apply(to *plot.Axis, s span, long, label vg.Length) {
	to.Min, to.Max = s.min, s.max
	if a.Log {
		to.Scale = plot.LogScale{}
	}
	to.Tick.Marker = plot.ConstantTicks(a.ticks(s, max(2, int(long/label))))
}

// ticks are about n round values, and never less than two.
func (a Axis) ticks(s span, n int) []plot.Tick {
	var values []float64
	for more := n; len(values) < 2 && more < 4*n; more++ {
		values = linearTicks(s, more)
		if a.Log && s.max/s.min > 4 {
			values = logTicks(s, more)
		}
	}
	all := make([]plot.Tick, len(values))
	for i, v := range values {
		all[i] = plot.Tick{Value: v, Label: a.Tick(v)}
	}
	return all
}

// linearTicks are multiples of 1, 2 or 5 times a power of ten.
func linearTicks(s span, n int) []float64 {
	rough := (s.max - s.min) / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	step := 10 * power
	for _, f := range []float64{1, 2, 5} {
		if f*power >= rough {
			step = f * power
			break
		}
	}
	var all []float64
	for i := math.Ceil(s.min / step); i*step <= s.max; i++ {
		all = append(all, i*step)
	}
	return all
}

// logTicks are powers of ten, or 1, 2 and 5 times those where there is room.
func logTicks(s span, n int) []float64 {
	decades := math.Log10(s.max / s.min)
	factors, every := []float64{1, 2, 5}, 1.0
	switch {
	case decades > float64(n):
		factors, every = []float64{1}, math.Ceil(decades/float64(n))
	case 3*decades > float64(n) && decades >= 2:
		factors = []float64{1}
	case 3*decades > float64(n):
		factors = []float64{1, 3}
	}
	var all []float64
	for e := math.Floor(math.Log10(s.min)/every) * every; e <= math.Log10(s.max); e += every {
		for _, f := range factors {
			if v := f * math.Pow(10, e); v >= s.min && v <= s.max {
				all = append(all, v)
			}
		}
	}
	return all
}

// place is where an interval lies on an axis, cut to what the axis shows.
type place struct {
	low, centre, high vg.Length
	known             bool // the interval is
	cutLow, cutHigh   bool // it goes on
}

// place finds an interval; to is the axis in the drawing.
func (a Axis) place(i Interval, s span, to func(float64) vg.Length) place {
	p := place{centre: to(math.Min(math.Max(i.Center, s.min), s.max))}
	p.known = !math.IsNaN(i.Low) && !math.IsNaN(i.High)
	if !p.known {
		return p
	}
	p.cutLow, p.cutHigh = !a.usable(i.Low) || i.Low < s.min, !a.usable(i.High) || i.High > s.max
	p.low, p.high = to(s.min), to(s.max)
	if !p.cutLow {
		p.low = to(i.Low)
	}
	if !p.cutHigh {
		p.high = to(i.High)
	}
	return p
}
