package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis/analysistest"
)

// The command that decides measures what was never measured, too, and a time that nobody
// waits for is not told.
func TestDecide(t *testing.T) {
	widely := func(t *assay.Trial) { t.Figures[assay.NsPerOp] *= []float64{0.9, 1.1}[t.Launch%2] }
	open := append(analysistest.Launches(cellOf("point-read", "mattn", "web", ""), 6, 1000, 1),
		analysistest.Change(analysistest.Launches(cellOf("point-read", "modernc", "web", ""), 6, 1080, 2), widely)...)
	analysistest.Change(open, func(t *assay.Trial) { t.Took = time.Second })
	slow := analysistest.Change(slices.Clone(open), func(t *assay.Trial) { t.Took = time.Hour })
	for name, c := range map[string]struct {
		trials  []assay.Trial
		minTime time.Duration
		has     []string
		not     string
	}{
		"all were measured": {open, time.Minute, []string{"; this decides it within "}, "--margin"},
		"one was not": {append([]assay.Trial{analysistest.Ended(cellOf("insert", "mattn", "web", ""), assay.NotRun, "the budget ended"),
			analysistest.Ended(cellOf("insert", "modernc", "web", ""), assay.NotRun, "the budget ended")}, open...), 0, nil, "--only"},
		"nothing was": {[]assay.Trial{analysistest.Ended(cellOf("insert", "mattn", "web", ""), assay.NotRun, "the budget ended"),
			analysistest.Ended(cellOf("insert", "modernc", "web", ""), assay.NotRun, "the budget ended")}, 0,
			[]string{"mattn (web), modernc (web): not-run: the budget ended (2 figures)", "A longer run shows more: ", " run quick"}, "--only"},
		"a long time": {slow, time.Minute, []string{"not within 10m0s"}, "1h"},
	} {
		t.Run(name, func(t *testing.T) {
			run := plainRun("mattn", "modernc")
			run.MinTime = c.minTime
			var out strings.Builder
			must(t, mustReport(t, run, c.trials).WriteScreen(&out, Screen{Width: 100}))
			text := strings.Join(strings.Fields(out.String()), " ")
			for _, part := range c.has {
				if !strings.Contains(text, part) {
					t.Errorf("got no %q in\n%s", part, out.String())
				}
			}
			if c.not != "" && strings.Contains(text, c.not) {
				t.Errorf("got %q in\n%s", c.not, out.String())
			}
		})
	}
}

// Drivers that one name stood for are not spelled out in the command that decides.
func TestDecideNamesDriversAsAsked(t *testing.T) {
	run, trials := readsOf(1, "mattn", "modernc", "glebarez")
	run.Options.Asked = []string{"*"}
	r := mustReport(t, run, trials)
	if got := r.decide(r.Answer()); !strings.Contains(got, "--drivers '*' ") || strings.Contains(got, "glebarez") {
		t.Errorf("got %s, want the drivers as they were asked for", got)
	}
	if got := repeat(run, ""); !strings.Contains(got, "--drivers mattn,modernc,glebarez") {
		t.Errorf("got %s to repeat, want the drivers of then", got)
	}
}
