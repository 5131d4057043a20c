package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/doc/chart"
	"assay/internal/stat"
)

// lookView holds what the page begins with: all tables as a heat map, and all ratios in one
// picture. Both exist for every baseline; the page shows one, and its script the others.
type lookView struct {
	Columns  []columnView
	Profiles bool
	Lines    []lookLine
	Groups   []lookGroup // of the picture: a column each
	Axis     template.HTML
	Baseline string
	Legend   string
	Views    lookViews
}

type columnView struct {
	Driver, Profile, Name string
	Baseline              bool // of the page without its script
	Choice                bool // can be the baseline
}

// lookLine is a table; its name and its figures lead to its section.
type lookLine struct {
	Label, Anchor, Operation string
	Cells                    []*lookCell // nil: there is no such cell
}

// lookGroup is all ratios of a column, sorted.
type lookGroup struct {
	Name   string
	Hidden bool // has no ratios: it is the baseline
	Rows   []lookRow
}

type lookRow struct {
	Line          int
	Label, Anchor string
	Cell          *lookCell
	Drawing       template.HTML
}

// lookCell is a cell of the heat map.
type lookCell struct {
	Text string      `json:"t"`
	Tip  string      `json:"d"`           // what it is, with its interval and how many launches it comes from
	Look string      `json:"c"`           // its class
	Mark *[3]float64 `json:"r,omitempty"` // where the ratio lies in the picture, from and to where; nil: there is none

	ratio *stat.Interval
}

// lookViews are the cells for each baseline, as the script has them.
type lookViews struct {
	Baseline int         `json:"baseline"` // of the page
	Names    []string    `json:"names"`    // of the columns
	Views    []*baseView `json:"views"`    // by column; null: it cannot be the baseline
}

type baseView struct {
	*chart.Strip
	Cells [][]*lookCell `json:"cells"` // by line and column
}

// maxViews is how many cells a page may have for the choice of a baseline: with more, it
// has only its own.
const maxViews = 3000

// look builds it, with links to the tables of the page.
func (r *Report) look(a analysis.Answer, anchors map[*analysis.Table]string) *lookView {
	if len(r.Tables) == 0 {
		return nil
	}
	m := r.matrix(a).briefly()
	v := &lookView{Profiles: m.hasProfiles(), Baseline: m.baseline}
	v.Views = lookViews{Baseline: a.Baseline, Views: make([]*baseView, len(m.columns))}
	all := len(m.lines)*len(m.columns)*len(m.columns) <= maxViews
	for i, c := range m.columns {
		one := columnView{Driver: wording.Clean(c.Driver), Profile: wording.Clean(c.Profile), Name: wording.Clean(c.Name()), Baseline: i == a.Baseline}
		if i == a.Baseline || all && a.Baseline >= 0 {
			v.Views.Views[i] = r.baseView(a, m, i)
			one.Choice = true
		}
		v.Columns, v.Views.Names = append(v.Columns, one), append(v.Views.Names, one.Name)
	}
	own := r.baseView(a, m, a.Baseline)
	for i, l := range m.lines {
		v.Lines = append(v.Lines, lookLine{l.label, anchors[l.table], wording.Clean(l.table.Cell().Operation), own.Cells[i]})
	}
	v.addGroups(own)
	var text strings.Builder // of all views: the script shows one in place of another
	for _, view := range append(v.Views.Views, own) {
		if view == nil {
			continue
		}
		for _, c := range slices.Concat(view.Cells...) {
			if c != nil {
				text.WriteString(c.Text)
			}
		}
	}
	v.Legend = strings.Join(append(markWords(text.String(), "of another durability, not compared"), m.circumstances...), "; ")
	return v
}

// addGroups draws the picture: the largest ratio of each column first.
func (v *lookView) addGroups(own *baseView) {
	v.Axis = template.HTML(own.Axis()) // package chart escapes its texts
	for i, c := range v.Columns {
		g := lookGroup{Name: c.Name, Hidden: true}
		for k, l := range v.Lines {
			drawn := func(view *baseView) bool { return view != nil && view.Cells[k][i].drawn() }
			if !slices.ContainsFunc(append(v.Views.Views, own), drawn) {
				continue
			}
			row := lookRow{Line: k, Label: l.Label, Anchor: l.Anchor, Cell: l.Cells[i]}
			place := chart.Mark{}
			if mark := row.Cell.Mark; mark != nil {
				place, g.Hidden = chart.Mark{At: mark[0], From: mark[1], To: mark[2]}, false
			}
			row.Drawing = template.HTML(chart.StripLine(place))
			g.Rows = append(g.Rows, row)
		}
		slices.SortStableFunc(g.Rows, func(x, y lookRow) int { return cmp.Compare(y.Cell.center(), x.Cell.center()) })
		v.Groups = append(v.Groups, g)
	}
}

// drawn reports whether the cell has a ratio.
func (c *lookCell) drawn() bool { return c != nil && c.ratio != nil }

// center is the ratio; 0 where there is none.
func (c *lookCell) center() float64 {
	if c.ratio == nil {
		return 0
	}
	return c.ratio.Center
}

// baseView compares all columns with one.
func (r *Report) baseView(a analysis.Answer, m *matrix, baseline int) *baseView {
	everywhere := r.everywhere()
	v := &baseView{}
	var ratios []chart.Interval
	margin := 0.0
	for _, l := range m.lines {
		margin = max(margin, l.table.Margin)
		cells := make([]*lookCell, len(m.columns))
		if l.tail {
			for i, e := range l.entries {
				cells[i] = &lookCell{Text: e.text}
			}
			v.Cells = append(v.Cells, cells)
			continue
		}
		line := a.LineAgainst(baseline, l.table)
		for i, e := range line.Entries {
			entry := newEntry(e, l.table, i == baseline || baseline < 0 || line.Entries[baseline].Row == nil, everywhere)
			cells[i] = newLookCell(entry, e, l.table, i == baseline)
			if cells[i].drawn() {
				ratios = append(ratios, doc.Drawable(*cells[i].ratio))
			}
		}
		v.Cells = append(v.Cells, cells)
	}
	v.Strip = chart.NewStrip(ratios, margin, func(v float64) string { return digitsTick(v) + "x" })
	for _, cells := range v.Cells {
		for _, c := range cells {
			if c.drawn() {
				mark := v.Mark(doc.Drawable(*c.ratio))
				c.Mark = &[3]float64{mark.At, mark.From, mark.To}
			}
		}
	}
	return v
}

// newLookCell words a cell, and gives it the colour of its ratio. What is not compared has none.
func newLookCell(entry matrixEntry, e analysis.Entry, t *analysis.Table, base bool) *lookCell {
	c := &lookCell{Text: entry.brief, Look: "none"}
	switch {
	case e.Standing == analysis.Missing && e.Row == nil:
		return nil
	case e.Standing == analysis.Missing:
		c.Tip = ended(e.Row)
		return c
	case e.Standing == analysis.Bad:
		c.Look, c.Tip = "none bad", ended(e.Row)
		if e.Row.BusyByDefault {
			c.Tip = "fails as busy by default: not compared"
		}
		return c
	}
	f, _ := e.Row.Figure(t.Primary.Name)
	c.Tip = figureTip(f)
	switch {
	case base:
		c.Look, c.Tip = "base", "the baseline: "+c.Tip
	case e.Apart:
		c.Tip += fmt.Sprintf("; it promises %s: not compared with the baseline", apartAs(e.Row))
	case e.Cost == nil:
		c.Tip += "; not compared with the baseline"
	default:
		c.ratio, c.Look = e.Cost, heat(*e.Cost, t.Margin)
		c.Tip = ratioTip(*e.Cost, e.Standing) + "; " + c.Tip
	}
	if e.Standing == analysis.Open {
		c.Look += " open"
	}
	if entry.look == best {
		c.Look += " best"
	}
	return c
}

func ratioTip(i stat.Interval, s analysis.Standing) string {
	words := wording.Digits(i.Center) + "x, no interval"
	if i.Known() {
		words = wording.Times(i)
	}
	words += fmt.Sprintf(", n = %d", i.N)
	if s == analysis.Open {
		words += ", undecided"
	}
	return words
}

func figureTip(f analysis.Figure) string {
	words := wording.Human(f.Interval.Center, f.Metric.Unit)
	if f.Interval.Known() {
		words += fmt.Sprintf(" [%s, %s]", wording.Human(f.Interval.Low, f.Metric.Unit), wording.Human(f.Interval.High, f.Metric.Unit))
	}
	return fmt.Sprintf("%s %s, n = %d", f.Metric.Name, words, f.Interval.N)
}

// heats are the ratios at which a colour of the heat map ends. The fourth one is that of what
// counts as equal.
var heats = [...]float64{0.5, 0.8, 1, 1, 1.25, 1.5, 2, 4, math.Inf(1)}

// heat is the class of a ratio's colour.
func heat(ratio stat.Interval, margin float64) string {
	if ratio.Center <= 1+margin && ratio.Center >= 1/(1+margin) {
		return "h3"
	}
	for i, end := range heats {
		if i != 3 && ratio.Center <= end {
			return fmt.Sprint("h", i)
		}
	}
	return "none"
}

// durabilityPrice says what the classes of durability cost that the leading driver was
// measured with: they are not compared to choose by speed.
func (r *Report) durabilityPrice(a analysis.Answer) doc.Document {
	lead := a.Lead()
	if lead == nil || !slices.ContainsFunc(r.Tables, func(t *analysis.Table) bool { return t.Changes }) {
		return nil
	}
	var d doc.Document
	d.Add(doc.Heading, "What durability costs")
	others := r.otherPromises(lead)
	if len(others) == 0 {
		d.Add(doc.Paragraph, "No operation of %s was measured with two classes of durability. A profile that syncs commits otherwise shows what more or less of it costs.", with(lead))
		return d
	}
	grid := doc.Grid{Header: []string{"table", lead.Cell.Profile}, Right: []bool{false, true}}
	lines := map[*analysis.Table][]string{}
	for i, profile := range others {
		grid.Header, grid.Right = append(grid.Header, profile), append(grid.Right, true)
		for _, t := range r.Tables {
			own, other := rowOf(t, lead.Driver, lead.Cell.Profile), rowOf(t, lead.Driver, profile)
			if own == nil || other == nil || !t.Changes || other.Unequal(own) == nil {
				continue
			}
			if lines[t] == nil {
				lines[t] = append([]string{r.label(t), promisedFigure(t, own)}, slices.Repeat([]string{"-"}, len(others))...)
			}
			lines[t][i+2] = promisedFigure(t, other)
			if c, _, err := other.Against(own, t.Primary); err == nil && c.Ratio.N > 0 {
				lines[t][i+2] = priceText(analysis.Cost(c.Ratio, t.Primary)) + ": " + lines[t][i+2]
			}
		}
	}
	for _, t := range r.Tables {
		if lines[t] != nil {
			grid.Rows = append(grid.Rows, lines[t])
		}
	}
	d.Add(doc.Paragraph, "Time of %s by profile; x: times that of %s. What a profile does not promise, it does not pay for: this is a price, not a ranking.", lead.Driver, cmp.Or(lead.Cell.Profile, "the pick"))
	d.AddTable(grid)
	has := map[assay.Durability]bool{}
	for row := range r.Rows() {
		has[row.Durability] = has[row.Durability] || row.Driver == lead.Driver && row.Table.Changes
	}
	for _, c := range slices.Backward(assay.Durabilities[1:]) { // but for the unknown one
		if has[c] {
			d.Add(doc.Item, "%s: %s", c, c.Loss())
		}
	}
	return d
}

// priceText returns how many times more something costs; without an interval only about.
func priceText(i stat.Interval) string {
	if !i.Known() {
		return "about " + wording.Significant(i.Center, 1) + "x"
	}
	return fmt.Sprintf("%sx [%s, %s]", wording.Significant(i.Center, 2), wording.Significant(i.Low, 2), wording.Significant(i.High, 2))
}

// otherPromises are the profiles of the row's driver that promise something else, the next
// stronger and weaker classes first.
func (r *Report) otherPromises(lead *analysis.Row) []string {
	var all []string
	for _, t := range r.Tables {
		own := rowOf(t, lead.Driver, lead.Cell.Profile)
		if own == nil || !t.Changes {
			continue
		}
		for _, row := range t.Rows {
			if row.Driver == lead.Driver && row.Comparable() && row.Unequal(own) != nil && !slices.Contains(all, row.Cell.Profile) {
				all = append(all, row.Cell.Profile)
			}
		}
	}
	return all
}

func rowOf(t *analysis.Table, driver, profile string) *analysis.Row {
	i := slices.IndexFunc(t.Rows, func(row *analysis.Row) bool {
		return row.Driver == driver && row.Cell.Profile == profile && row.Comparable()
	})
	if i < 0 {
		return nil
	}
	return t.Rows[i]
}

// promisedFigure is a figure with the class of durability that it was measured at.
func promisedFigure(t *analysis.Table, row *analysis.Row) string {
	f, has := row.Figure(t.Primary.Name)
	if !has {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", shownFigure(f.Interval, f.Metric.Unit), analysis.Class(row.Durability))
}
