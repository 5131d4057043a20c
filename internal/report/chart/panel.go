package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panel draws the rows of one panel: it is a plot.Plotter.
type panel struct {
	rows   *Rows
	index  int
	span   span
	lines  []line
	narrow bool
	top    vg.Length // of the first line
	textAt vg.Length // where figures in words end
}

// Plot draws in layers, the marks last.
func (p panel) Plot(c draw.Canvas, chart *plot.Plot) {
	x, _ := chart.Transforms(&c)
	p.drawGrid(c, chart, x)
	p.each(func(cell Cell, y vg.Length) { p.drawParts(&c, cell, y, x) })
	p.each(func(cell Cell, y vg.Length) { p.drawDots(&c, cell, y, x) })
	maxMarks := 0
	p.each(func(cell Cell, _ vg.Length) { maxMarks = max(maxMarks, len(cell.Marks)) })
	for i := range maxMarks {
		p.each(func(cell Cell, y vg.Length) { p.drawInterval(&c, cell, i, y, x) })
		p.each(func(cell Cell, y vg.Length) { p.drawMark(&c, cell, i, y, x, false) })
		p.each(func(cell Cell, y vg.Length) { p.drawMark(&c, cell, i, y, x, true) })
	}
	p.each(func(cell Cell, y vg.Length) {
		write(&c, cell.Text, regular, ink, draw.XRight, vg.Point{X: p.textAt, Y: y})
	})
}

// each calls f for the rows that have figures, with the height of their middle.
func (p panel) each(f func(Cell, vg.Length)) {
	for _, l := range p.lines {
		if row := p.rows.Rows[l.row]; l.isRow() && len(row.Cells) > 0 {
			f(row.Cells[p.index], p.top-l.middle(p.narrow))
		}
	}
}

// middle is where a row's marks lie below the first line's top: in a narrow
// drawing, below its name.
func (l line) middle(narrow bool) vg.Length {
	if narrow {
		return l.top + nameLine + (l.height-nameLine)/2
	}
	return l.top + l.height/2
}

// strip is a part of a panel's height, from bottom to top.
type strip struct{ bottom, top vg.Length }

// strips are where rows have figures: lines through names and reasons would make
// them hard to read.
func (p panel) strips() []strip {
	var all []strip
	for _, l := range p.lines {
		if !l.isRow() || len(p.rows.Rows[l.row].Cells) == 0 {
			continue
		}
		s := strip{p.top - l.top - l.height, p.top - l.top}
		if p.narrow {
			s.top -= nameLine
		}
		if last := len(all) - 1; last >= 0 && all[last].bottom == s.top {
			all[last].bottom = s.bottom
			continue
		}
		all = append(all, s)
	}
	return all
}

// drawGrid draws the lines of the ticks, the band and the line in it. Where
// there are many rows, the ticks' words stand above them too.
func (p panel) drawGrid(c draw.Canvas, chart *plot.Plot, x func(float64) vg.Length) {
	it := p.rows.Panels[p.index]
	ticks := chart.X.Tick.Marker.Ticks(p.span.min, p.span.max)
	through := func(style draw.LineStyle, at vg.Length) {
		for _, s := range p.strips() {
			c.StrokeLine2(style, at, s.bottom, at, s.top)
		}
	}
	if it.BandHigh > it.BandLow {
		left, right := x(math.Max(it.BandLow, p.span.min)), x(math.Min(it.BandHigh, p.span.max))
		c.SetColor(band)
		for _, s := range p.strips() {
			c.Fill(vg.Rectangle{Min: vg.Point{X: left, Y: s.bottom}, Max: vg.Point{X: right, Y: s.top}}.Path())
		}
	}
	for _, tick := range ticks {
		through(draw.LineStyle{Color: faint, Width: 1}, x(tick.Value))
	}
	if it.Line != 0 {
		through(draw.LineStyle{Color: muted, Width: 1.5, Dashes: []vg.Length{5, 3}}, x(it.Line))
	}
	if len(p.rows.Rows) > manyRows {
		for _, tick := range ticks {
			write(&c, tick.Label, regular, muted, draw.XCenter, vg.Point{X: x(tick.Value), Y: p.top + lineHeight/2})
		}
	}
}

func (p panel) drawParts(c *draw.Canvas, cell Cell, y vg.Length, x func(float64) vg.Length) {
	const half = 7
	end := 0.0
	for i, v := range cell.Parts {
		if math.IsNaN(v) || v <= 0 {
			continue
		}
		bar(c, i, vg.Rectangle{Min: vg.Point{X: x(end), Y: y - half}, Max: vg.Point{X: x(math.Min(end+v, p.span.max)), Y: y + half}})
		end += v
	}
}

// drawDots draws single figures below the interval.
func (p panel) drawDots(c *draw.Canvas, cell Cell, y vg.Length, x func(float64) vg.Length) {
	c.SetColor(muted)
	for _, v := range cell.Dots {
		if p.rows.Panels[p.index].usable(v) {
			dot(c, vg.Point{X: x(v), Y: y - 7.5}, dotRadius)
		}
	}
}

// drawInterval draws the i-th interval; over a stack, in ink.
func (p panel) drawInterval(c *draw.Canvas, cell Cell, i int, y vg.Length, x func(float64) vg.Length) {
	if i >= len(cell.Marks) || !p.rows.Panels[p.index].usable(cell.Marks[i].Center) {
		return
	}
	colour := seriesRole(i)
	if len(p.rows.Parts) > 0 {
		colour = ink
	}
	if at := p.rows.Panels[p.index].place(cell.Marks[i], p.span, x); at.known {
		c.SetLineStyle(draw.LineStyle{Color: colour, Width: 1.5})
		whisker(c, at, y, false)
	}
}

// drawMark draws the i-th mark, if its interval is unknown or if it is not:
// hollow ones apart. A stack has none.
func (p panel) drawMark(c *draw.Canvas, cell Cell, i int, y vg.Length, x func(float64) vg.Length, hollow bool) {
	if i >= len(cell.Marks) || len(p.rows.Parts) > 0 || !p.rows.Panels[p.index].usable(cell.Marks[i].Center) {
		return
	}
	if at := p.rows.Panels[p.index].place(cell.Marks[i], p.span, x); at.known != hollow {
		mark(c, i, vg.Point{X: at.centre, Y: y}, hollow)
	}
}

// drawShades draws what lies behind every other group.
func (r *Rows) drawShades(c draw.Canvas, lines []line, top vg.Length) {
	c.SetColor(shade)
	for k, g := range groups(r.Rows, lines) {
		if k%2 == 1 {
			continue
		}
		c.Fill(vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: top - g.bottom}, Max: vg.Point{X: c.Max.X, Y: top - g.top}}.Path())
	}
}

// group is a sequence of rows that belong together.
type group struct {
	name        string
	rows        int
	top, bottom vg.Length // below the first line's top
}

// groups finds them; a row without a group is in none.
func groups(rows []Row, lines []line) []group {
	var all []group
	for k, l := range lines {
		name := rows[l.row].Group
		if !l.isRow() || name == "" {
			continue
		}
		if k > 0 && lines[k-1].isRow() && rows[lines[k-1].row].Group == name {
			last := &all[len(all)-1]
			last.rows, last.bottom = last.rows+1, l.top+l.height
			continue
		}
		all = append(all, group{name, 1, l.top, l.top + l.height})
	}
	return all
}

func (r *Rows) drawNames(c draw.Canvas, width Width, cols columns, lines []line, top vg.Length) {
	left := c.Min.X + cols.group
	for _, l := range lines {
		y := top - l.top - l.height/2
		if !l.isRow() {
			write(&c, shortenEnd(l.heading, strong, c.Size().X), strong, ink, draw.XLeft, vg.Point{X: c.Min.X + 2, Y: y})
			continue
		}
		room := cols.names - 8
		if width.narrow() {
			y = top - l.top - nameLine/2
			room = c.Max.X - left
		}
		write(&c, shorten(r.Rows[l.row].Name, regular, room), regular, ink, draw.XLeft, vg.Point{X: left, Y: y})
		if len(r.Rows[l.row].Cells) == 0 {
			why := vg.Point{X: c.Min.X + cols.panels[0], Y: top - l.middle(width.narrow())}
			write(&c, shortenEnd(r.Rows[l.row].Text, regular, c.Max.X-why.X), regular, muted, draw.XLeft, why)
		}
	}
	if r.Grouped == "" {
		return
	}
	write(&c, r.Grouped, regular, muted, draw.XLeft, vg.Point{X: c.Min.X + 2, Y: top + lineHeight/2 + 2})
	for _, g := range groups(r.Rows, lines) {
		middle := top - (g.top+g.bottom)/2
		if g.rows > 1 {
			bracket(&c, left-9, top-g.top-4, top-g.bottom+4)
		}
		write(&c, shortenEnd(g.name, strong, groupColumn-12), strong, ink, draw.XLeft, vg.Point{X: c.Min.X + 2, Y: middle})
	}
}

// bracket joins the rows of a group.
func bracket(c *draw.Canvas, x, top, bottom vg.Length) {
	c.SetLineStyle(draw.LineStyle{Color: muted, Width: 1.5})
	var path vg.Path
	path.Move(vg.Point{X: x + 4, Y: top})
	path.Line(vg.Point{X: x, Y: top})
	path.Line(vg.Point{X: x, Y: bottom})
	path.Line(vg.Point{X: x + 4, Y: bottom})
	c.Stroke(path)
}
