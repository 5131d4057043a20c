package tune

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/doc/chart"
	"assay/internal/serve/browser"
	"assay/internal/stat"
)

// priced is a report with prices of both neighbours.
func priced() *Report {
	r := fixture()
	r.Class = "consistent"
	r.Outcome.Prices = []Price{{"process", stat.Interval{N: 12, Center: 1.2, Low: 1.15, High: 1.25}}, {"power", stat.Interval{N: 12, Center: 0.5, Low: 0.45, High: 0.55}}}
	return r
}

func TestPageHasTheSettingsAndThePrices(t *testing.T) {
	got := text(t, priced(), "html")
	for _, want := range []string{
		"<h1>Tuning of app</h1>", "1.33x [1.29, 1.37] faster with 1 setting", "<summary>the settings, as the search saw them", "cache_size -2000",
		"<title>The price of durability</title>", "process 1.20x [1.15, 1.25]; power 0.500x [0.450, 0.550]",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got a page without %q", want)
		}
	}
	plain := fixture() // the search was too short to tell, and no price is known
	plain.Outcome.Effects = nil
	if got := text(t, plain, "html"); strings.Contains(got, "<summary>the settings") || strings.Contains(got, "<figure") {
		t.Error("got figures where nothing is to be drawn")
	}
}

// Each setting with more than two values is a curve, whose one line says where it is flat; settings
// with fewer have none.
func TestCurvesOfSettings(t *testing.T) {
	if got := fixture().curves(); got != nil {
		t.Fatalf("got curves of settings with two values: %s", got.Description)
	}
	r := fixture()
	r.Space.Factors[0].Levels = append(r.Space.Factors[0].Levels, Level{Settings: map[string]string{"cache_size": "-16000"}})
	r.Space.Factors = append(r.Space.Factors, Factor{Name: "journal_mode", Levels: []Level{{}, {Settings: map[string]string{"journal_mode": "wal"}}, {Settings: map[string]string{"journal_mode": "truncate"}}}})
	r.Effective["journal_mode"], r.Outcome.Chosen.Point = "delete", append(r.Outcome.Chosen.Point, 0)
	r.Outcome.Effects = append(r.Outcome.Effects, Effect{0, 2, stat.Interval{N: 9, Center: 1.32, Low: 1.3, High: 1.34}, false},
		Effect{3, 1, stat.Interval{N: 9, Center: 4, Low: 3.9, High: 4.1}, false}, Effect{3, 2, stat.Interval{N: 9, Center: 2, Low: 1.9, High: 2.1}, false})
	c := r.curves()
	if want := "cache_size: 0.75x from -2000 to -65536, flat from -16000; journal_mode: best at wal."; !strings.HasPrefix(c.Description, want) {
		t.Errorf("got %q, want %q", c.Description, want)
	}
	panels := c.Body.(*chart.Facets).Panels
	for i, want := range []string{"[{2e+03 {1 1 1}} {1.6e+04 {0.746 0.758 0.769}} {6.55e+04 {0.73 0.752 0.775}}]", "[{0 {1 1 1}} {1 {0.244 0.25 0.256}} {2 {0.476 0.5 0.526}}]"} {
		if got := fmt.Sprintf("%.3g", panels[i].Series[0].Points); got != want {
			t.Errorf("%s: got %s, want %s", panels[i].Title, got, want)
		}
	}
	if !panels[0].X.Log || panels[1].X.Log {
		t.Error("want the cache on a log scale, and words on none")
	}
	if page := text(t, r, "html"); !strings.Contains(page, "<title>What each value does") {
		t.Error("got a page without the curves")
	}
}

// Names of others are text wherever they stand, and the page fits screens and phones.
func TestPageInBrowser(t *testing.T) {
	hostile := strings.Join(browser.Hostile, " ")
	r := priced()
	r.Plan, r.Driver, r.Current, r.Operations[0].Name = hostile, hostile, hostile, hostile
	r.Unindexed, r.Notes, r.Emitted = []string{hostile}, []string{hostile}, hostile
	r.Space = r.Space.With([]Factor{{First: true, Levels: []Level{{}, {Prepare: []string{hostile}}}}})
	r.Outcome.Chosen.Point = append(r.Outcome.Chosen.Point, 0)
	r.Outcome.Indexes = []Finalist{{Point: Point{0, 0, 0, 1}, Verdict: stat.Faster, Gain: stat.Interval{N: 6, Center: 3, Low: 2, High: 4}}}
	r.Space.Factors[0].Levels[1].Settings["cache_size"] = hostile
	v := browser.New(t)
	path := filepath.Join(v.Dir, "tune.html")
	must(t, os.WriteFile(path, []byte(text(t, r, "html")), 0o644))
	for _, width := range []int64{1280, 390} {
		for _, event := range v.Visit(t, "file://"+path, width) {
			t.Errorf("%d: the page did: %q", width, event)
		}
		if over := browser.Evaluate[int](t, v, `document.scrollingElement.scrollWidth - innerWidth`); over > 0 {
			t.Errorf("%d: the page is %d pixels too wide; by %s", width, over, browser.Evaluate[string](t, v, browser.Widest))
		}
		if got := browser.Evaluate[int](t, v, `[...document.querySelectorAll("figure svg")].filter(s => s.getBoundingClientRect().width > 0).length`); got != 1 {
			t.Errorf("%d: got %d drawings, want the price of durability", width, got)
		}
	}
}
