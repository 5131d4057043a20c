package chart

import (
	"errors"
	"fmt"
	"slices"
)

// Lines is curves: how a figure depends on a number.
type Lines struct {
	X, Y   Axis
	Series []Curve // at most Series
}

// Curve is one series of points.
type Curve struct {
	Name   string
	Points []Point // in the order of X
}

// Point is a figure at a number.
type Point struct {
	X float64
	Y Interval
}

func (l *Lines) check() error {
	if len(l.Series) > Series {
		return fmt.Errorf("it has %d curves, and at most %d can be told apart", len(l.Series), Series)
	}
	if xs, _, _ := l.values(); len(xs) == 0 {
		return errors.New("it has no points")
	}
	return nil
}

func (l *Lines) legend() []legendItem {
	var items []legendItem
	for i, s := range l.Series {
		items = append(items, legendItem{s.Name, func(c *canvas, x, y float64) {
			c.draw(curvePen(i), x, y, x+sampleWidth, y)
			c.mark(i, x+sampleWidth/2, y, false)
		}})
	}
	return items
}

func curvePen(i int) pen { return pen{role: series + role(i), width: 1.8, dash: dashes[i]} }

// values are the numbers that any curve has a point at, and its figures with the ends
// of their intervals.
func (l *Lines) values() (xs, centres, ends []float64) {
	for _, s := range l.Series {
		for _, p := range s.Points {
			if l.X.usable(p.X) && l.Y.usable(p.Y.Center) {
				xs, centres, ends = append(xs, p.X), append(centres, p.Y.Center), append(ends, p.Y.Low, p.Y.High)
			}
		}
	}
	slices.Sort(xs)
	return slices.Compact(xs), centres, ends
}

func (l *Lines) draw(c *canvas) {
	height := 300.0
	if c.narrow() {
		height = 240
	}
	c.paragraph(l.Y.Label, bold, margin, c.inner())
	_, centres, ends := l.values()
	l.plot(c, l.Y.span(centres, ends), margin, c.width-margin, height, func(i int) int { return i })
	for _, line := range wrap(l.X.Label, bold, c.inner()) {
		c.write(line, bold, ink, 0.5, c.width/2, c.y+lineHeight/2)
		c.y += lineHeight
	}
}

// plot draws the axes and the curves between two places of a canvas; look is the number of
// a curve in the legend.
func (l *Lines) plot(c *canvas, s span, from, to, height float64, look func(int) int) {
	xs, _, _ := l.values()
	y := scale{l.Y, s, c.y + 8 + height, c.y + 8}
	ticks, left := y.ticks(y.span, int(height/40)), 0.0
	for _, v := range ticks {
		left = max(left, widthOf(y.Tick(v), regular))
	}
	x := scale{l.X, l.X.span(xs, nil), from + left + 8, to - 10}
	for _, v := range ticks {
		c.draw(pen{role: faint, width: 1}, x.from, y.at(v), x.to, y.at(v))
	}
	c.draw(pen{role: muted, width: 1}, x.from, y.from, x.from, y.to)
	for _, v := range ticks {
		c.write(y.Tick(v), regular, muted, 1, x.from-6, y.at(v))
	}
	c.horizontal(x, xs, y.from)
	for i, s := range l.Series {
		// Series lie beside each other, so that their intervals do not hide each other.
		c.curve(look(i), s, x, y, 3*(float64(i)-float64(len(l.Series)-1)/2))
	}
	c.y = y.from + 4 + lineHeight
}

// curve draws a series, then its intervals and marks.
func (c *canvas) curve(i int, s Curve, x, y scale, shift float64) {
	var path, at []float64
	var places []place
	for _, p := range s.Points {
		if to, ok := y.place(p.Y); ok && x.usable(p.X) {
			places, at = append(places, to), append(at, x.at(p.X)+shift)
			path = append(path, x.at(p.X)+shift, to.centre)
		}
	}
	c.draw(curvePen(i), path...)
	for k, p := range places {
		c.interval(pen{role: series + role(i), width: 1.2}, p, at[k], true)
	}
	for k, p := range places {
		c.mark(i, at[k], p.centre, !p.known)
	}
}

// interval draws one where it is known, and remembers what the legend is to explain.
func (c *canvas) interval(p pen, at place, across float64, vertical bool) {
	c.unknown, c.cut = c.unknown || !at.known, c.cut || at.cutLow || at.cutHigh
	if at.known {
		c.whisker(p, at, across, vertical)
	}
}
