package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// svg draws on SVG: text stays text, colours are classes, and there is no
// style attribute, which a strict content policy forbids. One vg point is one
// unit. Strokes and fills that follow each other and look alike are one
// element.
type svg struct {
	width, height vg.Length
	fallback      bool // colours as attributes too, for viewers without style sheets
	body          bytes.Buffer
	state         svgState
	saved         []svgState
	open          look // of the path that is being drawn
	path          []byte
}

// svgState is what Push saves.
type svgState struct {
	colour role
	line   vg.Length
	dash   []vg.Length
}

// Size is for vg.CanvasSizer.
func (s *svg) Size() (width, height vg.Length) { return s.width, s.height }

// SetLineWidth is for vg.Canvas, like all that follow.
func (s *svg) SetLineWidth(w vg.Length) { s.state.line = w }

// SetLineDash sets the pattern; charts use no offset.
func (s *svg) SetLineDash(pattern []vg.Length, _ vg.Length) { s.state.dash = pattern }

// SetColor takes roles; what gonum sets by itself is ink.
func (s *svg) SetColor(c color.Color) {
	r, ok := c.(role)
	if !ok {
		r = ink
	}
	s.state.colour = r
}

// Rotate does nothing, like Translate, Scale and DrawImage: no chart of this
// package uses them.
func (s *svg) Rotate(float64) {}

// Translate does nothing.
func (s *svg) Translate(vg.Point) {}

// Scale does nothing.
func (s *svg) Scale(_, _ float64) {}

// DrawImage does nothing.
func (s *svg) DrawImage(vg.Rectangle, image.Image) {}

// Push saves colour, line and dash.
func (s *svg) Push() { s.saved = append(s.saved, s.state) }

// Pop restores what the last Push saved.
func (s *svg) Pop() {
	last := len(s.saved) - 1
	s.state, s.saved = s.saved[last], s.saved[:last]
}

// Stroke draws lines.
func (s *svg) Stroke(p vg.Path) {
	if s.state.line > 0 {
		s.begin(s.stroke(s.state.line, false))
		s.add(p)
	}
}

// Fill fills a path. A circle is a point of a round pen, which takes fewer
// bytes than its outline.
func (s *svg) Fill(p vg.Path) {
	if centre, radius, ok := circle(p); ok {
		s.begin(s.stroke(2*radius, true))
		s.path = append(s.at(append(s.path, 'M'), centre), "h0"...)
		return
	}
	s.begin(look{role: s.state.colour, fill: true})
	s.add(p)
	s.path = bytes.TrimSuffix(s.path, []byte("Z")) // a fill closes its paths
}

// circle reports whether a path is one, as draw.CircleGlyph makes it.
func circle(p vg.Path) (centre vg.Point, radius vg.Length, ok bool) {
	for _, c := range p {
		if c.Type == vg.ArcComp && math.Abs(c.Angle) >= 2*math.Pi {
			return c.Pos, c.Radius, true
		}
	}
	return vg.Point{}, 0, false
}

type look struct {
	role  role
	fill  bool
	width vg.Length
	round bool
	dash  string
}

// stroke is the look of lines.
func (s *svg) stroke(width vg.Length, round bool) look {
	l := look{role: s.state.colour, width: width, round: round}
	if len(s.state.dash) > 0 {
		var dash []byte
		for _, d := range s.state.dash {
			dash = append(number(dash, d), ' ')
		}
		l.dash = string(bytes.TrimSpace(dash))
	}
	return l
}

// begin goes on with the open path where that looks alike, or begins another.
func (s *svg) begin(l look) {
	if l != s.open {
		s.flush()
		s.open = l
	}
}

func (s *svg) flush() {
	if len(s.path) == 0 {
		return
	}
	l := s.open
	s.body.WriteString("<path")
	if l.fill {
		s.colour("f", "fill", l.role)
	} else {
		s.colour("s", "stroke", l.role)
		if s.fallback {
			s.body.WriteString(` fill="none"`)
		}
		if l.width != 1 {
			s.attribute("stroke-width", l.width)
		}
	}
	if l.dash != "" {
		s.body.WriteString(` stroke-dasharray="` + l.dash + `"`)
	}
	if l.round {
		s.body.WriteString(` stroke-linecap="round"`)
	}
	s.body.WriteString(` d="`)
	s.body.Write(s.path)
	s.body.WriteString(`"/>`)
	s.path = s.path[:0]
}

// colour writes the attributes of a role.
func (s *svg) colour(class, attribute string, r role) {
	s.body.WriteString(` class="` + class + strconv.Itoa(int(r)) + `"`)
	if s.fallback {
		fmt.Fprintf(&s.body, ` %s="#%06x"`, attribute, themes[r].light)
	}
}

// attribute writes one that is a length.
func (s *svg) attribute(name string, l vg.Length) {
	s.body.WriteString(" " + name + `="`)
	s.body.Write(number(s.body.AvailableBuffer(), l))
	s.body.WriteByte('"')
}

// add writes a path's moves, lines and ends; charts have no other curves than
// circles.
func (s *svg) add(p vg.Path) {
	var last vg.Point
	for _, c := range p {
		switch {
		case c.Type == vg.MoveComp:
			s.path = s.at(append(s.path, 'M'), c.Pos)
		case c.Type == vg.LineComp && c.Pos.Y == last.Y:
			s.path = number(append(s.path, 'H'), c.Pos.X)
		case c.Type == vg.LineComp && c.Pos.X == last.X:
			s.path = number(append(s.path, 'V'), s.height-c.Pos.Y)
		case c.Type == vg.LineComp:
			s.path = s.at(append(s.path, 'L'), c.Pos)
		case c.Type == vg.CloseComp:
			s.path = append(s.path, 'Z')
		}
		last = c.Pos
	}
}

// at appends a point; SVG counts from the top.
func (s *svg) at(to []byte, p vg.Point) []byte {
	return number(append(number(to, p.X), ' '), s.height-p.Y)
}

// FillString writes text as text, as wide as the font that the layout was made
// with.
func (s *svg) FillString(face font.Face, at vg.Point, text string) {
	s.flush()
	s.body.WriteString("<text")
	s.attribute("x", at.X)
	s.attribute("y", s.height-at.Y)
	if face.Font.Weight == bold {
		s.body.WriteString(` font-weight="bold"`)
	}
	s.attribute("textLength", widthOf(text, face.Font))
	s.body.WriteString(` lengthAdjust="spacingAndGlyphs"`)
	s.colour("f", "fill", s.state.colour)
	s.body.WriteString(">" + escape(text) + "</text>")
}

// escape is text as XML has it.
func escape(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a strings.Builder does not fail
	return out.String()
}

// number appends a length in tenths of a unit.
func number(to []byte, l vg.Length) []byte {
	tenths := int64(math.Round(float64(l) * 10))
	if tenths < 0 {
		to, tenths = append(to, '-'), -tenths
	}
	to = strconv.AppendInt(to, tenths/10, 10)
	if tenths%10 != 0 {
		to = append(to, '.', byte('0'+tenths%10))
	}
	return to
}

// document is the whole element. With a style sheet of its own it is a file.
func (s *svg) document(title, description string) []byte {
	s.flush()
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %[1]s %[2]s" width="%[1]s" height="%[2]s" font-family="Arial, Helvetica, Liberation Sans, sans-serif" font-size="%[3]s">`,
		number(nil, s.width), number(nil, s.height), number(nil, fontSize))
	fmt.Fprintf(&out, "<title>%s</title><desc>%s</desc>", escape(title), escape(description))
	if s.fallback {
		fmt.Fprintf(&out, "<style>%s</style>", Style())
	}
	out.Write(s.body.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}
