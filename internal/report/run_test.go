package report

import (
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
)

// mustReport builds a report or ends the test.
func mustReport(t *testing.T, run assay.Run, trials []assay.Trial) *Report {
	t.Helper()
	r, err := analysis.New(run, analysistest.Each(trials))
	must(t, err)
	return New(r)
}
