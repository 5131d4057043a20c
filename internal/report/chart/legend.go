package chart

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legendItem is a name with a drawing of what it stands for.
type legendItem struct {
	name   string
	sample func(c *draw.Canvas, at vg.Rectangle)
}

const (
	sampleWidth  vg.Length = 26
	sampleHeight vg.Length = 11
	legendGap    vg.Length = 14
)

// centre is the middle of a sample.
func centre(at vg.Rectangle) vg.Point {
	return vg.Point{X: (at.Min.X + at.Max.X) / 2, Y: (at.Min.Y + at.Max.Y) / 2}
}

func sample(c *draw.Canvas, colour role, at vg.Rectangle, cut bool) {
	c.SetLineStyle(draw.LineStyle{Color: colour, Width: 1.5})
	whisker(c, place{low: at.Min.X + 1, high: at.Max.X - 1, cutHigh: cut}, centre(at).Y, false)
}

// unlike explains hollow marks and arrows, where there are some.
func unlike(unknown, cut bool) []legendItem {
	var items []legendItem
	if unknown {
		items = append(items, legendItem{"no interval known", func(c *draw.Canvas, at vg.Rectangle) { mark(c, 0, centre(at), true) }})
	}
	if cut {
		items = append(items, legendItem{"interval goes on", func(c *draw.Canvas, at vg.Rectangle) { sample(c, seriesRole(0), at, true) }})
	}
	return items
}

// flow puts items into lines; each name is shortened to a line's room.
func flow(items []legendItem, room vg.Length) [][]legendItem {
	var lines [][]legendItem
	var line []legendItem
	used := vg.Length(0)
	for _, item := range items {
		item.name = shorten(item.name, regular, room-sampleWidth-4)
		need := sampleWidth + 4 + widthOf(item.name, regular)
		if len(line) > 0 && used+legendGap+need > room {
			lines, line, used = append(lines, line), nil, 0
		}
		if len(line) > 0 {
			used += legendGap
		}
		line, used = append(line, item), used+need
	}
	return append(lines, line)
}

func drawLegend(c draw.Canvas, items []legendItem, y vg.Length) {
	for _, line := range flow(items, c.Size().X) {
		x := c.Min.X
		for _, item := range line {
			middle := y - lineHeight/2
			item.sample(&c, vg.Rectangle{Min: vg.Point{X: x, Y: middle - sampleHeight/2}, Max: vg.Point{X: x + sampleWidth, Y: middle + sampleHeight/2}})
			x += sampleWidth + 4
			write(&c, item.name, regular, ink, draw.XLeft, vg.Point{X: x, Y: middle})
			x += widthOf(item.name, regular) + legendGap
		}
		y -= lineHeight
	}
}
