package chart

import "strings"

const (
	fontSize   = 12
	lineHeight = 17.0
	ellipsis   = "…"
)

// font is the share of a regular letter's width that a letter has.
type font float64

const (
	regular font = 1
	bold    font = 1.07
)

// letters are the widths of the letters from the space on in Arial and Helvetica, in
// thousandths of the size.
var letters = [...]float64{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

// widthOf returns how much room a text gets: viewers fit it to that, whatever their font.
func widthOf(words string, f font) float64 {
	total := 0.0
	for _, r := range words {
		switch i := int(r) - ' '; {
		case i >= 0 && i < len(letters):
			total += letters[i]
		case r < 0x1100:
			total += 600
		default: // scripts with wide letters, and the ellipsis
			total += 1000
		}
	}
	return total * float64(f) * fontSize / 1000
}

// write writes one line, its middle at y; align is the share of its width that lies
// left of x.
func (c *canvas) write(words string, f font, r role, align, x, y float64) {
	if words == "" {
		return
	}
	c.flush()
	width, weight := widthOf(words, f), ""
	if f == bold {
		weight = ` font-weight="bold"`
	}
	const baseline = 0.36 * fontSize // half a capital letter below the middle
	c.out.WriteString(`<text x="` + number(x-align*width) + `" y="` + number(y+baseline) + `"` + weight + ` textLength="` + number(width) +
		`" lengthAdjust="spacingAndGlyphs"` + pen{role: r}.look() + ">" + escape(words) + "</text>")
}

// paragraph writes lines at the left, and goes on below them.
func (c *canvas) paragraph(words string, f font, left, room float64) {
	for _, line := range wrap(words, f, room) {
		c.write(line, f, ink, 0, left, c.y+lineHeight/2)
		c.y += lineHeight
	}
}

// shorten leaves out of the middle of a text what does not fit.
func shorten(words string, f font, room float64) string {
	runes := []rune(words)
	for keep := len(runes); widthOf(words, f) > room && keep > 0; {
		keep = min(keep-1, int(room/2))
		words = string(runes[:max(0, keep+1)/2]) + ellipsis + string(runes[len(runes)-max(0, keep)/2:])
	}
	return words
}

// wrap breaks a text at spaces. A word that is too long is shortened.
func wrap(words string, f font, room float64) []string {
	var lines []string
	for _, word := range strings.Fields(words) {
		word = shorten(word, f, room)
		last := len(lines) - 1
		if last >= 0 && widthOf(lines[last]+" "+word, f) <= room {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

// legendItem is a name with a drawing of what it stands for, from x on around y.
type legendItem struct {
	name string
	draw func(c *canvas, x, y float64)
}

const sampleWidth = 26

// unlike explains hollow marks and arrows, where some were drawn.
func (c *canvas) unlike() []legendItem {
	var items []legendItem
	if c.unknown {
		items = append(items, legendItem{"no interval known", func(c *canvas, x, y float64) { c.mark(0, x+sampleWidth/2, y, true) }})
	}
	if c.cut {
		items = append(items, legendItem{"interval goes on", func(c *canvas, x, y float64) {
			c.whisker(pen{role: series, width: 1.5}, place{low: x + 1, high: x + sampleWidth - 1, cutHigh: true}, y, false)
		}})
	}
	return items
}

// drawLegend puts items into lines.
func (c *canvas) drawLegend(items []legendItem) {
	const gap = 14
	x := 0.0
	for _, item := range items {
		name := shorten(item.name, regular, c.inner()-sampleWidth-4)
		need := sampleWidth + 4 + widthOf(name, regular)
		if x > 0 && x+need > c.inner() {
			x, c.y = 0, c.y+lineHeight
		}
		item.draw(c, margin+x, c.y+lineHeight/2)
		c.write(name, regular, ink, 0, margin+x+sampleWidth+4, c.y+lineHeight/2)
		x += need + gap
	}
	if len(items) > 0 {
		c.y += lineHeight
	}
}
