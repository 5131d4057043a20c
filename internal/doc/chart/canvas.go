package chart

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

const margin = 8 // around the whole drawing

// canvas collects what is drawn, from top to bottom. Text stays text, colours are
// classes, and there is no style attribute, which a strict content policy forbids.
type canvas struct {
	width        float64
	y            float64 // where the next part begins
	unknown, cut bool    // such intervals were drawn
	out, path    strings.Builder
	pen          pen // of the path that is being drawn
}

// pen says how a path is drawn.
type pen struct {
	role  role
	width float64 // of a line; 0: the area is filled
	dash  string
	round bool // a point of a line is a circle
}

func (c *canvas) narrow() bool   { return c.width < 600 }
func (c *canvas) inner() float64 { return c.width - 2*margin }

// draw draws a path through points, x and y in turn. Paths that follow each other and
// look alike are one element.
func (c *canvas) draw(p pen, points ...float64) {
	if p != c.pen {
		c.flush()
		c.pen = p
	}
	for i := 0; i < len(points); i += 2 {
		x, y := points[i], points[i+1]
		switch {
		case i == 0:
			c.path.WriteString("M" + number(x) + " " + number(y))
		case y == points[i-1]:
			c.path.WriteString("H" + number(x))
		case x == points[i-2]:
			c.path.WriteString("V" + number(y))
		default:
			c.path.WriteString("L" + number(x) + " " + number(y))
		}
	}
}

// rectangle fills one.
func (c *canvas) rectangle(r role, left, top, right, bottom float64) {
	c.draw(pen{role: r}, left, top, right, top, right, bottom, left, bottom)
}

// dot fills a circle.
func (c *canvas) dot(r role, x, y, radius float64) {
	c.draw(pen{role: r, width: 2 * radius, round: true}, x, y, x, y)
}

func (c *canvas) flush() {
	if c.path.Len() > 0 {
		c.out.WriteString("<path" + c.pen.look() + ` d="` + c.path.String() + `"/>`)
		c.path.Reset()
	}
}

// content returns all that was drawn.
func (c *canvas) content() string {
	c.flush()
	return c.out.String()
}

// look is the pen as attributes.
func (p pen) look() string {
	class, more := "f", ""
	if p.width > 0 {
		class, more = "s", ` stroke-width="`+number(p.width)+`"`
	}
	if p.dash != "" {
		more += ` stroke-dasharray="` + p.dash + `"`
	}
	if p.round {
		more += ` stroke-linecap="round"`
	}
	return fmt.Sprintf(` class="%s%d"%s`, class, p.role, more)
}

// number is a length in tenths of a pixel.
func number(l float64) string { return strconv.FormatFloat(math.Round(l*10)/10, 'f', -1, 64) }

// escape is text as XML has it.
func escape(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a strings.Builder does not fail
	return out.String()
}

// shapes tell series apart where colours do not; the first is a circle.
var shapes = [Series][]float64{
	nil,
	{-.9, -.9, .9, -.9, .9, .9, -.9, .9},
	{-1.1, .9, 1.1, .9, 0, -1.1},
	{-1.25, 0, 0, -1.25, 1.25, 0, 0, 1.25},
	{-1.1, -.9, 0, 1.1, 1.1, -.9},
	{-1.1, .45, -.45, 1.1, 1.1, -.45, .45, -1.1},
	{-.5, -1.2, .5, -1.2, .5, 1.2, -.5, 1.2},
	{-1.2, -.5, 1.2, -.5, 1.2, .5, -1.2, .5},
}

// dashes tell curves apart, and the parts of a stack.
var dashes = [Series]string{"", "7 3", "2 3", "9 3 2 3", "4 2", "12 4", "2 2 6 2", "1 2"}

// mark draws the i-th series' mark; hollow where the interval is unknown.
func (c *canvas) mark(i int, x, y float64, hollow bool) {
	shape := func(r role, radius float64) {
		if i == 0 {
			c.dot(r, x, y, radius)
			return
		}
		var points []float64
		for k := 0; k < len(shapes[i]); k += 2 {
			points = append(points, x+radius*shapes[i][k], y+radius*shapes[i][k+1])
		}
		c.draw(pen{role: r}, points...)
	}
	shape(series+role(i), 4)
	if hollow {
		shape(paper, 2.5)
	}
}

// bar draws the i-th part of a stack.
func (c *canvas) bar(i int, left, top, right, bottom float64) {
	c.rectangle(series+role(i), left, top, right, bottom)
	if i > 0 {
		c.draw(pen{role: paper, width: 2, dash: dashes[i]}, left, (top+bottom)/2, right, (top+bottom)/2)
	}
}

// whisker draws an interval along x, or else along y. Its ends are caps, or arrows
// where it goes on.
func (c *canvas) whisker(p pen, at place, across float64, vertical bool) {
	line := func(points ...float64) { // along and across
		for i := 0; i < len(points); i += 2 {
			points[i+1] += across
			if vertical {
				points[i], points[i+1] = points[i+1], points[i]
			}
		}
		c.draw(p, points...)
	}
	const high, arrow = 3.5, 5
	inward := math.Copysign(arrow, at.high-at.low)
	line(at.low, 0, at.high, 0)
	for _, end := range []struct {
		at, inward float64
		cut        bool
	}{{at.low, inward, at.cutLow}, {at.high, -inward, at.cutHigh}} {
		if end.cut {
			line(end.at+end.inward, high, end.at, 0, end.at+end.inward, -high)
		} else {
			line(end.at, high, end.at, -high)
		}
	}
}
