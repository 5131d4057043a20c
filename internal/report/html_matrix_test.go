package report

import (
	"strings"
	"testing"
)

// The page begins with the matrix of the screen, and every figure of it leads to
// the section of its table.
func TestHTMLMatrix(t *testing.T) {
	run, trials := decidedRun()
	text, _ := mustHTML(t, mustReport(t, run, trials))
	page := string(text)
	answer, recommendation := strings.Index(page, `<section id="answer">`), strings.Index(page, `<section id="recommendation">`)
	if answer < 0 || recommendation < answer {
		t.Fatalf("got the answer at %d and the recommendation at %d, want the answer first", answer, recommendation)
	}
	part := page[answer:recommendation]
	for _, want := range []string{"Use mattn with profile web: fastest or tied in 6 of 6 comparisons", "Without cgo: modernc, 1.30x [1.30, 1.30] slower in these 6 tables, each once; not your mix.",
		">6.08 µs*</a>", ">1.30x</a>", "204 µs~", "~power: of that durability, not compared"} {
		if !strings.Contains(part, want) {
			t.Errorf("no %q in\n%s", want, part)
		}
	}
	for _, table := range []string{"t1", "t6"} {
		if got := strings.Count(part, `<a href="#`+table+`">`); got != 7 { // its name and six figures
			t.Errorf("%s: got %d links, want 7", table, got)
		}
		if !strings.Contains(page, `<section id="`+table+`">`) {
			t.Errorf("no section %s", table)
		}
	}
}
