package chart

import (
	"fmt"
	"image/color"
	"strings"
)

// role is what a colour is for. In SVG it is a class, so that a page's theme
// decides; elsewhere it is the colour of the light theme.
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

// theme is a role's colour on light and on dark paper.
type theme struct{ light, dark uint32 }

// themes are in the order of roles. Those of series keep a contrast of at
// least 3 with the paper.
var themes = []theme{
	{0xffffff, 0x15181c}, {0x1a1d21, 0xe8eaed}, {0x565c64, 0xa9afb7}, {0xe1e4e8, 0x343a41}, {0xf2f4f7, 0x1e2328}, {0xd3e5f6, 0x1f3b55},
	{0x0b62a8, 0x6cb6ff}, {0xb45309, 0xf0a45d}, {0x157f3b, 0x5cc98a}, {0x7c3aed, 0xb69cff},
	{0xc02942, 0xff8a8f}, {0x0f766e, 0x4fd1c5}, {0x7a4b2a, 0xd2a679}, {0xa21caf, 0xf08ee6},
}

// Series is how many series of Lines, marks or parts of Rows a chart can tell
// apart: more are an error.
const Series = 8

// seriesRole is the colour of the i-th series.
func seriesRole(i int) role { return series + role(i) }

// RGBA makes a role a color.Color.
func (r role) RGBA() (red, green, blue, alpha uint32) {
	c := themes[r].light
	return color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 0xff}.RGBA()
}

// Style is the style sheet that an SVG of this package without one needs: the
// classes of its colours on light paper, on dark paper where that is
// preferred, and on light paper in print.
func Style() string {
	rules := func(colour func(theme) uint32) string {
		var s strings.Builder
		for i, t := range themes {
			fmt.Fprintf(&s, ".f%d{fill:#%06x}.s%d{stroke:#%06x;fill:none}", i, colour(t), i, colour(t))
		}
		return s.String()
	}
	light := rules(func(t theme) uint32 { return t.light })
	dark := rules(func(t theme) uint32 { return t.dark })
	return light + "@media screen and (prefers-color-scheme:dark){" + dark + "}"
}
