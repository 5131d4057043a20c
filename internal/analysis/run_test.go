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
	if err != nil {
		t.Fatal(err)
	}
	return r
}
