package report

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/internal/analysis"
	"assay/internal/doc"
)

// lookOf is the first look at a run that is decided.
func lookOf(t *testing.T) (*pageView, *lookView) {
	t.Helper()
	run, trials := decidedRun()
	v := mustReport(t, run, trials).page()
	return v, v.Look
}

// The page begins with what to use of each class of durability, and how to open each; so does the
// screen.
func TestPicksAreOpened(t *testing.T) {
	run, trials := decidedRun()
	r := mustReport(t, run, trials)
	v := r.page()
	screen := strings.Join(r.pickLines(r.Answer(), onPage, false), "\n")
	for i, want := range []struct {
		sentence string
		opening  []string
	}{
		{"Use mattn with profile web if a power cut may lose the commits since the last sync", []string{"file:app.db?_journal_mode=WAL", "PRAGMA cache_size=-65536"}},
		{"Use mattn with profile default if every acknowledged commit must survive a power cut", []string{"file:app.db?_journal_mode=WAL", "PRAGMA cache_size=-65536"}},
	} {
		if got := v.Answer[i]; got.First != want.sentence || !slices.Equal(got.Opening, want.opening) {
			t.Errorf("got %q, opened by %q; want %q by %q", got.First, got.Opening, want.sentence, want.opening)
		}
		text := v.Answer[i].First + ": " + v.Answer[i].Rest + "\n  " + strings.Join(want.opening, "\n  ")
		if !strings.Contains(screen, text) {
			t.Errorf("got a screen without %q:\n%s", text, screen)
		}
	}
	if len(v.Answer) != 2 || len(v.More) != 1 {
		t.Errorf("got %d and %d sentences, want 2 picks above the heat map and 1 sentence below", len(v.Answer), len(v.More))
	}
}

// The heat map has the colour of a ratio, and none where nothing is compared; for every
// baseline.
func TestHTMLHeatMap(t *testing.T) {
	_, look := lookOf(t)
	if got, want := look.Views.Names, []string{"mattn (web)", "modernc (web)", "glebarez (web)", "mattn (default)", "modernc (default)", "glebarez (default)"}; !slices.Equal(got, want) {
		t.Fatalf("got columns %q, want %q", got, want)
	}
	for _, c := range []struct {
		baseline, line int
		texts, looks   []string
	}{
		{0, 0, []string{"6.08 µs*", "1.30x", "1.60x", "1.60x", "2.08x", "2.56x"}, []string{"base best", "h5", "h6", "h6", "h7", "h7"}},
		{0, 4, []string{"128 µs*", "1.30x", "1.60x", "204 µs~", "265 µs~", "327 µs~"}, []string{"base best", "h5", "h6", "none", "none", "none"}},
		{1, 0, []string{"0.770x*", "7.90 µs", "1.23x", "1.23x", "1.60x", "1.97x"}, []string{"h1 best", "base", "h4", "h4", "h6", "h6"}},
		{3, 4, []string{"128 µs~", "166 µs~", "204 µs~", "204 µs*", "1.30x!", "1.60x"}, []string{"none", "none", "none", "base best", "h5", "h6"}},
	} {
		var texts, looks []string
		for _, cell := range look.Views.Views[c.baseline].Cells[c.line] {
			texts, looks = append(texts, cell.Text), append(looks, cell.Look)
			if compared := strings.HasPrefix(cell.Look, "h"); compared != (cell.Mark != nil) {
				t.Errorf("baseline %d, line %d: got a mark %v of %s, want one where it is compared", c.baseline, c.line, cell.Mark, cell.Text)
			}
		}
		if !slices.Equal(texts, c.texts) || !slices.Equal(looks, c.looks) {
			t.Errorf("baseline %d, line %d: got %q %q, want %q %q", c.baseline, c.line, texts, looks, c.texts, c.looks)
		}
	}
	if got, want := look.Lines[0].Cells[1].Tip, "1.30x [1.30, 1.30], n = 8; ns/op 7.90 µs [7.84 µs, 7.95 µs], n = 8"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The picture has every ratio of the heat map, by driver, the largest first.
func TestHTMLPicture(t *testing.T) {
	_, look := lookOf(t)
	for i, g := range look.Groups {
		last, drawn := 1e9, 0
		for _, row := range g.Rows {
			if row.Cell.Mark == nil {
				continue
			}
			drawn++
			if row.Cell.center() > last {
				t.Errorf("%s: %s at %g stands below %g", g.Name, row.Label, row.Cell.center(), last)
			}
			last = row.Cell.center()
		}
		if want := []int{0, 6, 6, 4, 4, 4}[i]; drawn != want || g.Hidden != (want == 0) {
			t.Errorf("%s: got %d ratios, hidden %v; want %d", g.Name, drawn, g.Hidden, want)
		}
	}
}

// A stronger class of durability has its price.
func TestHTMLPriceOfDurability(t *testing.T) {
	v, _ := lookOf(t)
	i := slices.IndexFunc(v.Price, func(b doc.Block) bool { return b.Kind == doc.Table })
	want := []string{"insert, 100k rows", "128 µs (consistent)", "1.6x [1.6, 1.6]: 204 µs (power)"}
	if i < 0 || !slices.Equal(v.Price[i].Grid.Rows[0], want) {
		t.Errorf("got %v, want a table that begins with %q", v.Price, want)
	}
}

// In grey, the colours of the heat map go from fast to slow, in both themes; all are read on.
func TestHTMLHeatInGrey(t *testing.T) {
	style := string(doc.NewHead("", "", "", nil, "").Style)
	colours := regexp.MustCompile(`\.h(\d)\{--heat:#(\w{6})\}`).FindAllStringSubmatch(style, -1)
	if len(colours) != 2*len(heats) {
		t.Fatalf("got %d colours, want %d for each theme", len(colours), len(heats))
	}
	for theme, paper := range []string{"ffffff", "15181c"} {
		last := luminance(paper)
		sign := 1 - 2*float64(theme) // light themes get darker
		for _, c := range colours[theme*len(heats) : (theme+1)*len(heats)] {
			now := luminance(c[2])
			if sign*(last-now) <= 0 {
				t.Errorf("theme %d: h%s is %.3f after %.3f", theme, c[1], now, last)
			}
			last = now
			ink := [2][2]string{{"1a1d21", "ffffff"}, {"e8eaed", "15181c"}}[theme][min(1, max(0, int(c[1][0])-'6'))]
			if got := contrast(now, luminance(ink)); got < 4.5 {
				t.Errorf("theme %d: h%s has a contrast of %.1f", theme, c[1], got)
			}
		}
	}
}

func luminance(colour string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, _ := strconv.ParseUint(colour[2*i:2*i+2], 16, 8)
		c := float64(v) / 255
		if c <= 0.04045 {
			sum += weight * c / 12.92
			continue
		}
		sum += weight * math.Pow((c+0.055)/1.055, 2.4)
	}
	return sum
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

// A page of very many cells has its own baseline only.
func TestHTMLLookOfManyCells(t *testing.T) {
	run, trials := planRun(t, "monster", "mattn", "modernc", "glebarez")
	look := mustReport(t, run, trials).page().Look
	if look.Lines[0].Cells[0] == nil {
		t.Error("the first cell is missing")
	}
	choices := 0
	for _, view := range look.Views.Views {
		if view != nil {
			choices++
		}
	}
	if cells := len(look.Lines) * len(look.Columns) * len(look.Columns); (choices > 1) != (cells <= maxViews) {
		t.Errorf("got %d baselines for %d cells", choices, cells)
	}
}

// Without a baseline nothing has a colour.
func TestHTMLLookWithoutBaseline(t *testing.T) {
	for _, line := range (&Report{Result: &analysis.Result{}}).page().Answer {
		if line.First != "The run has no trials" {
			t.Errorf("got %q", line.First)
		}
	}
}
