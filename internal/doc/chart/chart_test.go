package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

func tick(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// unknown is a figure without an interval.
func unknown(v float64) Interval { return Interval{Low: math.NaN(), Center: v, High: math.NaN()} }

// sampleRows has one of everything: sections, ties, dots, an interval that is
// cut, one that is unknown, and a reason.
func sampleRows() *Rows {
	return &Rows{
		Grouped: "rank", Dots: "one launch", Marks: []string{"interval"},
		Panels: []Panel{
			{Axis: Axis{Label: "time (ns): less is better", Log: true, Tick: tick}},
			{Axis: Axis{Label: "ratio to a: below 1 is faster", Log: true, Tick: tick}, Line: 1, BandLow: 0.98, BandHigh: 1.02},
		},
		Rows: []Row{
			{Section: "first", Group: "1", Name: "a", Cells: []Cell{{Marks: []Interval{{90, 100, 110}}, Dots: []float64{95, 105}, Text: "100"}, {}}},
			{Section: "first", Group: "2 =", Name: "b", Cells: []Cell{{Marks: []Interval{{180, 200, 1e9}}, Text: "200"}, {Marks: []Interval{{1.8, 2, 2.2}}, Text: "2"}}},
			{Section: "first", Group: "2 =", Name: "c", Cells: []Cell{{Marks: []Interval{unknown(210)}, Text: "210"}, {Marks: []Interval{unknown(2.1)}, Text: "2.1"}}},
			{Section: "second", Name: "d", Text: "failed: <b>the worker died</b>"},
		},
	}
}

func sampleParts() *Rows {
	parts, cell := []string{}, Cell{Marks: []Interval{{30, 36, 40}}, Text: "36"}
	for i := range Series {
		parts = append(parts, fmt.Sprint("part ", i+1))
		cell.Parts = append(cell.Parts, float64(i+1))
	}
	cell.Parts[3] = math.NaN()
	return &Rows{Marks: []string{"sum"}, Parts: parts, Panels: []Panel{{Axis: Axis{Label: "time", Tick: tick}}},
		Rows: []Row{{Name: "all", Cells: []Cell{cell}}}}
}

func sampleLines() *Lines {
	l := &Lines{X: Axis{Label: "clients", Log: true, Tick: tick}, Y: Axis{Label: "rate (1/s): more is better", Log: true, Tick: tick}}
	for i := range Series {
		v := 100 * math.Pow(2, float64(i))
		l.Series = append(l.Series, Curve{fmt.Sprint("series ", i+1), []Point{{1, Interval{v * 0.9, v, v * 1.1}}, {10, unknown(2 * v)}, {100, Interval{v, 1.5 * v, 2 * v}}}})
	}
	return l
}

func samples() map[string]*Chart {
	return map[string]*Chart{
		"rows":  {Title: "rows: what each reaches", Description: "four rows", Body: sampleRows()},
		"parts": {Title: "parts", Description: "eight parts", Body: sampleParts()},
		"lines": {Title: "lines", Description: "eight lines", Body: sampleLines()},
	}
}

func TestGolden(t *testing.T) {
	for name, c := range samples() {
		for width, suffix := range map[Width]string{Wide: "wide", Narrow: "narrow"} {
			got, err := c.SVG(width)
			must(t, err)
			golden := filepath.Join("testdata", name+"-"+suffix+".svg")
			if *update {
				must(t, os.WriteFile(golden, got, 0o644))
			}
			want, err := os.ReadFile(golden)
			must(t, err)
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs; look at the new one with -update", golden)
			}
		}
	}
}

// word is a text of a drawing with the room that it takes.
type word struct {
	text          string
	x, y, w, size float64
}

// words parses a drawing; it fails the test where it is no XML or has anything
// that a strict content policy forbids.
func words(t *testing.T, svg []byte) (all []word, width, height float64) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	var open *word
	down := 0.0 // of the body below the head
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all, width, height
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			value := map[string]float64{}
			for _, a := range token.Attr {
				if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href") {
					t.Errorf("%s has the attribute %s", token.Name.Local, a.Name.Local)
				}
				value[a.Name.Local], _ = strconv.ParseFloat(a.Value, 64)
			}
			switch token.Name.Local {
			case "svg":
				width, height = value["width"], value["height"]
			case "text":
				size := value["font-size"]
				if size == 0 {
					size = fontSize
				}
				open = &word{x: value["x"], y: down + value["y"], w: value["textLength"], size: size}
			case "g":
				if _, err := fmt.Sscanf(token.Attr[0].Value, "translate(0 %g)", &down); err != nil {
					t.Error(err)
				}
			case "path", "title", "desc", "style":
			default:
				t.Errorf("has an element %s", token.Name.Local)
			}
		case xml.CharData:
			if open != nil {
				open.text += string(token)
			}
		case xml.EndElement:
			if open != nil {
				all = append(all, *open)
			}
			open = nil
		}
	}
}

// No text leaves the drawing, and no two of them overlap, whatever the names.
func TestTextsFit(t *testing.T) {
	charts := samples()
	long := sampleRows()
	for i := range 40 {
		row := long.Rows[i%3]
		row.Name = fmt.Sprintf("ncruces-direct@v0.32.0:DQS=0:THREADSAFE=0 (a profile with a very long name, number %d)", i)
		row.Group = fmt.Sprint(i/3+100, " =")
		long.Rows = append(long.Rows, row)
	}
	long.Rows = append(long.Rows, Row{Name: strings.Repeat("x", 400), Text: strings.Repeat("reason ", 100)})
	long.Panels = append(long.Panels, Panel{Axis: Axis{Label: strings.Repeat("a long label ", 8), Tick: tick}})
	for i := range long.Rows {
		if len(long.Rows[i].Cells) > 0 {
			long.Rows[i].Cells = append(slices.Clone(long.Rows[i].Cells), Cell{Marks: []Interval{{1, 2, 3}}, Text: "123 µs"})
		}
	}
	charts["long"] = &Chart{Title: strings.Repeat("a long title ", 20), Body: long}
	lines := sampleLines()
	for i := range lines.Series {
		lines.Series[i].Name = fmt.Sprintf("%s %d", strings.Repeat("long ", 30), i)
	}
	charts["long lines"] = &Chart{Title: strings.Repeat("x", 300), Body: lines}
	for name, c := range charts {
		for _, width := range []Width{Wide, Narrow} {
			svg, err := c.SVG(width)
			must(t, err)
			all, right, bottom := words(t, svg)
			if len(all) == 0 || right != float64(width) {
				t.Errorf("%s: %d texts on a width of %g", name, len(all), right)
			}
			for i, a := range all {
				if a.x < 0 || a.x+a.w > right || a.y-a.size < 0 || a.y > bottom {
					t.Errorf("%s at %g: %q leaves the drawing: %+v", name, right, a.text, a)
				}
				for _, b := range all[:i] {
					if a.x < b.x+b.w && b.x < a.x+a.w && math.Abs(a.y-b.y) < 0.8*a.size {
						t.Errorf("%s at %g: %q and %q overlap", name, right, a.text, b.text)
					}
				}
			}
		}
	}
}

func TestHostileText(t *testing.T) {
	for _, hostile := range []string{"<script>alert(1)</script>", `"><svg onload=alert(1)>`, "]]>", "</text><image href='x'>", "\x00\x1b[31m", "\xff&amp;"} {
		rows := sampleRows()
		rows.Rows[0].Name, rows.Rows[0].Section, rows.Rows[0].Group, rows.Rows[3].Text = hostile, hostile, hostile, hostile
		rows.Marks, rows.Dots, rows.Grouped, rows.Panels[0].Label = []string{hostile}, hostile, hostile, hostile
		c := &Chart{Title: hostile, Description: hostile, Body: rows}
		for _, draw := range []func() ([]byte, error){func() ([]byte, error) { return c.SVG(Wide) }, func() ([]byte, error) { return c.SVG(Narrow) }, c.File} {
			svg, err := draw()
			must(t, err)
			words(t, svg)
		}
	}
}

// A file stands alone: it has colours for both themes.
func TestFile(t *testing.T) {
	svg, err := samples()["rows"].File()
	must(t, err)
	for _, want := range []string{"<style>.f0{fill:#ffffff}", "prefers-color-scheme:dark", `role="img"`, "<title>rows: what each reaches</title><desc>four rows</desc>"} {
		if !bytes.Contains(svg, []byte(want)) {
			t.Errorf("has no %s", want)
		}
	}
}

func TestErrors(t *testing.T) {
	many := sampleLines()
	many.Series = append(many.Series, many.Series[0])
	marks := &Rows{Panels: sampleRows().Panels[:1], Rows: []Row{{Name: "a", Cells: []Cell{{Marks: make([]Interval, Series+1)}}}}}
	for name, test := range map[string]struct {
		body Body
		want string
	}{
		"no body":    {nil, "it has no body"},
		"no rows":    {&Rows{}, "it has no rows or no panels"},
		"no points":  {&Lines{X: Axis{Tick: tick}, Y: Axis{Tick: tick}, Series: []Curve{{Name: "a"}}}, "it has no points"},
		"cells":      {&Rows{Panels: sampleRows().Panels, Rows: []Row{{Name: "a", Cells: []Cell{{}}}}}, `row "a" has 1 cells for 2 panels`},
		"many marks": {marks, `row "a" has more than 8 marks or parts`},
		"many lines": {many, "it has 9 curves, and at most 8 can be told apart"},
	} {
		_, err := (&Chart{Title: "t", Body: test.body}).File()
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

// What no axis can show is left out, and never a number that is none.
func TestStrangeFigures(t *testing.T) {
	strange := []Interval{{math.Inf(-1), 0, math.Inf(1)}, {-5, 3, 7}, unknown(math.NaN()), unknown(-1), unknown(math.Inf(1)), {0, 0, 0}, {1e-300, 1e-300, 1e300}}
	for _, log := range []bool{false, true} {
		rows := &Rows{Panels: []Panel{{Axis: Axis{Label: "x", Log: log, Tick: tick}}}}
		lines := &Lines{X: Axis{Label: "x", Tick: tick}, Y: Axis{Label: "y", Log: log, Tick: tick}, Series: []Curve{{Name: "a"}}}
		for i, s := range strange {
			rows.Rows = append(rows.Rows, Row{Name: fmt.Sprint(i), Cells: []Cell{{Marks: []Interval{s}, Dots: []float64{s.Center}}}})
			lines.Series[0].Points = append(lines.Series[0].Points, Point{float64(i), s})
		}
		for _, body := range []Body{rows, lines} {
			for _, width := range []Width{Wide, Narrow} {
				svg, err := (&Chart{Title: "strange", Body: body}).SVG(width)
				must(t, err)
				words(t, svg)
				if bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
					t.Errorf("log %v: a number that is none in\n%s", log, svg)
				}
			}
		}
	}
}

func TestTicks(t *testing.T) {
	for _, test := range []struct {
		log      bool
		min, max float64
		n        int
		want     string
	}{
		{false, 0, 10, 5, "0 2 4 6 8 10"},
		{false, 0.35, 5.5, 2, "2 4"},
		{false, 100, 101, 3, "100 100.5 101"},
		{true, 0.9, 1.3, 4, "0.9 1 1.1 1.2 1.3"},
		{true, 3, 40, 6, "5 10 20"},
		{true, 1, 1e6, 3, "1 100 1e+04 1e+06"},
		{true, 1, 1e3, 5, "1 10 100 1000"},
	} {
		var got []string
		for _, v := range (Axis{Log: test.log}).ticks(span{test.min, test.max}, test.n) {
			got = append(got, tick(v))
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%v %g to %g: %s, want %s", test.log, test.min, test.max, text, test.want)
		}
	}
}

// One interval that few launches made wide does not press the others into a
// corner.
func TestSpanOfWideIntervals(t *testing.T) {
	s := Axis{Log: true}.span([]float64{100, 200}, []float64{1e-9, 1e12})
	if s.min < 40 || s.min > 50 || s.max < 400 || s.max > 450 {
		t.Errorf("covers %v", s)
	}
}

func TestShorten(t *testing.T) {
	for words, want := range map[string]string{"short": "short", "a name that is much too long for its room": "a na…room", "": ""} {
		got := shorten(words, regular, 70)
		if got != want || widthOf(got, regular) > 70 {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
	if got := shorten("nothing", regular, 0); got != ellipsis {
		t.Errorf("without room: %q", got)
	}
}

// Panels of curves cover the same factor, so that equal slopes are equal changes, and a name has
// one look in all of them.
func TestFacets(t *testing.T) {
	panel := func(names string, from, to float64) Facet {
		l := &Lines{X: Axis{Tick: tick}, Y: Axis{Log: true, Tick: tick}}
		for _, name := range names {
			l.Series = append(l.Series, Curve{Name: string(name), Points: []Point{{1, Interval{from, from, from}}, {2, Interval{to, to, to}}}})
		}
		return Facet{"panel", l}
	}
	f := &Facets{Panels: []Facet{panel("ab", 1, 100), panel("bc", 1000, 2000)}}
	spans := f.spans()
	if a, b := spans[0].max/spans[0].min, spans[1].max/spans[1].min; math.Abs(a/b-1) > 1e-9 || a < 100 {
		t.Errorf("got panels that cover %g and %g times, want the same, and at least 100", a, b)
	}
	f.Alike = true
	if spans := f.spans(); spans[0] != spans[1] || spans[0].min > 1 || spans[0].max < 2000 {
		t.Errorf("got %v, want all panels to cover 1 to 2000", spans)
	}
	if got, want := fmt.Sprint(f.series()), "[a b c]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	must(t, f.check())
	if err := (&Facets{Panels: []Facet{panel("abcdefghi", 1, 2)}}).check(); err == nil {
		t.Error("got no error of nine curves")
	}
}

// A strip has the same scale for all ratios: 1 is between those below and above, an interval
// is never a point, and what has none is one.
func TestStrip(t *testing.T) {
	low, high, none := Interval{0.5, 0.5, 0.5}, Interval{1.9, 2, 2.1}, Interval{math.NaN(), 2, math.NaN()}
	s := NewStrip([]Interval{low, high, none}, 0.02, tick)
	a, b, c := s.Mark(low), s.Mark(high), s.Mark(none)
	if !(a.At < s.Band[0] && s.Band[0] < s.One && s.One < s.Band[1] && s.Band[1] < b.At) || math.Abs((s.One-a.At)-(b.At-s.One)) > 0.2 {
		t.Errorf("got %v, 1 at %g in %v, %v; want them in this order, and halves as far as doubles", a, s.One, s.Band, b)
	}
	if a.From == a.To || b.From >= b.At || b.At >= b.To || c.From != c.To || c.At != b.At {
		t.Errorf("got the marks %v, %v, %v", a, b, c)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
