package lab

import (
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/runner"
)

// What is measured without each setting is the best build, not another one of its driver.
func TestWithoutEach(t *testing.T) {
	profile := assay.Profile{Name: "web", Settings: map[string]string{"synchronous": "normal", "cache_size": "-4096"}}
	var cases []assay.Case
	for _, name := range []string{"mattn", "mattn:DQS=0", "mattn@v1.14.50", "modernc"} {
		driver := assay.ParseDriverName(name)
		cases = append(cases, assay.Case{Profile: profile,
			Cell: assay.Cell{Driver: driver.Name, DriverVersion: driver.Version, Options: driver.Options, Profile: profile.Name}})
	}
	for build, want := range map[string][]string{
		"v1.14.50":       {"mattn@v1.14.50 without ", "mattn@v1.14.50 without cache_size", "mattn@v1.14.50 without synchronous"},
		"v1.14.52":       {"mattn without ", "mattn without cache_size", "mattn without synchronous"},
		"v1.14.52:DQS=0": {"mattn:DQS=0 without ", "mattn:DQS=0 without cache_size", "mattn:DQS=0 without synchronous"},
	} {
		name := assay.ParseDriverName("mattn@" + build)
		best := assay.Cell{Engine: "sqlite", Driver: name.Name, DriverVersion: name.Version, Options: name.Options, Profile: profile.Name}
		var got []string
		for _, c := range withoutEach(cases, best) {
			got = append(got, c.Cell.Target()+" without "+c.Cell.Without)
		}
		if !slices.Equal(got, want) {
			t.Errorf("best is %s: got %q, want %q", best.Target(), got, want)
		}
	}
}

// What is kept of the budget for the ablation goes to the other cells where nothing is the
// best: two workers that are the same program.
func TestWithoutAWinner(t *testing.T) {
	var budgets []time.Duration
	w := &watcher{measure: func(e runner.Event) {
		if e.Phase == runner.Measuring {
			budgets = append(budgets, e.Budget)
		}
	}}
	l, s, request := bench(t, w)
	request.Plan.Factors, request.Budget, request.Target = true, 2*time.Second, 1e-6
	result, err := l.Run(t.Context(), s, request)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Compact(budgets), []time.Duration{1400 * time.Millisecond, 2 * time.Second}; !slices.Equal(got, want) {
		t.Errorf("launches had the budgets %v, want %v", got, want)
	}
	if !strings.HasPrefix(strings.Join(w.notes, ""), "No clear winner: what was kept") || len(w.notes) != 1 {
		t.Errorf("got the notes %q, want one, that there is no clear winner", w.notes)
	}
	for trial, err := range s.Trials(t.Context(), result.ID) {
		if err != nil || trial.Ablation {
			t.Fatalf("got a trial of the ablation, or %v", err)
		}
	}
}

// A trial of a floor is of the case whose driver's SQLite the floor is made of.
func TestTrialOfAFloor(t *testing.T) {
	trial := assay.Trial{Cell: assay.Cell{Driver: "sqlite-c", DriverVersion: "3.53.4+mattn", Profile: "web"}}
	for name, want := range map[string]bool{"sqlite-c@mattn": true, "sqlite-c@crawshaw": false, "mattn": false} {
		driver := assay.ParseDriverName(name)
		c := assay.Case{Cell: assay.Cell{Driver: driver.Name, DriverVersion: driver.Version, Options: driver.Options, Profile: "web"}}
		r := &run{chosen: selection{names: assay.NamesOf([]assay.Case{c})}}
		if got := r.of(trial, c); got != want {
			t.Errorf("%s: got %t, want %t", name, got, want)
		}
	}
}
