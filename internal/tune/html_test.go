package tune

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/serve/browser"
	"assay/internal/stat"
)

// raced is a report with a race of several blocks and prices of both neighbours.
func raced() *Report {
	r := fixture()
	r.Class = "consistent"
	r.Outcome.Prices = []Price{{"process", stat.Interval{N: 12, Center: 1.2, Low: 1.15, High: 1.25}}, {"power", stat.Interval{N: 12, Center: 0.5, Low: 0.45, High: 0.55}}}
	all := []Point{{1, 0, 0}, {1, 1, 0}, {0, 0, 1}, {0, 1, 1}}
	for n := range 5 {
		b := RaceBlock{Points: all}
		if n == 4 {
			b.Points = all[:2]
		}
		for i := range b.Points {
			b.Gains = append(b.Gains, 0.3-0.1*float64(i)+0.01*float64(n%3))
		}
		r.Outcome.Blocks = append(r.Outcome.Blocks, b)
	}
	r.Outcome.Blocks[0].Gains[3] = math.NaN()
	return r
}

func TestPageHasTheRaceAndThePrices(t *testing.T) {
	got := text(t, raced(), "html")
	for _, want := range []string{
		"<h1>Tuning of app</h1>", "1.33x [1.29, 1.37] faster with 1 setting", "<summary>the race", "in 5 blocks", "in 4 blocks", "cache_size -2000",
		"<title>The price of durability</title>", "process 1.20x [1.15, 1.25]; power 0.500x [0.450, 0.550]",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got a page without %q", want)
		}
	}
	plain := fixture() // no race was kept, and no price is known
	if got := text(t, plain, "html"); strings.Contains(got, "<summary>the race") || strings.Contains(got, "<figure") {
		t.Error("got figures where nothing is to be drawn")
	}
}

// The longest in the race come first, and of them the best.
func TestCandidates(t *testing.T) {
	var got []string
	for _, c := range raced().candidates() {
		got = append(got, fmt.Sprint(c.blocks, " ", c.name))
	}
	want := "5 cache_size -2000 -> -65536; 5 cache_size -2000 -> -65536, temp_store DEFAULT -> MEMORY; 4 mmap_size  -> 1048576; 4 temp_store DEFAULT -> MEMORY, mmap_size  -> 1048576"
	if strings.Join(got, "; ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "; "), want)
	}
}

// Names of others are text wherever they stand, and the page fits screens and phones.
func TestPageInBrowser(t *testing.T) {
	hostile := strings.Join(browser.Hostile, " ")
	r := raced()
	r.Plan, r.Driver, r.Current, r.Operations[0].Name = hostile, hostile, hostile, hostile
	r.Unindexed, r.Notes, r.Emitted = []string{hostile}, []string{hostile}, hostile
	r.Space = r.Space.With([]Factor{{First: true, Levels: []Level{{}, {Prepare: []string{hostile}}}}})
	r.Outcome.Chosen.Point = append(r.Outcome.Chosen.Point, 0)
	r.Outcome.Indexes = []Finalist{{Point: Point{0, 0, 0, 1}, Verdict: stat.Faster, Gain: stat.Interval{N: 6, Center: 3, Low: 2, High: 4}}}
	for _, b := range r.Outcome.Blocks {
		for i := range b.Points {
			b.Points[i] = append(b.Points[i][:3:3], 0)
		}
	}
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
		if got := browser.Evaluate[int](t, v, `[...document.querySelectorAll("figure svg")].filter(s => s.getBoundingClientRect().width > 0).length`); got != 2 {
			t.Errorf("%d: got %d drawings, want the race and the price of durability", width, got)
		}
	}
}
