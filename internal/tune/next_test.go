package tune

import (
	"strings"
	"testing"
	"time"

	"assay/internal/stat"
)

// An answer ends with what to do with it.
func TestNext(t *testing.T) {
	for want, change := range map[string]func(*Report){
		"print them as configuration of your program: assay tune app.yaml --resume --emit go-mattn; prove that they keep the data: assay crash": func(r *Report) {
			r.Outcome.Chosen.Operations = r.Outcome.Chosen.Operations[:1]
		},
		"set them in your program; prove that they keep the data": func(r *Report) {
			r.Outcome.Chosen.Operations, r.Ecosystem = r.Outcome.Chosen.Operations[:1], ""
		},
		"weigh the lines with !: --only operation=NAME": func(*Report) {},
		"make the changes above, and tune again": func(r *Report) {
			r.Space = r.Space.With([]Factor{{First: true, Levels: []Level{{}, {Prepare: []string{"ANALYZE"}}}}})
			r.Outcome.Indexes = []Finalist{{Point: Point{0, 0, 0, 1}, Verdict: stat.Faster, Gain: stat.Interval{N: 6, Center: 3, Low: 2, High: 4}}}
			r.Outcome.Chosen.Point = append(r.Outcome.Chosen.Point, 0)
		},
		"set them where your program opens the store": func(r *Report) {
			r.Outcome.Chosen.Operations, r.Engine = r.Outcome.Chosen.Operations[:1], "pebble"
		},
		"set them in your program; prove that": func(r *Report) {
			r.Outcome.Chosen.Operations, r.Emitted = r.Outcome.Chosen.Operations[:1], "dsn"
		},
		"keep your settings": func(r *Report) {
			r.Outcome.Chosen, r.Outcome.Finalists[0].Gain = nil, stat.Interval{N: 12, Center: 1, Low: 0.99, High: 1.01}
		},
		"tune again with a --budget of about 3m or more, or for fewer operations": func(r *Report) {
			r.Outcome = &Outcome{Unconfirmed: true, Enough: 130 * time.Second}
		},
		"tune again with a larger --budget": func(r *Report) { r.Outcome = &Outcome{Unconfirmed: true} },
	} {
		r := fixture()
		r.Engine, r.Again = "sqlite", "assay tune app.yaml --resume"
		change(r)
		if got := strings.Join(r.nextTexts(), "; "); !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %q in it", got, want)
		}
	}
}
