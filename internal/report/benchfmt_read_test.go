package report

import (
	"bytes"
	"io"
	"testing"

	"golang.org/x/perf/benchfmt"

	"assay/internal/analysis/analysistest"
)

// The format's own reader must find every line and no mistake.
func TestBenchfmtReadsBack(t *testing.T) {
	run, trials := analysistest.SampleRun()
	var out bytes.Buffer
	must(t, mustReport(t, run, trials).Write(&out, "benchfmt"))
	results := readBenchfmt(t, &out)
	for _, r := range results {
		if _, has := r.Value("sec/op"); !has || r.GetConfig("plan") != "quick" {
			t.Errorf("%s: no time or no plan", r.Name)
		}
	}
	if want := 5*8 - 1 + 3 + 2*6 + 5*6 + 2*6 + 6; len(results) != want { // that are ok and count
		t.Errorf("%d results, want %d", len(results), want)
	}
}

// readBenchfmt reads results, of which none has a mistake.
func readBenchfmt(t *testing.T, from io.Reader) (results []*benchfmt.Result) {
	t.Helper()
	reader := benchfmt.NewReader(from, "sample.benchfmt")
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(record)
		case *benchfmt.Result:
			results = append(results, record.Clone())
		}
	}
	must(t, reader.Err())
	return results
}
