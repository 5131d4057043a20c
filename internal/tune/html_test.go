package tune

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	if err := os.WriteFile(path, []byte(text(t, r, "html")), 0o644); err != nil {
		t.Fatal(err)
	}
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
