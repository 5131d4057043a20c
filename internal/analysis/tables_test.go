package analysis_test

import (
	"slices"
	"testing"

	"assay"
	"assay/internal/analysis/analysistest"
)

// The operations of a workload come in the order in which the plan names them; those
// that it does not name come behind them, by name.
func TestTablesAreInThePlansOrder(t *testing.T) {
	run := analysistest.PlainRun
	run.PlanText = "name: p\nworkloads:\n  w:\n    data: {alpha: {rows: 1}}\n    operations:\n      zulu: {sql: SELECT 1}\n      \"alpha\":\n        sql: SELECT 2\n"
	var trials []assay.Trial
	for _, operation := range []string{"alpha", "other", "bravo", "zulu"} {
		trials = append(trials, series(assay.Cell{Workload: "w", Operation: operation, Driver: "modernc", Clients: 1, Pool: 1, Idle: 1}, 100, 101)...)
	}
	var got []string
	for _, table := range mustReport(t, run, trials).Tables {
		got = append(got, table.Cell().Operation)
	}
	if want := []string{"zulu", "alpha", "bravo", "other"}; !slices.Equal(got, want) {
		t.Errorf("got the tables %q, want %q", got, want)
	}
}
