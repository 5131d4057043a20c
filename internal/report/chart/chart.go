// Package chart draws figures with their intervals: rows of points, stacked
// parts and curves, as SVG and as PNG. It knows nothing of what the figures are
// about.
//
// Colours never stand alone: series differ in their marks, dashes or hatches
// too, and every drawing has a title and a description in words.
package chart

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Width is how wide a drawing is, in CSS pixels: its layout depends on it.
type Width vg.Length

// The widths.
const (
	Wide   Width = 960 // for screens and paper: panels side by side
	Narrow Width = 340 // for phones: panels below each other
)

// Chart is what is drawn, at any width.
type Chart struct {
	Title       string
	Description string // what the chart shows, for who does not see it
	Body        Body   // Rows or Lines
}

// Body is the part of a chart below its title.
type Body interface {
	check() error
	// legend explains marks, in order; empty where there is nothing to tell
	// apart.
	legend() []legendItem
	height(Width) vg.Length
	draw(draw.Canvas, Width)
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
func (c *Chart) SVG(width Width) ([]byte, error) { return c.svg(width, false) }

// File returns a wide drawing as an SVG file that stands alone.
func (c *Chart) File() ([]byte, error) { return c.svg(Wide, true) }

func (c *Chart) svg(width Width, alone bool) ([]byte, error) {
	height, err := c.height(width)
	if err != nil {
		return nil, err
	}
	canvas := &svg{width: vg.Length(width), height: height, fallback: alone, state: svgState{colour: ink, line: 1}}
	c.draw(draw.New(canvas), width)
	return canvas.document(c.Title, c.Description), nil
}

// pixelRatio is how many pixels a unit of a PNG has in each direction.
const pixelRatio = 2

// maxPixels is how high a PNG may be, so that its memory is bounded.
const maxPixels = 20_000

// PNG returns a wide drawing on light paper.
func (c *Chart) PNG() ([]byte, error) {
	height, err := c.height(Wide)
	if err != nil {
		return nil, err
	}
	if height*pixelRatio > maxPixels {
		return nil, fmt.Errorf("draw %q: %.0f pixels high, a PNG has at most %d: use SVG", c.Title, height*pixelRatio, maxPixels)
	}
	const dotsPerInch = 72 * pixelRatio
	canvas := vgimg.NewWith(vgimg.UseWH(vg.Length(Wide), height), vgimg.UseDPI(dotsPerInch), vgimg.UseBackgroundColor(color.White))
	c.draw(draw.New(canvas), Wide)
	var out bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(&out); err != nil {
		return nil, fmt.Errorf("draw %q: %w", c.Title, err)
	}
	return out.Bytes(), nil
}

// margin is around the whole drawing.
const margin = 8

func (c *Chart) height(width Width) (vg.Length, error) {
	if c.Body == nil {
		return 0, errors.New("draw a chart: it has no body")
	}
	if err := c.Body.check(); err != nil {
		return 0, fmt.Errorf("draw %q: %w", c.Title, err)
	}
	return c.head(width) + c.Body.height(width) + 2*margin, nil
}

func (c *Chart) head(width Width) vg.Length {
	inner := vg.Length(width) - 2*margin
	high := vg.Length(len(wrap(c.Title, strong, inner)))*lineHeight + 4
	if items := c.Body.legend(); len(items) > 0 {
		high += vg.Length(len(flow(items, inner))) * lineHeight
	}
	return high
}

// draw draws title, legend and body from top to bottom.
func (c *Chart) draw(canvas draw.Canvas, width Width) {
	canvas.SetColor(paper)
	canvas.Fill(canvas.Rectangle.Path())
	inner := draw.Crop(canvas, margin, -margin, margin, -margin)
	y := inner.Max.Y
	for _, line := range wrap(c.Title, strong, inner.Size().X) {
		write(&inner, line, strong, ink, draw.XLeft, vg.Point{X: inner.Min.X, Y: y - lineHeight/2})
		y -= lineHeight
	}
	y -= 4
	drawLegend(inner, c.Body.legend(), y)
	c.Body.draw(draw.Crop(inner, 0, 0, 0, -c.head(width)), width)
}
