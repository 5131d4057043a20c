package report

import (
	"iter"
	"strings"
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/stat"
)

// targetsOf builds a report of one table: six launches of each target's figures.
func targetsOf(t *testing.T, targets []assay.Target, trial func(target assay.Target, launch int) assay.Trial) *Report {
	t.Helper()
	var all iter.Seq2[assay.Trial, error] = func(yield func(assay.Trial, error) bool) {
		for launch := 1; launch <= 6; launch++ {
			for _, target := range targets {
				one := trial(target, launch)
				one.Group, one.Launch, one.Outcome = "g", launch, assay.OK
				one.Cell = assay.Cell{Plan: "p", Operation: "read", Engine: target.Engine, Driver: target.Driver, DriverVersion: target.DriverVersion,
					Options: strings.Join(target.Options, ":"), Build: target.Build, Profile: "web", Clients: max(1, one.Cell.Clients), Pool: 1, Idle: 1}
				if !yield(one, nil) {
					return
				}
			}
		}
	}
	r, err := analysis.New(assay.Run{ID: "r", Plan: "p", Baseline: assay.ParseBaseline(targets[0].Name()), Targets: targets}, all)
	must(t, err)
	return New(r)
}

func figure(ns float64, launch int) assay.Trial {
	noise := 1 + 0.001*float64(launch%3)
	return assay.Trial{Figures: map[string]float64{assay.NsPerOp: ns * noise}}
}

func text(t *testing.T, r *Report) string {
	t.Helper()
	var out strings.Builder
	must(t, r.Write(&out, "text"))
	return out.String()
}

func TestFloorIsNoChoice(t *testing.T) {
	targets := []assay.Target{
		{Driver: "mattn", DriverVersion: "v1", Engine: "sqlite"},
		{Driver: "sqlite-c", DriverVersion: "3.53.4", Engine: "sqlite", Facts: map[string]string{"floor": "true"}},
	}
	r := targetsOf(t, targets, func(target assay.Target, launch int) assay.Trial {
		if target.Driver == "sqlite-c" {
			return figure(1000, launch)
		}
		return figure(2500, launch)
	})
	for _, row := range r.Tables[0].Rows {
		switch row.Driver {
		case "mattn":
			if row.IsFloor || row.Rank != 1 || row.Floor == nil || wording.Significant(row.Floor.Center, 3) != "2.50" || row.Floor.N != 6 {
				t.Errorf("mattn: %+v, floor %+v", row.Rank, row.Floor)
			}
		case "sqlite-c":
			if !row.IsFloor || row.Rank != 0 || row.Floor != nil {
				t.Errorf("floor: rank %d, %+v", row.Rank, row.Floor)
			}
		}
	}
	out := text(t, r)
	if !strings.Contains(out, "x floor") || strings.Contains(out, "use sqlite-c") || strings.Contains(out, "Open sqlite-c") {
		t.Error(out)
	}
}

// A table shows the share of the worker's own loop where a worker reports it.
func TestOwnLoopHasAColumn(t *testing.T) {
	targets := []assay.Target{{Driver: "mattn", DriverVersion: "v1", Engine: "sqlite"}, {Driver: "python", DriverVersion: "3.11", Engine: "sqlite"}}
	for share, want := range map[float64]bool{0: false, 0.025: true} {
		clients := 1 + int(40*share) // one measures the loop: it is a lower bound for two
		out := text(t, targetsOf(t, targets, func(target assay.Target, launch int) assay.Trial {
			trial := figure(1000, launch)
			trial.Cell.Clients = clients
			if target.Driver == "python" && share > 0 {
				trial.Figures[assay.LoopNsPerOp] = share * trial.Figures[assay.NsPerOp]
			}
			return trial
		}))
		if got := strings.Contains(out, "own loop") && strings.Contains(out, ">= 2.50 %"); got != want {
			t.Errorf("with a share of %g the column is there: %t, want %t\n%s", share, got, want, out)
		}
	}
}

func TestBuildsAreToldApart(t *testing.T) {
	targets := []assay.Target{
		{Driver: "mattn", DriverVersion: "v1", Engine: "sqlite", Build: "b1"},
		{Driver: "mattn", DriverVersion: "v1", Engine: "sqlite", Build: "b2", Options: []string{"DQS=0"}},
		{Driver: "mattn", DriverVersion: "v0", Engine: "sqlite", Build: "b3"},
	}
	r := targetsOf(t, targets, func(target assay.Target, launch int) assay.Trial {
		return figure(map[string]float64{"b1": 1000, "b2": 1100, "b3": 1200}[target.Build], launch)
	})
	verdicts := map[string]stat.Verdict{}
	for _, row := range r.Tables[0].Rows {
		if f, _ := row.Figure(assay.NsPerOp); f.Comparison != nil {
			verdicts[row.Driver] = f.Comparison.Verdict
		} else {
			verdicts[row.Driver] = "none"
		}
	}
	want := map[string]stat.Verdict{"mattn@v1": "none", "mattn@v1:DQS=0": stat.Slower, "mattn@v0": stat.Slower}
	for name, verdict := range want {
		if verdicts[name] != verdict {
			t.Errorf("%s: %q, want %q", name, verdicts[name], verdict)
		}
	}
}

// With many comparisons, an interval that alone would just exclude 1 does not
// decide.
func TestHolmWithdrawsTheLeastSure(t *testing.T) {
	targets := []assay.Target{{Driver: "reference", DriverVersion: "v1"}}
	for _, name := range strings.Split("abcdefghij", "") {
		targets = append(targets, assay.Target{Driver: name, DriverVersion: "v1"})
	}
	// The log ratios of each have a t of about 2.9 with 5 degrees of freedom:
	// p is about 0.034.
	r := targetsOf(t, targets, func(target assay.Target, launch int) assay.Trial {
		if target.Driver == "reference" {
			return assay.Trial{Figures: map[string]float64{assay.NsPerOp: 1000}}
		}
		return assay.Trial{Figures: map[string]float64{assay.NsPerOp: 1000 * (1.037 + 0.031*[]float64{1, -1, 1, -1, 1, -1}[launch-1])}}
	})
	for _, row := range r.Tables[0].Rows {
		f, _ := row.Figure(assay.NsPerOp)
		if f.Comparison == nil {
			continue
		}
		if c := f.Comparison; c.Verdict != stat.Undecided || c.Reason != stat.TooMany || c.Ratio.Low <= 1 {
			t.Errorf("%s: %+v", row.Driver, c)
		}
	}
}

func TestPhasesTable(t *testing.T) {
	targets := []assay.Target{{Driver: "mattn", DriverVersion: "v1"}, {Driver: "direct", DriverVersion: "v1"}}
	r := targetsOf(t, targets, func(target assay.Target, launch int) assay.Trial {
		one := figure(5000, launch)
		phases := map[string]float64{"query-ns/op": 2000, "next-ns/op": 3000, "scan-ns/op": 1000, "clock-ns/op": 200}
		if target.Driver == "direct" {
			phases = map[string]float64{"bind-ns/op": 1000, "next-ns/op": 3000, "clock-ns/op": 100}
		}
		for name, ns := range phases {
			one.Figures[name] = ns
		}
		return one
	})
	out := text(t, r)
	for _, want := range []string{"phases: driver", "1.00 µs 25 %", "2.00 µs 33 %", "3.00 µs 50 %", "is absent (-)",
		"mattn (web)   " + strings.Repeat("q", 20) + strings.Repeat("n", 30) + strings.Repeat("s", 10) + "\n",
		"direct (web)  " + strings.Repeat("b", 10) + strings.Repeat("n", 30) + "\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "prepare ") {
		t.Errorf("a phase that nobody has:\n%s", out)
	}
}
