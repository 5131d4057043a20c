package analysis_test

import (
	"slices"
	"testing"
	"time"

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

// What promises another durability than the pick is no alternative to it, however fast it is.
func TestWithoutCgoOfOneClass(t *testing.T) {
	run := analysistest.PlainRun
	var trials []assay.Trial
	for driver, c := range map[string]struct {
		ns         float64
		cgo        string
		durability assay.Durability
	}{"mattn": {1000, "true", assay.Power}, "glebarez": {1500, "false", assay.Power}, "modernc": {100, "false", assay.Consistent}} {
		run.Targets = append(run.Targets, assay.Target{Driver: driver, DriverVersion: analysistest.Versions[driver], Facts: map[string]string{"cgo": c.cgo}})
		trials = append(trials, analysistest.Durable(analysistest.Launches(analysistest.Cell("insert", driver, "web"), 6, c.ns, 1), c.durability, "2")...)
	}
	if got := mustReport(t, run, trials).Answer().NoCgo; got == nil || got.Name != "glebarez" || got.Cost.N != 1 {
		t.Errorf("got %+v, want glebarez", got)
	}
}

// A table that nobody measured costs the least launches of all, once however many there are;
// of one that was left out before there were groups, nothing is known.
func TestTimeOfUnmeasuredTables(t *testing.T) {
	run := analysistest.PlainRun
	run.MinTime = time.Minute
	var trials []assay.Trial
	for operation, group := range map[string]string{"get": "reads", "scan": "reads", "all-pairs": ""} {
		trial := analysistest.Ended(analysistest.Cell(operation, "modernc", "web"), assay.NotRun, "the budget ended")
		trial.Launch, trial.Took, trial.Group = 0, 0, group
		trials = append(trials, trial)
	}
	if a := mustReport(t, run, trials).Answer(); a.Needs != 80*time.Second || len(a.Decidable) != 2 {
		t.Errorf("got %s for %d tables; want 1m20s, with what is in reserve, for 2", a.Needs, len(a.Decidable))
	}
}

// What ran every operation where nothing else did is named, and not what ran some of them.
func TestOnlyOneRan(t *testing.T) {
	reads := analysistest.Launches(analysistest.Cell("get", "modernc", "web"), 6, 1000, 1)
	ended := func(driver, operation string, outcome assay.Outcome) assay.Trial {
		return analysistest.Ended(analysistest.Cell(operation, driver, "web"), outcome, "so")
	}
	scans := analysistest.Launches(analysistest.Cell("scan", "modernc", "web"), 6, 1000, 1)
	for name, c := range map[string]struct {
		others []assay.Trial // beside a driver's reads, and another's that failed
		want   bool
	}{
		"ran all":             {scans, true},
		"the budget ended":    {[]assay.Trial{ended("modernc", "scan", assay.NotRun)}, false},
		"another was not run": {append(slices.Clone(scans), ended("glebarez", "get", assay.NotRun), ended("glebarez", "scan", assay.NotRun)), false},
	} {
		trials := slices.Concat(reads, []assay.Trial{ended("mattn", "get", assay.Failed), ended("mattn", "scan", assay.Failed)}, c.others)
		if got := mustReport(t, analysistest.PlainRun, trials).Answer().Only != nil; got != c.want {
			t.Errorf("%s: got that nothing else ran every operation: %t, want %t", name, got, c.want)
		}
	}
}

// One that leads as often as the pick and failed elsewhere is named; one for which only the
// budget ended is a pick like another; what is measured as it was published is none.
func TestWhoIsSuggested(t *testing.T) {
	reads := func(driver, operation string, ns float64) []assay.Trial {
		return analysistest.Launches(analysistest.Cell(operation, driver, "web"), 6, ns, 1)
	}
	ended := func(driver, operation string, outcome assay.Outcome) []assay.Trial {
		return []assay.Trial{analysistest.Ended(analysistest.Cell(operation, driver, "web"), outcome, "so")}
	}
	both := slices.Concat(reads("modernc", "get", 1000), reads("mattn", "get", 2000))
	for name, c := range map[string]struct {
		trials     []assay.Trial
		pick, cant string
	}{
		"failed elsewhere": {slices.Concat(both, reads("modernc", "scan", 2000), reads("mattn", "scan", 1000), ended("modernc", "match", assay.Failed), reads("mattn", "match", 5)), "mattn", "modernc"},
		"out of budget":    {slices.Concat(both, ended("modernc", "scan", assay.NotRun), reads("mattn", "scan", 1000)), "modernc", ""},
		"as published":     {slices.Concat(both, analysistest.Change(reads("glebarez", "get", 100), func(t *assay.Trial) { t.Cell.AsPublished = true })), "", ""},
	} {
		a := mustReport(t, analysistest.PlainRun, c.trials).Answer()
		pick, cant := "", ""
		if len(a.Picks) > 0 {
			pick = a.Picks[0].Best[0].Row.Driver
		}
		if len(a.Excluded) > 0 {
			cant = a.Excluded[0].Row.Driver
		}
		if pick != c.pick || cant != c.cant {
			t.Errorf("%s: got pick %q and %q that cannot; want %q and %q", name, pick, cant, c.pick, c.cant)
		}
	}
}
