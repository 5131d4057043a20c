package analysis_test

import (
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
)

// mustReport analyses a run or ends the test.
func mustReport(t *testing.T, run assay.Run, trials []assay.Trial) *analysis.Result {
	t.Helper()
	r, err := analysis.New(run, analysistest.Each(trials))
	must(t, err)
	return r
}

// An interval of what cannot be below zero ends there, whichever metric has zeros.
func TestCountsAreNotBelowZero(t *testing.T) {
	for _, m := range assay.Metrics {
		trials := analysistest.Change(analysistest.Launches(analysistest.Cell("get", "modernc", "web"), 3, 100, 1), func(t *assay.Trial) {
			t.Figures[m.Name] = map[int]float64{1: 0, 2: 0, 3: 900}[t.Launch]
		})
		row := mustReport(t, analysistest.PlainRun, trials).Tables[0].Rows[0]
		got, _ := row.Figure(m.Name)
		if got.Interval.Low != 0 || got.Interval.Center != 300 || !(got.Interval.High > 900) {
			t.Errorf("%s: got %v, want a mean of 300 and an interval from 0 to above 900", m.Name, got.Interval)
		}
	}
}
