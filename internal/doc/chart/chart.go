// Package chart draws figures with their intervals as SVG: rows of points, stacked parts
// and curves. It knows nothing of what the figures are about.
//
// Colours never stand alone: series differ in their marks and dashes too, and every
// drawing has a title and a description in words.
package chart

import (
	"errors"
	"fmt"
	"strings"
)

// Width is how wide a drawing is, in CSS pixels: its layout depends on it.
type Width float64

// The widths.
const (
	Wide   Width = 960 // for screens and paper: panels side by side
	Narrow Width = 340 // for phones: panels below each other
)

// Chart holds what is drawn, at any width.
type Chart struct {
	Title       string
	Description string // what the chart shows, for screen readers
	Body        Body   // Rows or Lines
}

// Body is the part of a chart below its title.
type Body interface {
	check() error
	legend() []legendItem // empty where there is nothing to tell apart
	draw(*canvas)
}

// Interval is a figure with the ends of its interval. Both ends are NaN where
// the interval is unknown, which is drawn as such.
type Interval struct{ Low, Center, High float64 }

// Axis is a scale with its words.
type Axis struct {
	Label string               // what is on it, and which direction is better
	Log   bool                 // each step is a factor
	Tick  func(float64) string // prints a value with its unit
}

// SVG returns the drawing to be a part of a page that has the style sheet
// Style. It fails where the data cannot be drawn.
func (c *Chart) SVG(width Width) ([]byte, error) { return c.svg(width, "") }

// File returns a wide drawing as an SVG file that stands alone.
func (c *Chart) File() ([]byte, error) { return c.svg(Wide, "<style>"+Style()+"</style>") }

func (c *Chart) svg(width Width, style string) ([]byte, error) {
	if c.Body == nil {
		return nil, errors.New("draw a chart: it has no body")
	}
	if err := c.Body.check(); err != nil {
		return nil, fmt.Errorf("draw %q: %w", c.Title, err)
	}
	body := &canvas{width: float64(width)}
	c.Body.draw(body)
	head := &canvas{width: float64(width), y: margin}
	head.paragraph(c.Title, bold, margin, head.inner())
	head.y += 4
	head.drawLegend(append(c.Body.legend(), body.unlike()...))
	height := number(head.y + body.y + margin)
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %[1]g %[2]s" width="%[1]g" height="%[2]s" font-family="Arial, Helvetica, Liberation Sans, sans-serif" font-size="%[3]d">`,
		float64(width), height, fontSize)
	fmt.Fprintf(&out, `<title>%s</title><desc>%s</desc>%s<path%s d="M0 0H%gV%sH0"/>`,
		escape(c.Title), escape(c.Description), style, pen{role: paper}.look(), float64(width), height)
	fmt.Fprintf(&out, "%s<g transform=\"translate(0 %s)\">%s</g></svg>\n", head.content(), number(head.y), body.content())
	return []byte(out.String()), nil
}

// role says what a colour is for: a class, so that a page's theme decides.
type role int

// The roles. Those of series follow from series on.
const (
	paper role = iota
	ink
	muted // what is less important than ink
	faint // lines of the grid
	shade // behind every other group
	band  // behind what counts as equal
	series
)

// themes are the roles' colours on light and on dark paper. Those of series keep a
// contrast of at least 3 with the paper.
var themes = [][2]uint32{
	{0xffffff, 0x15181c}, {0x1a1d21, 0xe8eaed}, {0x565c64, 0xa9afb7}, {0xe1e4e8, 0x343a41}, {0xf2f4f7, 0x1e2328}, {0xd3e5f6, 0x1f3b55},
	{0x0b62a8, 0x6cb6ff}, {0xb45309, 0xf0a45d}, {0x157f3b, 0x5cc98a}, {0x7c3aed, 0xb69cff},
	{0xc02942, 0xff8a8f}, {0x0f766e, 0x4fd1c5}, {0x7a4b2a, 0xd2a679}, {0xa21caf, 0xf08ee6},
}

// Series is how many series of Lines, marks or parts of Rows a chart can tell
// apart: more are an error.
const Series = 8

// Style is the style sheet that an SVG of this package without one needs: the
// classes of its colours on light paper, on dark paper where that is
// preferred, and on light paper in print.
func Style() string {
	var rules [2]strings.Builder
	for i, colours := range themes {
		for k := range rules {
			fmt.Fprintf(&rules[k], ".f%d{fill:#%06x}.s%d{stroke:#%06x;fill:none}", i, colours[k], i, colours[k])
		}
	}
	return rules[0].String() + "@media screen and (prefers-color-scheme:dark){" + rules[1].String() + "}"
}
