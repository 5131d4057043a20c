package chart

import (
	"fmt"
	"math"
	"slices"
)

// Facets is curves of several things beside each other. On log scales, each panel covers the
// same factor, so that equal slopes are equal changes.
type Facets struct {
	Panels []Facet // with the same axes but for what they cover
	Alike  bool    // all panels cover the same figures
	names  []string
}

// Facet is one of them.
type Facet struct {
	Title string
	*Lines
}

// series are the names of all curves, each once.
func (f *Facets) series() []string {
	if f.names == nil {
		for _, p := range f.Panels {
			for _, s := range p.Series {
				if !slices.Contains(f.names, s.Name) {
					f.names = append(f.names, s.Name)
				}
			}
		}
	}
	return f.names
}

func (f *Facets) check() error {
	if n := len(f.series()); n == 0 || n > Series {
		return fmt.Errorf("it has %d curves, and can have 1 to %d", n, Series)
	}
	for _, p := range f.Panels {
		if err := p.check(); err != nil {
			return fmt.Errorf("%s: %w", p.Title, err)
		}
	}
	return nil
}

func (f *Facets) legend() []legendItem {
	all := &Lines{}
	for _, name := range f.series() {
		all.Series = append(all.Series, Curve{Name: name})
	}
	return all.legend()
}

const (
	facetWidth  = 300.0 // of a panel at least
	facetHeight = 130.0
)

func (f *Facets) draw(c *canvas) {
	columns := min(len(f.Panels), max(1, int(c.inner()/facetWidth)))
	each, spans := c.inner()/float64(columns), f.spans()
	c.paragraph(f.Panels[0].Y.Label+"; "+f.Panels[0].X.Label, bold, margin, c.inner())
	top, bottom := c.y+6, c.y
	for i, p := range f.Panels {
		if i%columns == 0 {
			top = bottom + 6
		}
		left := margin + float64(i%columns)*each
		c.y = top
		c.paragraph(p.Title, regular, left, each-10)
		c.y = max(c.y, top+2*lineHeight) // so that panels of one line stand alike
		p.plot(c, spans[i], left, left+each-10, facetHeight, func(k int) int { return slices.Index(f.series(), p.Series[k].Name) })
		bottom = max(bottom, c.y)
	}
	c.y = bottom
}

// spans returns what the panels cover.
func (f *Facets) spans() []span {
	all, factor := make([]span, len(f.Panels)), 1.0
	var of [2][]float64
	for i, p := range f.Panels {
		_, centres, ends := p.values()
		of[0], of[1] = append(of[0], centres...), append(of[1], ends...)
		all[i] = p.Y.span(centres, ends)
		factor = max(factor, all[i].max/all[i].min)
	}
	if f.Alike {
		return slices.Repeat([]span{f.Panels[0].Y.span(of[0], of[1])}, len(f.Panels))
	}
	for i, p := range f.Panels {
		if s := all[i]; p.Y.Log {
			more := math.Sqrt(factor / (s.max / s.min))
			all[i] = span{s.min / more, s.max * more}
		}
	}
	return all
}
