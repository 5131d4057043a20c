//go:build unix

package runner

import (
	"fmt"
	"slices"
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
)

// What the schedule asks more launches for is what the report judges: of every kind
// of cell, both compare by one metric.
func TestScheduleAndReportCompareBySameMetric(t *testing.T) {
	timed := map[string]float64{assay.NsPerOp: 100, assay.OpPerS: 1e7}
	pooled := map[string]float64{assay.NsPerOp: 100, assay.OpPerS: 1e7, assay.ReopensOp: 0.5, assay.PoolWaitPerOp: 10}
	closed := map[string]float64{assay.NsPerOp: 100, assay.OpPerS: 1e7, assay.P50: 50, assay.P99: 500, assay.FailedOp: 0, assay.LimitPerS: 1e5}
	open := map[string]float64{assay.NsPerOp: 100, assay.OpPerS: 1e7, assay.P50: 50, assay.P99: 500, assay.FailedOp: 0, assay.LimitPerS: 1e5, assay.Lag: 1}
	few := map[string]float64{assay.NsPerOp: 100, assay.OpPerS: 1e7, assay.P50: 50, assay.FailedOp: 0, assay.LimitPerS: 1e5, assay.Lag: 1}
	capacity := map[string]float64{assay.CapacityPerS: 900, assay.LimitPerS: 1e5}
	for _, c := range []struct {
		name    string
		mode    assay.Mode
		clients int
		rate    float64
		a, b    []map[string]float64 // of two drivers, by launch
		want    string
	}{
		{"windows", assay.Windows, 1, 0, []map[string]float64{timed, timed}, []map[string]float64{timed, timed}, assay.NsPerOp},
		{"windows of several clients", assay.Windows, 2, 0, []map[string]float64{timed, timed}, []map[string]float64{timed, timed}, assay.NsPerOp},
		{"a block", assay.Blocks, 1, 0, []map[string]float64{timed, timed}, []map[string]float64{timed, timed}, assay.NsPerOp},
		{"a block whose pool reopens", assay.Blocks, 1, 0, []map[string]float64{pooled, pooled}, []map[string]float64{pooled, pooled}, assay.NsPerOp},
		{"a block of several clients", assay.Blocks, 8, 0, []map[string]float64{timed, timed}, []map[string]float64{timed, timed}, assay.OpPerS},
		{"requests of one client", assay.Blocks, 1, 0, []map[string]float64{closed, closed}, []map[string]float64{closed, closed}, assay.OpPerS},
		{"requests at a rate", assay.Blocks, 8, 40, []map[string]float64{open, open}, []map[string]float64{open, open}, assay.P99},
		{"few requests", assay.Blocks, 8, 40, []map[string]float64{few, few}, []map[string]float64{few, few}, assay.P50},
		{"few requests in one launch of each", assay.Blocks, 8, 40, []map[string]float64{few, open}, []map[string]float64{open, few}, assay.P50},
		{"few requests of one driver", assay.Blocks, 8, 40, []map[string]float64{open, open}, []map[string]float64{few, open}, assay.P99},
		{"a capacity", assay.Blocks, 8, 0, []map[string]float64{capacity, capacity}, []map[string]float64{capacity, capacity}, assay.CapacityPerS},
		{"nothing", assay.Blocks, 8, 40, nil, nil, assay.P50},
	} {
		t.Run(c.name, func(t *testing.T) {
			var jobs []*job
			for _, driver := range []string{"a", "b"} {
				j := at(c.mode, fmt.Sprintf("read %s p", driver))
				j.Cell.Clients, j.Cell.Rate = c.clients, c.rate
				jobs = append(jobs, j)
			}
			g := groupCases(jobs, assay.ParseBaseline("a"))[0]
			trials := []assay.Trial{{Cell: jobs[0].Cell, Outcome: assay.NotRun}, {Cell: jobs[1].Cell, Outcome: assay.NotRun}}
			for i, figures := range [][]map[string]float64{c.a, c.b} {
				for launch, f := range figures {
					trial := trialOf(jobs[i], launch+1, false, 0)
					trial.Mode, trial.Figures = c.mode, f
					trials = append(trials, trial)
				}
			}
			for _, trial := range slices.Clone(trials) {
				g.record.note(&trial)
			}
			result, err := analysis.New(assay.Run{ID: "r", Baseline: assay.ParseBaseline("a")}, analysistest.Each(trials))
			must(t, err)
			if scheduled, reported := g.primary(jobs), result.Tables[0].Primary.Name; scheduled != c.want || reported != c.want {
				t.Errorf("the schedule compares by %s and the report by %s, want %s", scheduled, reported, c.want)
			}
		})
	}
}
