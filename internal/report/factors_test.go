package report

import (
	"strings"
	"testing"

	"assay"
	"assay/internal/analysis/analysistest"
)

// without marks trials as those of a profile that lacks a setting.
func TestFactorsSayWhichSettingMatters(t *testing.T) {
	whole := analysistest.Ablation(analysistest.Launches(analysistest.Cell("get", "mattn", "web"), 6, 1000, 1))
	for i := range whole {
		whole[i].Settings = []assay.Setting{{Name: "cache_size", Connection: "reader-1", Requested: "-65536", Effective: "-65536", Applied: true}}
	}
	trials := append(whole, analysistest.Launches(analysistest.Cell("get", "mattn", "web"), 6, 1000, 1)...)
	trials = append(trials, analysistest.Launches(analysistest.Cell("get", "modernc", "web"), 6, 3000, 1)...)
	trials = append(trials, analysistest.Without(analysistest.Launches(analysistest.Cell("get", "mattn", "web"), 6, 2000, 1), "cache_size")...)
	trials = append(trials, analysistest.Without(analysistest.Launches(analysistest.Cell("get", "mattn", "web"), 6, 1000, 1), "foreign_keys")...)
	r := mustReport(t, analysistest.PlainRun, trials)
	if n := len(r.Tables[0].Rows); n != 2 {
		t.Errorf("%d rows are ranked, want 2: what lacks a setting is none of them", n)
	}
	var text strings.Builder
	must(t, r.Write(&text, "text"))
	for _, want := range []string{
		"WHICH SETTINGS MADE THE DIFFERENCE",
		"cache_size    -65536  2.00x [2.00, 2.00] faster with it",
		"foreign_keys  -       no difference (1.00 [1.00, 1.00])",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing from\n%s", want, text.String())
		}
	}
}
