package chart

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	markRadius vg.Length = 4
	dotRadius  vg.Length = 1.6
	capHeight  vg.Length = 3.5
)

// polygon is a filled shape in the current colour, by its corners.
type polygon [][2]vg.Length

// DrawGlyph is for draw.GlyphDrawer.
func (p polygon) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	var path vg.Path
	for i, corner := range p {
		to := vg.Point{X: at.X + corner[0]*sty.Radius, Y: at.Y + corner[1]*sty.Radius}
		if i == 0 {
			path.Move(to)
		} else {
			path.Line(to)
		}
	}
	c.Fill(path)
}

// shapes tell series apart where colours do not.
var shapes = [Series]draw.GlyphDrawer{
	draw.CircleGlyph{},
	polygon{{-.9, -.9}, {.9, -.9}, {.9, .9}, {-.9, .9}},
	polygon{{-1.1, -.9}, {1.1, -.9}, {0, 1.1}},
	polygon{{-1.25, 0}, {0, -1.25}, {1.25, 0}, {0, 1.25}},
	polygon{{-1.1, .9}, {0, -1.1}, {1.1, .9}},
	polygon{{-1.1, -.45}, {-.45, -1.1}, {1.1, .45}, {.45, 1.1}},
	polygon{{-.5, -1.2}, {.5, -1.2}, {.5, 1.2}, {-.5, 1.2}},
	polygon{{-1.2, -.5}, {1.2, -.5}, {1.2, .5}, {-1.2, .5}},
}

// dashes are those of the series' lines.
var dashes = [Series][]vg.Length{nil, {7, 3}, {2, 3}, {9, 3, 2, 3}, {4, 2}, {12, 4}, {2, 2, 6, 2}, {1, 2}}

// mark draws the i-th series' mark; hollow where the interval is unknown.
func mark(c *draw.Canvas, i int, at vg.Point, hollow bool) {
	c.SetColor(seriesRole(i))
	shapes[i].DrawGlyph(c, draw.GlyphStyle{Radius: markRadius}, at)
	if hollow {
		c.SetColor(paper)
		shapes[i].DrawGlyph(c, draw.GlyphStyle{Radius: markRadius - 1.5}, at)
	}
}

// dot is a filled circle in the current colour.
func dot(c *draw.Canvas, at vg.Point, radius vg.Length) {
	draw.CircleGlyph{}.DrawGlyph(c, draw.GlyphStyle{Radius: radius}, at)
}

// whisker draws an interval along one direction: horizontally, or else
// vertically with x and y exchanged. Its ends are caps, or arrows where it goes
// on.
func whisker(c *draw.Canvas, p place, across vg.Length, vertical bool) {
	at := func(along, off vg.Length) vg.Point {
		if vertical {
			return vg.Point{X: across + off, Y: along}
		}
		return vg.Point{X: along, Y: across + off}
	}
	line := func(points ...vg.Point) {
		var path vg.Path
		path.Move(points[0])
		for _, to := range points[1:] {
			path.Line(to)
		}
		c.Stroke(path)
	}
	end := func(along vg.Length, goesOn bool, inward vg.Length) {
		if goesOn {
			line(at(along+inward*5, capHeight), at(along, 0), at(along+inward*5, -capHeight))
			return
		}
		line(at(along, capHeight), at(along, -capHeight))
	}
	line(at(p.low, 0), at(p.high, 0))
	end(p.low, p.cutLow, 1)
	end(p.high, p.cutHigh, -1)
}

// hatches are the directions of the lines in the i-th part of a stack, as steps
// of x for one of y; nil: none.
var hatches = [Series][]vg.Length{nil, {1}, {-1}, {0}, {1, -1}, {3}, {-3}, {0, 3}}

const hatchGap vg.Length = 6

// bar fills a part of a stack, hatched.
func bar(c *draw.Canvas, i int, r vg.Rectangle) {
	if r.Max.X <= r.Min.X {
		return
	}
	c.SetColor(seriesRole(i))
	c.Fill(r.Path())
	c.SetLineStyle(draw.LineStyle{Color: paper, Width: 0.8})
	high := r.Max.Y - r.Min.Y
	for _, slope := range hatches[i] {
		shift := slope * high
		for x := r.Min.X - max(shift, 0) + hatchGap/2; x < r.Max.X-min(shift, 0); x += hatchGap {
			hatch(c, r, x, shift)
		}
	}
}

// hatch draws a line from x at the bottom to x+shift at the top, as far as it
// lies in the rectangle.
func hatch(c *draw.Canvas, r vg.Rectangle, x, shift vg.Length) {
	from, to := vg.Length(0), vg.Length(1)
	if shift != 0 {
		a, b := (r.Min.X-x)/shift, (r.Max.X-x)/shift
		from, to = max(from, min(a, b)), min(to, max(a, b))
	}
	if from >= to {
		return
	}
	high := r.Max.Y - r.Min.Y
	c.StrokeLine2(draw.LineStyle{Color: paper, Width: 0.8}, x+from*shift, r.Min.Y+from*high, x+to*shift, r.Min.Y+to*high)
}
