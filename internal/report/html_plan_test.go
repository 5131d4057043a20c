package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"assay"
	"assay/internal/analysis/analysistest"
	"assay/internal/plan"
	"assay/plans"
)

const planLaunches = 6

// planRun makes up launches of all cells of a built-in plan.
func planRun(t *testing.T, name string, drivers ...string) (assay.Run, []assay.Trial) {
	t.Helper()
	source, found := plans.Read(name)
	if !found {
		t.Fatalf("there is no plan %s", name)
	}
	p, err := plan.Decode(name+".yaml", source)
	must(t, err)
	if drivers == nil {
		drivers = p.Drivers
	}
	cases, err := p.Expand(drivers)
	must(t, err)
	run, _ := analysistest.SampleRun()
	run.Plan, run.PlanText, run.Baseline = name, string(source), assay.ParseBaseline(drivers[0])
	var trials []assay.Trial
	for i, c := range cases {
		c.Cell.Engine, c.Cell.DriverVersion, c.Cell.Build = "sqlite", analysistest.Versions[c.Cell.Driver], strings.Repeat("b", 64)
		ns := 5000 + 100*float64(i%60)
		trials = append(trials, analysistest.Change(analysistest.Launches(c.Cell, planLaunches, ns, i), func(t *assay.Trial) {
			t.Mode = assay.Blocks
			for k, name := range []string{"p50", "p90", "p99", "p99.9", "busy/op", "cpu-ns/op", "read-B/op", "bytes-written/op", "switches/op", "peak-B", "close-ns"} {
				t.Figures[name] = ns * math.Sqrt(float64(k+1)) * analysistest.Wobble(t.Launch, k)
			}
			for name, value := range c.Profile.Requested() {
				for reader := range 3 {
					t.Settings = append(t.Settings, assay.Setting{Name: name, Connection: fmt.Sprint("reader-", reader), Requested: value, Issued: "_pragma=" + name + "(" + value + ")", Effective: value, Applied: true})
				}
			}
			if t.Cell.AsPublished {
				t.Outcome, t.Reason = assay.NotApplied, "mmap_size requested 268435456, effective 0 on reader-1..reader-100 (100); locking_mode requested exclusive, effective normal"
			}
		})...)
	}
	return run, trials
}
