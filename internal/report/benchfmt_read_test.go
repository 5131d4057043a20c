package report

import (
	"bytes"
	"testing"

	"golang.org/x/perf/benchfmt"

	"assay/internal/analysis/analysistest"
)

// The format's own reader must find every line and no mistake.
func TestBenchfmtReadsBack(t *testing.T) {
	run, trials := analysistest.SampleRun()
	r := mustReport(t, run, trials)
	var out bytes.Buffer
	must(t, r.Write(&out, "benchfmt"))
	results := 0
	reader := benchfmt.NewReader(&out, "sample.benchfmt")
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(record)
		case *benchfmt.Result:
			if _, has := record.Value("sec/op"); !has || record.GetConfig("plan") != "quick" {
				t.Errorf("%s: no time or no plan", record.Name)
			}
			results++
		}
	}
	if want := 5*8 - 1 + 3 + 2*6 + 5*6 + 2*6 + 6; reader.Err() != nil || results != want {
		t.Errorf("%d results, want %d; %v", results, want, reader.Err())
	}
}
