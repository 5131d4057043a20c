package report

import (
	"bytes"
	"strings"
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
)

func TestVersusOfTwoRunsInWords(t *testing.T) {
	run := func(id string, drivers ...string) *analysis.Result {
		var trials []assay.Trial
		for _, driver := range drivers {
			trials = append(trials, analysistest.Launches(analysistest.Cell("read", driver, "web"), 6, 1000, 1)...)
		}
		return mustReport(t, assay.Run{ID: id, Baseline: assay.ParseBaseline("mattn@v1.14.52"), Host: map[string]string{"cpu": id}}, trials).Result
	}
	v, err := analysis.NewVersus(analysis.Side{Result: run("r1", "mattn", "modernc"), Name: "r1"}, analysis.Side{Result: run("r2", "mattn"), Name: "r2"})
	must(t, err)
	var out bytes.Buffer
	must(t, VersusFormats.Write(&out, "text", v))
	for _, want := range []string{"r1 against r2\n", "launches are not paired", "cpu: r1 against r2", "6 unpaired", "Only r1 has these 1 cell", "modernc (web)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
