package analysis

import (
	"math"
	"strings"
)

// ofLayouts takes an equivalence away from two drivers of which one has one layout.
func (c Comparison) ofLayouts(a, b *Row) Comparison {
	if a.Cell.Driver != b.Cell.Driver && (a.oneLayout() || b.oneLayout()) {
		c.Comparison = c.OfOneLayout()
	}
	return c
}

// oneLayout reports whether all launches of a row are of one link layout.
func (r *Row) oneLayout() bool {
	seen := map[int]bool{}
	for _, t := range r.Counted() {
		seen[t.Layout] = true
	}
	return len(seen) < 2
}

// warnOfLayouts marks ratios of two drivers to which the layout of code belongs that did
// not vary. C code never does.
func (r *Result) warnOfLayouts() {
	withC := map[string]bool{}
	for _, t := range r.Run.Targets {
		withC[t.Name()] = t.Facts["cgo"] == "true"
	}
	for row := range r.Rows() {
		if !row.compared() || row.Cell.Driver == row.Reference.Cell.Driver {
			continue
		}
		var same []string
		for _, one := range []*Row{row.Reference, row} {
			switch {
			case one.oneLayout():
				same = append(same, one.Driver)
			case withC[one.Cell.Target()]:
				same = append(same, "the C code of "+one.Driver)
			}
		}
		if f, _ := row.Figure(row.Table.Primary.Name); len(same) > 0 && f.Ratio != nil {
			row.warn("layout", -math.Abs(math.Log(f.Ratio.Center)), "a difference of a few percent, up to ten, can be their order alone",
				"the functions of %s lie in the same order in all launches", strings.Join(same, " and "))
		}
	}
}
