package chart

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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

// Cell is what a row has in a panel.
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
		items = append(items, legendItem{name, func(c *draw.Canvas, at vg.Rectangle) { bar(c, i, at) }})
	}
	for i, name := range r.Marks {
		items = append(items, legendItem{name, func(c *draw.Canvas, at vg.Rectangle) { r.sample(c, i, at) }})
	}
	if r.Dots != "" {
		items = append(items, legendItem{r.Dots, func(c *draw.Canvas, at vg.Rectangle) {
			c.SetColor(muted)
			for i := range 3 {
				dot(c, vg.Point{X: at.Min.X + vg.Length(4+8*i), Y: at.Min.Y + sampleHeight/2}, dotRadius)
			}
		}})
	}
	return append(items, r.unlike()...)
}

// sample draws a mark on its interval.
func (r *Rows) sample(c *draw.Canvas, i int, at vg.Rectangle) {
	colour := seriesRole(i)
	if len(r.Parts) > 0 {
		colour = ink
	}
	sample(c, colour, at, false)
	if len(r.Parts) == 0 {
		mark(c, i, centre(at), false)
	}
}

// unlike are the legend's words for intervals that are not drawn as a whole.
func (r *Rows) unlike() []legendItem {
	unknown, cut := false, false
	for i, p := range r.Panels {
		s := r.span(i)
		for _, row := range r.Rows {
			if len(row.Cells) == 0 {
				continue
			}
			for _, m := range row.Cells[i].Marks {
				if at := p.place(m, s, func(float64) vg.Length { return 0 }); p.usable(m.Center) {
					unknown = unknown || !at.known
					cut = cut || at.cutLow || at.cutHigh
				}
			}
		}
	}
	return unlike(unknown && len(r.Parts) == 0, cut)
}

const (
	wideRow      vg.Length = 24
	narrowRow    vg.Length = 42
	nameLine     vg.Length = 18 // of a narrow row, above its marks
	sectionLine  vg.Length = 22
	ticksLine    vg.Length = 22
	groupColumn  vg.Length = 46
	panelGap     vg.Length = 22
	maxNameWidth vg.Length = 250
	manyRows               = 14 // with more, ticks stand above the rows too
	widestNarrow           = 600
)

// narrow tells which layout a width gets.
func (w Width) narrow() bool { return w < widestNarrow }

// line is a section's heading or a row, with its place below the top.
type line struct {
	heading     string
	row         int // of a heading, that of the row that follows
	top, height vg.Length
}

func (l line) isRow() bool { return l.heading == "" }

// lines places headings and rows.
func (r *Rows) lines(width Width) (all []line, height vg.Length) {
	high := wideRow
	if width.narrow() {
		high = narrowRow
	}
	for i, row := range r.Rows {
		if row.Section != "" && (i == 0 || r.Rows[i-1].Section != row.Section) {
			all = append(all, line{heading: row.Section, row: i, top: height, height: sectionLine})
			height += sectionLine
		}
		all = append(all, line{row: i, top: height, height: high})
		height += high
	}
	return all, height
}

// blocks are the panels that stand side by side.
func (r *Rows) blocks(width Width) [][]int {
	var all []int
	for i := range r.Panels {
		all = append(all, i)
	}
	if width.narrow() {
		return slices.Collect(slices.Chunk(all, 1))
	}
	return [][]int{all}
}

// columns are where the parts of a block lie, from its left.
type columns struct {
	group, names vg.Length // widths
	panels       []vg.Length
	panel, texts vg.Length // widths: the plot, and the figures in words beside it
}

func (r *Rows) columns(width Width, panels []int) columns {
	var c columns
	if r.Grouped != "" {
		c.group = groupColumn
	}
	for _, row := range r.Rows {
		if !width.narrow() {
			c.names = min(maxNameWidth, max(c.names, widthOf(row.Name, regular)+10))
		}
		for _, i := range panels {
			if len(row.Cells) > 0 && row.Cells[i].Text != "" {
				c.texts = max(c.texts, widthOf(row.Cells[i].Text, regular)+8)
			}
		}
	}
	room := vg.Length(width) - 2*margin - c.group - c.names
	each := (room - panelGap*vg.Length(len(panels)-1)) / vg.Length(len(panels))
	c.panel = each - c.texts
	for i := range panels {
		c.panels = append(c.panels, c.group+c.names+vg.Length(i)*(each+panelGap))
	}
	return c
}

// heads are the lines of each panel's label.
func (r *Rows) heads(width Width, panels []int) (lines [][]string, height vg.Length) {
	cols := r.columns(width, panels)
	for _, i := range panels {
		label := wrap(r.Panels[i].Label, strong, cols.panel+cols.texts)
		lines = append(lines, label)
		height = max(height, vg.Length(len(label))*lineHeight)
	}
	if len(r.Rows) > manyRows {
		height += lineHeight
	}
	return lines, height + 4
}

func (r *Rows) height(width Width) vg.Length {
	_, rows := r.lines(width)
	total := vg.Length(0)
	for _, panels := range r.blocks(width) {
		_, head := r.heads(width, panels)
		total += head + rows + ticksLine + 6
	}
	return total
}

func (r *Rows) draw(c draw.Canvas, width Width) {
	_, rows := r.lines(width)
	for _, panels := range r.blocks(width) {
		_, head := r.heads(width, panels)
		high := head + rows + ticksLine + 6
		r.drawBlock(draw.Crop(c, 0, 0, c.Size().Y-high, 0), width, panels)
		c = draw.Crop(c, 0, 0, 0, -high)
	}
}

// drawBlock draws the names once and the panels side by side.
func (r *Rows) drawBlock(c draw.Canvas, width Width, panels []int) {
	heads, head := r.heads(width, panels)
	lines, rows := r.lines(width)
	cols := r.columns(width, panels)
	top := c.Max.Y - head
	r.drawShades(c, lines, top)
	spans := make([]span, len(panels))
	for k, i := range panels {
		left := c.Min.X + cols.panels[k]
		for j, words := range heads[k] {
			write(&c, words, strong, ink, draw.XLeft, vg.Point{X: left, Y: c.Max.Y - lineHeight*(vg.Length(j)+0.5)})
		}
		spans[k] = r.span(i)
		area := c
		area.Rectangle = vg.Rectangle{Min: vg.Point{X: left, Y: top - rows - ticksLine}, Max: vg.Point{X: left + cols.panel, Y: top}}
		r.drawPanel(area, panel{rows: r, index: i, span: spans[k], lines: lines, narrow: width.narrow(), top: top, textAt: left + cols.panel + cols.texts})
	}
	r.drawNames(c, width, cols, lines, top)
}

// span covers what a panel shows.
func (r *Rows) span(panel int) span {
	p := r.Panels[panel]
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
		if len(cell.Parts) > 0 {
			centres = append(centres, 0, sum(cell.Parts))
		}
	}
	s := p.Axis.span(centres, ends)
	if len(r.Parts) > 0 {
		s.min = 0
	}
	return s
}

// sum adds what is known.
func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			total += v
		}
	}
	return total
}

// drawPanel lets gonum's plot draw the axis and the grid, and the panel in it.
func (r *Rows) drawPanel(c draw.Canvas, p panel) {
	chart := plot.New()
	chart.BackgroundColor = nil
	chart.HideY()
	chart.Y.Padding, chart.X.Padding = 0, 0
	chart.Y.Min, chart.Y.Max = 0, 1
	chart.X.LineStyle = draw.LineStyle{Color: muted, Width: 1}
	chart.X.Tick.LineStyle = chart.X.LineStyle
	chart.X.Tick.Length = 4
	chart.X.Tick.Label = style(regular, muted, draw.XCenter, draw.YTop)
	r.Panels[p.index].apply(&chart.X, p.span, c.Size().X, 62)
	chart.Add(p)
	chart.Draw(c)
}
