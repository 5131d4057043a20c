package report

import (
	"testing"

	"assay"
	"assay/internal/analysis/analysistest"
)

// What more processes and another way to begin change is one line, of one target.
func TestChangeWords(t *testing.T) {
	of := func(operation string, processes int, begin assay.Begin, ns float64) []assay.Trial {
		c := cellOf(operation, "mattn", "web", "")
		c.Processes, c.Begin = processes, begin
		return analysistest.Launches(c, 8, ns, len(operation))
	}
	var trials []assay.Trial
	trials = append(trials, of("read", 1, "", 4000)...)
	trials = append(trials, of("read", 4, "", 2000)...)
	trials = append(trials, of("transfer", 1, assay.Deferred, 6000)...)
	trials = append(trials, of("transfer", 1, assay.Immediate, 3000)...)
	trials = append(trials, of("transfer", 4, assay.Deferred, 12000)...)
	for _, beside := range []struct {
		commits string
		ns      float64
	}{{"0", 1000}, {"5", 1500}} {
		c := cellOf("reads", "mattn", "web", "")
		c.Params = map[string]string{"commits": beside.commits}
		for _, launch := range analysistest.Launches(c, 8, beside.ns, 3) {
			launch.Figures[assay.P50] = launch.Figures["ns/op"]
			trials = append(trials, launch)
		}
	}
	r := mustReport(t, plainRun("mattn"), trials)
	want := "mattn (web), operations per second, 4 processes instead of 1: read 2.00x; transfer, deferred 0.500x; " +
		"begin immediate instead of deferred: transfer 2.00x, median time, 5 commits instead of 0: reads 1.50x"
	if got := r.changeWords(r.Answer()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	plain := mustReport(t, plainRun("mattn"), of("read", 1, "", 4000))
	if words := plain.changeWords(plain.Answer()); words != "" {
		t.Errorf("got %q of a run without either, want nothing", words)
	}
}
