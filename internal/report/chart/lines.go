package chart

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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

const (
	wideLines   vg.Length = 380
	narrowLines vg.Length = 320
	dodge       vg.Length = 3 // between the series, so that their intervals do not hide each other
)

func (l *Lines) check() error {
	if len(l.Series) > Series {
		return fmt.Errorf("it has %d curves, and at most %d can be told apart", len(l.Series), Series)
	}
	if len(l.values()) == 0 {
		return errors.New("it has no points")
	}
	return nil
}

func (l *Lines) legend() []legendItem {
	var items []legendItem
	for i, s := range l.Series {
		items = append(items, legendItem{s.Name, func(c *draw.Canvas, at vg.Rectangle) {
			c.StrokeLine2(curveStyle(i), at.Min.X, centre(at).Y, at.Max.X, centre(at).Y)
			mark(c, i, centre(at), false)
		}})
	}
	return append(items, l.unlike()...)
}

// unlike are the legend's words for intervals that are not drawn as a whole.
func (l *Lines) unlike() []legendItem {
	unknown, cut := false, false
	_, y := l.spans()
	for _, s := range l.Series {
		for _, p := range s.Points {
			if at := l.Y.place(p.Y, y, func(float64) vg.Length { return 0 }); l.Y.usable(p.Y.Center) {
				unknown = unknown || !at.known
				cut = cut || at.cutLow || at.cutHigh
			}
		}
	}
	return unlike(unknown, cut)
}

func curveStyle(i int) draw.LineStyle {
	return draw.LineStyle{Color: seriesRole(i), Width: 1.8, Dashes: dashes[i]}
}

func (l *Lines) height(width Width) vg.Length {
	words := vg.Length(len(l.label(width))) * lineHeight
	if width.narrow() {
		return narrowLines + words
	}
	return wideLines + words
}

// label is what the vertical axis shows, in lines above it.
func (l *Lines) label(width Width) []string {
	return wrap(l.Y.Label, strong, vg.Length(width)-2*margin)
}

// values are the numbers that any curve has a point at.
func (l *Lines) values() []float64 {
	var all []float64
	for _, s := range l.Series {
		for _, p := range s.Points {
			if l.X.usable(p.X) && l.Y.usable(p.Y.Center) {
				all = append(all, p.X)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (l *Lines) draw(c draw.Canvas, width Width) {
	for i, words := range l.label(width) {
		write(&c, words, strong, ink, draw.XLeft, vg.Point{X: c.Min.X, Y: c.Max.Y - lineHeight*(vg.Length(i)+0.5)})
	}
	c = draw.Crop(c, 0, -10, 0, -vg.Length(len(l.label(width)))*lineHeight-8)
	x, y := l.spans()
	chart := plot.New()
	chart.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&chart.X, &chart.Y} {
		axis.LineStyle = draw.LineStyle{Color: muted, Width: 1}
		axis.Tick.LineStyle = axis.LineStyle
		axis.Tick.Length, axis.Padding = 4, 0
	}
	l.X.apply(&chart.X, x, c.Size().X, 60)
	chart.X.Tick.Marker = plot.ConstantTicks(l.ticks(x, c.Size().X-60))
	chart.X.Tick.Label = style(regular, muted, draw.XCenter, draw.YTop)
	chart.X.Label.Text = l.X.Label
	chart.X.Label.TextStyle = style(strong, ink, draw.XCenter, draw.YBottom)
	l.Y.apply(&chart.Y, y, c.Size().Y, 40)
	chart.Y.Tick.Label = style(regular, muted, draw.XRight, draw.YCenter)
	chart.Add(curves{l, x, y})
	chart.Draw(c)
}

// spans are what both axes cover.
func (l *Lines) spans() (x, y span) {
	var centres, ends []float64
	for _, s := range l.Series {
		for _, p := range s.Points {
			centres = append(centres, p.Y.Center)
			ends = append(ends, p.Y.Low, p.Y.High)
		}
	}
	return l.X.span(l.values(), nil), l.Y.span(centres, ends)
}

// ticks are the numbers themselves, as far as their words do not touch.
func (l *Lines) ticks(s span, long vg.Length) []plot.Tick {
	var all []plot.Tick
	free := vg.Length(-1e9)
	for _, v := range l.values() {
		label := l.X.Tick(v)
		middle := long * vg.Length((l.X.unit(v)-l.X.unit(s.min))/(l.X.unit(s.max)-l.X.unit(s.min)))
		half := widthOf(label, regular)/2 + 3
		if middle-half < free {
			continue
		}
		free = middle + half
		all = append(all, plot.Tick{Value: v, Label: label})
	}
	return all
}

// curves draws the series: it is a plot.Plotter.
type curves struct {
	lines *Lines
	x, y  span
}

// Plot draws the grid, then each curve with its intervals and marks.
func (d curves) Plot(c draw.Canvas, chart *plot.Plot) {
	x, y := chart.Transforms(&c)
	for _, tick := range chart.Y.Tick.Marker.Ticks(d.y.min, d.y.max) {
		c.StrokeLine2(draw.LineStyle{Color: faint, Width: 1}, c.Min.X, y(tick.Value), c.Max.X, y(tick.Value))
	}
	for i, s := range d.lines.Series {
		shift := (vg.Length(i) - vg.Length(len(d.lines.Series)-1)/2) * dodge
		var path []vg.Point
		places := make([]place, 0, len(s.Points))
		for _, p := range s.Points {
			if d.lines.X.usable(p.X) && d.lines.Y.usable(p.Y.Center) {
				at := d.lines.Y.place(p.Y, d.y, y)
				places = append(places, at)
				path = append(path, vg.Point{X: x(p.X) + shift, Y: at.centre})
			}
		}
		c.StrokeLines(curveStyle(i), path)
		for k, at := range places {
			if at.known {
				c.SetLineStyle(draw.LineStyle{Color: seriesRole(i), Width: 1.2})
				whisker(&c, at, path[k].X, true)
			}
		}
		for k, at := range places {
			mark(&c, i, path[k], !at.known)
		}
	}
}
