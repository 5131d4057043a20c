package analysis_test

import (
	"testing"

	"assay"
	"assay/internal/analysis/analysistest"
)

// The best driver without cgo is that with the least cost, also where it is not shown to
// differ from the pick.
func TestWithoutCgo(t *testing.T) {
	run := analysistest.PlainRun
	var trials []assay.Trial
	for driver, ns := range map[string][2]float64{"mattn": {1000, 1000}, "modernc": {1100, 850}, "glebarez": {1500, 1500}} {
		cgo := map[bool]string{true: "true", false: "false"}[driver == "mattn"]
		run.Targets = append(run.Targets, assay.Target{Driver: driver, DriverVersion: analysistest.Versions[driver], Facts: map[string]string{"cgo": cgo}})
		for i, operation := range []string{"get", "scan"} {
			trials = append(trials, analysistest.Change(analysistest.Launches(analysistest.Cell(operation, driver, "web"), 6, ns[i], 1), func(t *assay.Trial) {
				if driver == "modernc" && operation == "scan" && t.Launch%2 == 0 {
					t.Figures["ns/op"] *= 1.3
				}
			})...)
		}
	}
	got := mustReport(t, run, trials).Answer().NoCgo
	if got == nil || got.Name != "modernc" || got.Cost.N != 2 || !(got.Cost.Low < 1 && got.Cost.Center > 1 && got.Cost.Center < 1.3) {
		t.Errorf("got %+v, want modernc over 2 tables, with an interval that contains 1", got)
	}
}
