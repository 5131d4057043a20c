package analysis_test

import (
	"slices"
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
)

// Rows of one class are neither compared nor ranked together where only one of them syncs
// its commits, as a store with sync on whose power cuts show no more than without.
func TestSyncsApart(t *testing.T) {
	var trials []assay.Trial
	stored := func(driver, profile, sync string, time float64) {
		all := analysistest.Durable(analysistest.Launches(analysistest.Cell("put", driver, profile), 6, time, 1), assay.Process, "")
		trials = append(trials, analysistest.Change(all, func(t *assay.Trial) {
			t.Settings = []assay.Setting{{Name: "sync", Connection: "writer-1", Effective: sync, Applied: true}}
		})...)
	}
	stored("mattn", "off", "0", 1000)
	stored("modernc", "off", "0", 1500)
	stored("modernc", "on", "1", 104_000)
	r, err := analysis.New(analysistest.PlainRun, analysistest.Each(trials))
	must(t, err)
	table := r.Tables[0]
	var got []string
	for _, k := range table.Rankings {
		for _, row := range k.Rows {
			got = append(got, k.Promise()+": "+row.Name())
		}
	}
	want := []string{"process with syncs: modernc (on)", "process without syncs: mattn (off)", "process without syncs: modernc (off)"}
	if !slices.Equal(got, want) {
		t.Errorf("ranked are %q, want %q", got, want)
	}
	for _, row := range table.Rows {
		apart := row.Cell.Profile == "on"
		for _, other := range table.Rows {
			if unlike := row.Unequal(other); (unlike != nil) != (apart != (other.Cell.Profile == "on")) {
				t.Errorf("%s and %s: got %+v", row.Name(), other.Name(), unlike)
			}
		}
	}
	for _, s := range r.Suggestions {
		if s.Members != 2 {
			t.Errorf("a suggestion for %d candidates, want one for the 2 without syncs", s.Members)
		}
	}
}
