package chart

import (
	"fmt"
	"math"
	"strings"
)

// Strip draws ratios in the lines of a table, all to one log scale. Places are in percent of
// a line, which may have any width.
type Strip struct {
	One   float64    `json:"one"`  // where 1 is
	Band  [2]float64 `json:"band"` // from where to where ratios count as equal
	Ticks []Tick     `json:"ticks"`
	scale scale
}

// Tick is a value of a strip's axis.
type Tick struct {
	At   float64 `json:"at"`
	Text string  `json:"text"`
}

// Mark says where a ratio lies with its interval; both ends are at the ratio where it has none.
type Mark struct{ At, From, To float64 }

// minWhisker is how long the line of an interval is at least, in percent.
const minWhisker = 0.1

// stripTicks is about how many ticks there are.
const stripTicks = 4

// NewStrip finds the scale of some ratios; those within the margin of 1 count as equal.
func NewStrip(ratios []Interval, margin float64, tick func(float64) string) *Strip {
	band := [2]float64{1 / (1 + margin), 1 + margin}
	centres, ends := []float64{1}, band[:]
	for _, i := range ratios {
		centres, ends = append(centres, i.Center), append(ends, i.Low, i.High)
	}
	axis := Axis{Log: true, Tick: tick}
	s := &Strip{scale: scale{axis, axis.span(centres, ends), 0, 100}}
	s.One, s.Band = s.at(1), [2]float64{s.at(band[0]), s.at(band[1])}
	for _, v := range s.scale.ticks(s.scale.span, stripTicks) {
		s.Ticks = append(s.Ticks, Tick{s.at(v), tick(v)})
	}
	return s
}

// Mark returns where a ratio lies.
func (s *Strip) Mark(i Interval) Mark {
	m := Mark{s.at(i.Center), s.at(i.Center), s.at(i.Center)}
	if !math.IsNaN(i.Low) && !math.IsNaN(i.High) {
		m.From = s.at(i.Low)
		m.To = max(s.at(i.High), m.From+minWhisker)
	}
	return m
}

// at returns where a ratio lies; what is beyond the scale lies at its end.
func (s *Strip) at(v float64) float64 {
	if v < s.scale.min {
		return 0
	}
	return math.Round(10*s.scale.at(math.Min(v, s.scale.max))) / 10
}

// StripLine draws a ratio over what the axis of its strip has drawn: hollow where it has no
// interval.
func StripLine(m Mark) string {
	look := "mark"
	if m.From == m.To {
		look = "mark hollow"
	}
	return fmt.Sprintf(`<svg class="strip" aria-hidden="true"><use href="#one"/><line x1="%g%%" x2="%g%%" y1="50%%" y2="50%%"/><circle class="%s" cx="%g%%" cy="50%%" r="4"/></svg>`,
		m.From, m.To, look, m.At)
}

// Axis draws the ticks, to stand above the lines, and what all of these have: 1, and the band
// around it.
func (s *Strip) Axis() string {
	var out strings.Builder
	fmt.Fprintf(&out, `<svg class="strip axis" aria-hidden="true"><defs><g id="one"><rect class="f%[4]d" x="%[1]g%%" width="%[2]g%%" height="100%%"/><line class="s%[5]d" stroke-dasharray="4 3" x1="%[3]g%%" x2="%[3]g%%" y2="100%%"/></g></defs>`,
		s.Band[0], s.Band[1]-s.Band[0], s.One, band, muted)
	for _, t := range s.Ticks {
		fmt.Fprintf(&out, `<text x="%g%%" y="13">%s</text>`, t.At, escape(t.Text))
	}
	out.WriteString("</svg>")
	return out.String()
}
