package chart

import (
	"strings"
	"sync"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	fontSize   vg.Length = 12
	lineHeight vg.Length = 17
	bold                 = xfont.WeightBold
)

// The fonts: metrics of Liberation Sans are those of Arial.
var (
	regular = font.Font{Typeface: "Liberation", Variant: "Sans", Size: fontSize}
	strong  = font.Font{Typeface: "Liberation", Variant: "Sans", Weight: bold, Size: fontSize}
)

// style is how gonum's axes write.
func style(f font.Font, colour role, x draw.XAlignment, y draw.YAlignment) text.Style {
	return text.Style{Color: colour, Font: f, XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler}
}

// write writes one line, its middle at the point's height.
func write(c *draw.Canvas, words string, f font.Font, colour role, align draw.XAlignment, at vg.Point) {
	if words == "" {
		return
	}
	face := font.DefaultCache.Lookup(f, f.Size)
	switch align {
	case draw.XRight:
		at.X -= widthOf(words, f)
	case draw.XCenter:
		at.X -= widthOf(words, f) / 2
	}
	c.SetColor(colour)
	const capitals = 0.72 // their height, as a share of the size
	c.FillString(face, vg.Point{X: at.X, Y: at.Y - f.Size*capitals/2}, words)
}

// latin is how many letters' widths are known beforehand: those that nearly all
// names are made of. The others are remembered.
const latin = 256

// plain and fat are the widths of the two fonts.
var (
	plain = sync.OnceValue(func() *letters { return newLetters(regular) })
	fat   = sync.OnceValue(func() *letters { return newLetters(strong) })
)

// letters are the widths of a font's letters.
type letters struct {
	face   font.Face
	known  [latin]vg.Length
	others sync.Map // of rune to vg.Length
}

func newLetters(f font.Font) *letters {
	l := &letters{face: font.DefaultCache.Lookup(f, f.Size)}
	for r := range l.known {
		l.known[r] = l.face.Width(string(rune(r)))
	}
	return l
}

// width is how wide a letter is.
func (l *letters) width(r rune) vg.Length {
	if r >= 0 && r < latin {
		return l.known[r]
	}
	if width, known := l.others.Load(r); known {
		return width.(vg.Length)
	}
	width := l.face.Width(string(r))
	l.others.Store(r, width)
	return width
}

// widthOf is how much room a text needs: that of its letters, without kerning.
func widthOf(words string, f font.Font) vg.Length {
	widths := plain()
	if f.Weight == bold {
		widths = fat()
	}
	total := vg.Length(0)
	for _, r := range words {
		total += widths.width(r)
	}
	return total
}

const ellipsis = "…"

// shorten leaves out of the middle of a text what does not fit.
func shorten(words string, f font.Font, room vg.Length) string {
	runes := []rune(words)
	if widthOf(words, f) <= room {
		return words
	}
	for keep := min(len(runes)-1, int(room/3)); keep > 0; keep-- {
		short := string(runes[:(keep+1)/2]) + ellipsis + string(runes[len(runes)-keep/2:])
		if widthOf(short, f) <= room {
			return short
		}
	}
	return ellipsis
}

// shortenEnd leaves out the end of a text that does not fit.
func shortenEnd(words string, f font.Font, room vg.Length) string {
	runes := []rune(words)
	if widthOf(words, f) <= room {
		return words
	}
	for keep := min(len(runes)-1, int(room/3)); keep > 0; keep-- {
		if short := strings.TrimRight(string(runes[:keep]), " ") + ellipsis; widthOf(short, f) <= room {
			return short
		}
	}
	return ellipsis
}

// wrap breaks a text at spaces. A word that is too long is shortened.
func wrap(words string, f font.Font, room vg.Length) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(words) {
		word = shorten(word, f, room)
		if longer := line + " " + word; line != "" && widthOf(longer, f) <= room {
			line = longer
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line = word
	}
	return append(lines, line)
}
