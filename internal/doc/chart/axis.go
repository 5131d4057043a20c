package chart

import "math"

// span holds what an axis covers.
type span struct{ min, max float64 }

// largest is the largest value that is drawn, and the inverse of the smallest on
// a log scale: beyond them, steps of an axis would be lost in rounding.
const largest = 1e30

func (a Axis) usable(v float64) bool {
	return math.Abs(v) <= largest && (!a.Log || v >= 1/largest)
}

// with includes values that can be shown.
func (s span) with(a Axis, values []float64) span {
	for _, v := range values {
		if a.usable(v) {
			s = span{math.Min(s.min, v), math.Max(s.max, v)}
		}
	}
	return s
}

// span covers all centres, and the ends of intervals as far as the centres reach again:
// an interval that few launches make very wide must not press all others into a corner.
// What is cut ends in an arrow.
func (a Axis) span(centres, ends []float64) span {
	s := span{math.Inf(1), math.Inf(-1)}.with(a, centres)
	if s.min > s.max {
		return span{1, 10}
	}
	low, high := a.unit(s.min), a.unit(s.max)
	room := math.Max(high-low, a.minSpan(high))
	all := s.with(a, ends)
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

// ticks are about n round values, and never less than two.
func (a Axis) ticks(s span, n int) []float64 {
	var values []float64
	for more := n; len(values) < 2 && more < 4*n; more++ {
		values = linearTicks(s, more)
		if a.Log && s.max/s.min > 4 {
			values = logTicks(s, more)
		}
	}
	return values
}

// linearTicks are multiples of 1, 2 or 5 times a power of ten.
func linearTicks(s span, n int) []float64 {
	rough := (s.max - s.min) / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	step := 10 * power
	for _, f := range []float64{5, 2, 1} {
		if f*power >= rough {
			step = f * power
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

// scale is an axis where it lies in a drawing: its span from one place to another.
type scale struct {
	Axis
	span
	from, to float64
}

// at returns where a value lies.
func (s scale) at(v float64) float64 {
	low, high := s.unit(s.min), s.unit(s.max)
	return s.from + (s.unit(v)-low)/(high-low)*(s.to-s.from)
}

// place says where an interval lies on a scale, cut to what that shows.
type place struct {
	low, centre, high float64
	known             bool // the interval is
	cutLow, cutHigh   bool // it goes on
}

// place finds an interval; false where its centre cannot be shown.
func (s scale) place(i Interval) (place, bool) {
	if !s.usable(i.Center) {
		return place{}, false
	}
	p := place{centre: s.at(math.Min(math.Max(i.Center, s.min), s.max)), low: s.from, high: s.to}
	if p.known = !math.IsNaN(i.Low) && !math.IsNaN(i.High); !p.known {
		return p, true
	}
	p.cutLow, p.cutHigh = !s.usable(i.Low) || i.Low < s.min, !s.usable(i.High) || i.High > s.max
	if !p.cutLow {
		p.low = s.at(i.Low)
	}
	if !p.cutHigh {
		p.high = s.at(i.High)
	}
	return p, true
}

// tickWidth is how much room a tick has at least, on an axis along x.
const tickWidth = 62

// horizontal draws an axis along x below y, with its ticks and what they are.
func (c *canvas) horizontal(s scale, ticks []float64, y float64) {
	c.draw(pen{role: muted, width: 1}, s.from, y, s.to, y)
	for _, v := range ticks {
		c.draw(pen{role: muted, width: 1}, s.at(v), y, s.at(v), y+4)
	}
	c.tickWords(s, ticks, y+lineHeight/2+4)
}

// tickWords writes what the ticks of an axis along x are, but for words that would touch
// those before.
func (c *canvas) tickWords(s scale, ticks []float64, y float64) {
	free := 0.0
	for _, v := range ticks {
		words := s.Tick(v)
		half := widthOf(words, regular) / 2
		middle := math.Min(math.Max(s.at(v), half), c.width-half)
		if middle-half < free {
			continue
		}
		free = middle + half + 6
		c.write(words, regular, muted, 0.5, middle, y)
	}
}
