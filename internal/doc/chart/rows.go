package chart

import (
	"errors"
	"fmt"
	"math"
)

// Rows is one row for each thing that is compared, and one panel for each
// quantity.
type Rows struct {
	Panels []Panel
	Rows   []Row
	// Marks or Parts name what a row has several of in each panel; at most
	// Series.
	Marks, Parts []string
	Dots         string // what dots are, where there are some
	Grouped      string // what a group is, as a word above the groups' names
}

// Panel is one quantity.
type Panel struct {
	Axis
	// Line is drawn through all rows, with the band around it; 0: none.
	Line              float64
	BandLow, BandHigh float64
}

// Row is a labelled line of a chart.
type Row struct {
	Section string // a heading stands where it is another than in the row before
	Group   string // rows in a sequence that share it belong together; empty: none
	Name    string
	Cells   []Cell // one a panel; empty where Text says why
	Text    string // instead of figures
}

// Cell holds what a row has in a panel.
type Cell struct {
	Marks []Interval // in the order of Rows.Marks; NaN as the centre: has none
	Parts []float64  // in the order of Rows.Parts, one behind the other; NaN: has none
	Dots  []float64  // single figures that the interval comes from
	Text  string     // the figure in words
}

func (r *Rows) check() error {
	if len(r.Panels) == 0 || len(r.Rows) == 0 {
		return errors.New("it has no rows or no panels")
	}
	for _, row := range r.Rows {
		if len(row.Cells) != 0 && len(row.Cells) != len(r.Panels) {
			return fmt.Errorf("row %q has %d cells for %d panels", row.Name, len(row.Cells), len(r.Panels))
		}
		for _, cell := range row.Cells {
			if max(len(cell.Marks), len(cell.Parts)) > Series {
				return fmt.Errorf("row %q has more than %d marks or parts", row.Name, Series)
			}
		}
	}
	return nil
}

func (r *Rows) legend() []legendItem {
	var items []legendItem
	for i, name := range r.Parts {
		items = append(items, legendItem{name, func(c *canvas, x, y float64) { c.bar(i, x, y-5, x+sampleWidth, y+5) }})
	}
	for i, name := range r.Marks {
		items = append(items, legendItem{name, func(c *canvas, x, y float64) {
			c.whisker(r.pen(i), place{low: x + 1, high: x + sampleWidth - 1}, y, false)
			if len(r.Parts) == 0 {
				c.mark(i, x+sampleWidth/2, y, false)
			}
		}})
	}
	if r.Dots != "" {
		items = append(items, legendItem{r.Dots, func(c *canvas, x, y float64) {
			for i := range 3 {
				c.dot(muted, x+4+8*float64(i), y, dotRadius)
			}
		}})
	}
	return items
}

// pen draws the i-th intervals; over a stack, in ink.
func (r *Rows) pen(i int) pen {
	if len(r.Parts) > 0 {
		return pen{role: ink, width: 1.5}
	}
	return pen{role: series + role(i), width: 1.5}
}

const (
	dotRadius   = 1.6
	wideRow     = 24.0
	narrowRow   = 42.0
	nameLine    = 18.0 // of a narrow row, above its marks
	sectionLine = 22.0
	groupColumn = 46.0
	panelGap    = 22.0
	maxName     = 250.0 // the width of the column of names
	manyRows    = 14    // with more, ticks stand above the rows too
)

// draw draws the panels side by side or, on a narrow canvas, below each other.
func (r *Rows) draw(c *canvas) {
	if !c.narrow() {
		r.block(c, r.Panels, 0)
		return
	}
	for i := range r.Panels {
		r.block(c, r.Panels[i:i+1], i)
	}
}

// block draws the names once, and beside them the panels from the first one on.
func (r *Rows) block(c *canvas, panels []Panel, first int) {
	group, names, texts := 0.0, 0.0, 0.0
	if r.Grouped != "" {
		group = groupColumn
	}
	for _, row := range r.Rows {
		if !c.narrow() {
			names = min(maxName, max(names, widthOf(row.Name, regular)+10))
		}
		for i := range min(len(panels), len(row.Cells)) {
			if text := row.Cells[first+i].Text; text != "" {
				texts = max(texts, widthOf(text, regular)+8)
			}
		}
	}
	left := margin + group + names
	each := (c.width - margin - left - panelGap*float64(len(panels)-1)) / float64(len(panels))
	top, head := c.y, c.y
	for i, p := range panels {
		c.y = top
		c.paragraph(p.Label, bold, left+float64(i)*(each+panelGap), each)
		head = max(head, c.y)
	}
	if c.y = head + 4; len(r.Rows) > manyRows || r.Grouped != "" {
		c.y += lineHeight
	}
	lines := r.lines(c)
	r.drawNames(c, lines, margin+group, names, left)
	bottom := lines[len(lines)-1].bottom
	for i, p := range panels {
		from := left + float64(i)*(each+panelGap)
		s := scale{p.Axis, r.span(p, first+i), from, from + each - texts}
		ticks := s.ticks(s.span, max(2, int((s.to-s.from)/tickWidth)))
		r.drawPanel(c, first+i, s, ticks, lines, from+each)
		c.horizontal(s, ticks, bottom)
	}
	c.y = bottom + lineHeight + 11
	c.unknown = c.unknown && len(r.Parts) == 0 // a stack has no marks
}

// line is a row with where it lies. Figures have the part from top on: in a narrow
// drawing, that below the name.
type line struct {
	Row
	heading           string  // above it
	start             float64 // of the row with its name
	top, name, bottom float64
}

func (l line) middle() float64 { return (l.top + l.bottom) / 2 }

func (r *Rows) lines(c *canvas) []line {
	y, section := c.y, ""
	var all []line
	for _, row := range r.Rows {
		l := line{Row: row}
		if row.Section != section {
			l.heading, section = row.Section, row.Section
			y += sectionLine
		}
		l.start, l.top, l.name, l.bottom = y, y, y+wideRow/2, y+wideRow
		if c.narrow() {
			l.top, l.name, l.bottom = y+nameLine, y+nameLine/2, y+narrowRow
		}
		y = l.bottom
		all = append(all, l)
	}
	return all
}

// drawNames draws headings, groups with a shade behind every other one, names, and why
// a row has no figures.
func (r *Rows) drawNames(c *canvas, lines []line, left, names, figures float64) {
	begins := func(i int) bool {
		return lines[i].Group != "" && (i == 0 || lines[i-1].Group != lines[i].Group || lines[i].heading != "")
	}
	groups := 0
	for i, l := range lines {
		if begins(i) {
			groups++
		}
		if l.Group != "" && groups%2 == 1 {
			c.rectangle(shade, margin, l.start, c.width-margin, l.bottom)
		}
	}
	c.write(r.Grouped, regular, muted, 0, margin+2, c.y-lineHeight/2)
	for i, l := range lines {
		c.write(shorten(l.heading, bold, c.inner()), bold, ink, 0, margin+2, l.start-sectionLine/2)
		if begins(i) {
			c.write(shorten(l.Group, bold, groupColumn-4), bold, ink, 0, margin+2, l.name)
		}
		room := names - 8
		if c.narrow() {
			room = c.width - margin - left
		}
		c.write(shorten(l.Name, regular, room), regular, ink, 0, left, l.name)
		if len(l.Cells) == 0 {
			c.write(shorten(l.Text, regular, c.width-margin-figures), regular, muted, 0, figures, l.middle())
		}
	}
}

// span covers what a panel shows.
func (r *Rows) span(p Panel, panel int) span {
	var centres, ends []float64
	if p.Line != 0 {
		centres = append(centres, p.Line)
		ends = append(ends, p.BandLow, p.BandHigh)
	}
	for _, row := range r.Rows {
		if len(row.Cells) == 0 {
			continue
		}
		cell := row.Cells[panel]
		centres = append(centres, cell.Dots...)
		for _, m := range cell.Marks {
			centres = append(centres, m.Center)
			ends = append(ends, m.Low, m.High)
		}
		sum := 0.0
		for _, v := range cell.Parts {
			if !math.IsNaN(v) {
				sum += v
			}
		}
		if len(cell.Parts) > 0 {
			centres = append(centres, 0, sum)
		}
	}
	s := p.Axis.span(centres, ends)
	if len(r.Parts) > 0 {
		s.min = 0
	}
	return s
}

// drawPanel draws a panel in layers, the marks last. Lines run where rows have figures:
// through names and reasons they would make them hard to read.
func (r *Rows) drawPanel(c *canvas, panel int, s scale, ticks []float64, lines []line, textEnd float64) {
	p := r.Panels[panel]
	each := func(draw func(l line, cell Cell)) {
		for _, l := range lines {
			if len(l.Cells) > 0 {
				draw(l, l.Cells[panel])
			}
		}
	}
	if p.BandHigh > p.BandLow {
		each(func(l line, _ Cell) {
			c.rectangle(band, s.at(math.Max(p.BandLow, s.min)), l.top, s.at(math.Min(p.BandHigh, s.max)), l.bottom)
		})
	}
	each(func(l line, _ Cell) {
		for _, v := range ticks {
			c.draw(pen{role: faint, width: 1}, s.at(v), l.top, s.at(v), l.bottom)
		}
	})
	if p.Line != 0 {
		each(func(l line, _ Cell) {
			c.draw(pen{role: muted, width: 1.5, dash: "5 3"}, s.at(p.Line), l.top, s.at(p.Line), l.bottom)
		})
	}
	if len(r.Rows) > manyRows {
		c.tickWords(s, ticks, c.y-lineHeight/2)
	}
	each(func(l line, cell Cell) { r.drawSingles(c, s, cell, l.middle()) })
	for i := range 2 * Series { // the whiskers of each series, then its marks
		each(func(l line, cell Cell) {
			if i/2 >= len(cell.Marks) {
				return
			}
			switch at, ok := s.place(cell.Marks[i/2]); {
			case ok && i%2 == 0:
				c.interval(r.pen(i/2), at, l.middle(), false)
			case ok && len(r.Parts) == 0:
				c.mark(i/2, at.centre, l.middle(), !at.known)
			}
		})
	}
	each(func(l line, cell Cell) { c.write(cell.Text, regular, ink, 1, textEnd, l.middle()) })
}

// drawSingles draws a stack, and dots below the interval.
func (r *Rows) drawSingles(c *canvas, s scale, cell Cell, y float64) {
	end := 0.0
	for i, v := range cell.Parts {
		if v > 0 { // NaN is not
			c.bar(i, s.at(end), y-7, s.at(math.Min(end+v, s.max)), y+7)
			end += v
		}
	}
	for _, v := range cell.Dots {
		if s.usable(v) {
			c.dot(muted, s.at(v), y+7.5, dotRadius)
		}
	}
}
