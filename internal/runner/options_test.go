//go:build unix

package runner

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/kit/wire"
)

func TestCompareOptions(t *testing.T) {
	has := []string{"DQS=0", "OMIT_SHARED_CACHE", "THREADSAFE=1", "USE_ALLOCA"}
	for asked, want := range map[string]string{
		"DQS=0":                 "",
		"OMIT_SHARED_CACHE":     "",
		"USE_ALLOCA=1":          "",
		"DQS=0:THREADSAFE=0":    "compile option THREADSAFE=0 was asked for and is THREADSAFE=1 in this build: the driver's own flags overrode it",
		"DEFAULT_WHRONOUS=1":    "compile option DEFAULT_WHRONOUS=1 was asked for and is not in this build: it is misspelt, or sqlite 3.53.4 does not know it or does not list it",
		"THREADSAFE=2:NOSUCH=1": "compile option THREADSAFE=2 was asked for and is THREADSAFE=1 in this build: the driver's own flags overrode it; compile option NOSUCH=1 was asked for",
	} {
		err := compareOptions(assay.Target{Engine: "sqlite", EngineVersion: "3.53.4", CompileOptions: has, Options: strings.Split(asked, ":")})
		if want == "" && err != nil {
			t.Errorf("%s: %v", asked, err)
		}
		if want != "" && (err == nil || !strings.HasPrefix(err.Error(), "not-applied: "+want)) {
			t.Errorf("%s: %v\nwant %s", asked, err, want)
		}
	}
}

// Each launch of a build has the next layout; an option that is not there makes
// all of its cells not-applied, and they are measured all the same.
func TestLayoutsAndOptions(t *testing.T) {
	b := newBench(t, header+read)
	const other = "second"
	program := b.Programs[other]
	program.Layouts = []string{program.Path, program.Path}
	program.FixedLayout = "its C code"
	program.Options = []string{"NOSUCH=1"}
	b.Programs[other] = program
	b.run(t)
	var layouts []int
	for _, trial := range b.trials {
		if trial.Cell.Driver != other {
			if trial.Layout != 0 || trial.Outcome != assay.OK {
				t.Errorf("%s: layout %d, %s", trial.Cell.Driver, trial.Layout, trial.Outcome)
			}
			continue
		}
		layouts = append(layouts, trial.Layout)
		if trial.Outcome != assay.NotApplied || !strings.Contains(trial.Reason, "NOSUCH=1 was asked for") || trial.Figures[assay.NsPerOp] <= 0 {
			t.Errorf("%s: %s, %v", trial.Outcome, trial.Reason, trial.Figures)
		}
		if !slices.ContainsFunc(trial.Warnings, func(w assay.Warning) bool { return w.Code == "layout" }) {
			t.Errorf("no warning of the layout: %v", trial.Warnings)
		}
	}
	// A noisy machine asks for more than the two launches of the plan.
	for i, layout := range layouts {
		if layout != i%2+1 {
			t.Errorf("layouts %v, want 1 and 2 in turn", layouts)
		}
	}
	if len(layouts) < 2 {
		t.Errorf("%d launches, want two at least", len(layouts))
	}
}

// Every phase that a worker may report has a metric.
func TestPhaseMetrics(t *testing.T) {
	var got []string
	for _, phase := range []string{wire.PhasePrepare, wire.PhaseBind, wire.PhaseQuery, wire.PhaseNext, wire.PhaseScan, wire.PhaseCloseRows, wire.PhaseCloseStmt} {
		trial := assay.Trial{Figures: map[string]float64{}}
		p := phased{operations: 1, windows: 1, nanos: map[string]int64{phase: 1}}
		p.record(&trial, assay.Operation{})
		delete(trial.Figures, assay.ClockPerOp)
		got = append(got, slices.Collect(maps.Keys(trial.Figures))...)
	}
	if !slices.Equal(got, assay.PhaseMetrics) {
		t.Errorf("got figures of %q, want %q", got, assay.PhaseMetrics)
	}
}

// Phases are figures of their own, from windows that come after the others.
func TestPhases(t *testing.T) {
	b := newBench(t, header+strings.Replace(read, "rows: 1", "rows: 1, phases: true", 1))
	b.run(t)
	if len(b.trials) == 0 {
		t.Fatal("no trial")
	}
	for _, trial := range b.trials {
		if trial.Cell.Driver != "honest" {
			told := slices.ContainsFunc(trial.Warnings, func(w assay.Warning) bool { return w.Code == "no-phases" })
			if _, has := trial.Figures["clock-ns/op"]; has || !told || trial.Outcome != assay.OK {
				t.Errorf("a worker without phases: %s (%s), %v, %v", trial.Outcome, trial.Reason, trial.Warnings, trial.Figures)
			}
			continue
		}
		for _, name := range []string{"query-ns/op", "next-ns/op", "scan-ns/op", "close-rows-ns/op", "clock-ns/op"} {
			if !(trial.Figures[name] > 0) {
				t.Errorf("%s of %s is %g", name, trial.Cell.Driver, trial.Figures[name])
			}
		}
		for _, name := range []string{"prepare-ns/op", "bind-ns/op", "close-stmt-ns/op"} {
			if _, has := trial.Figures[name]; has {
				t.Errorf("%s is there, and does not occur", name)
			}
		}
		if len(trial.Samples) > windowsPerLaunch {
			t.Errorf("%d samples: the windows with phases are among them", len(trial.Samples))
		}
	}
}

// What is wrong in the windows with timed phases alone is an outcome too.
func TestWrongWhilePhasesAreTimed(t *testing.T) {
	b := faultyBench(t, missesPhased, strings.Replace(read, "rows: 1", "rows: 1, phases: true", 1))
	launchOnce(t, &b.Config)
	for driver, want := range map[string]assay.Outcome{"honest": assay.OK, missesPhased: assay.WrongAnswer} {
		for _, trial := range b.of(driver) {
			if trial.Outcome != want || want != assay.OK && len(trial.Figures) > 0 {
				t.Errorf("%s: got %s (%s) with the figures %v, want %s", driver, trial.Outcome, trial.Reason, trial.Figures, want)
			}
		}
		if len(b.of(driver)) == 0 {
			t.Errorf("%s: no trial", driver)
		}
	}
}
