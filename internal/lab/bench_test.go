package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/plan"
)

// A bench measures a run launch by launch, and another one goes on with it.
func TestBench(t *testing.T) {
	l, _, request := bench(t, &watcher{})
	template, err := l.Template(t.Context(), request)
	if err != nil || template.Plan != "small" || template.Options.Launches != 2 {
		t.Fatalf("got a template of plan %q with %d launches, %v; want small with 2", template.Plan, template.Options.Launches, err)
	}
	first, err := l.Bench(t.Context(), template, nil)
	must(t, err)
	defer first.Close()
	run := first.Run()
	if run.ID == "" || len(run.Targets) != 2 || run.Host["cores"] == "" || run.Status != assay.Running {
		t.Errorf("got %+v, want a run with an ID, two targets and facts of the machine", run)
	}
	want := []string{"1 one false", "1 one true", "1 two false"}
	trials := checkLaunch(t, first, 1, want)
	second, err := l.Bench(t.Context(), run, trials)
	must(t, err)
	defer second.Close()
	if got := second.Run().ID; got != run.ID {
		t.Errorf("going on: got run %s, want %s", got, run.ID)
	}
	checkLaunch(t, second, 2, []string{"2 one false", "2 one true", "2 two false"})
	if got := second.Finished(); got.Status != assay.Finished || got.Finished.IsZero() {
		t.Errorf("got the status %s at %s, want finished", got.Status, got.Finished)
	}
	// Cells that cannot be measured are not tried again.
	run.Options.Drivers = nil
	ended := slices.Clone(trials)
	for i := range ended {
		if ended[i].Cell.Driver == "two" {
			ended[i].Outcome, ended[i].Figures = assay.Failed, nil
		}
	}
	third, err := l.Bench(t.Context(), run, ended)
	must(t, err)
	defer third.Close()
	checkLaunch(t, third, 2, []string{"2 one false", "2 one true"})
	// A worker that was rebuilt would be another target.
	run.Targets[0].Build = "other"
	if _, err := l.Bench(t.Context(), run, trials); err == nil || !strings.Contains(err.Error(), "was rebuilt") {
		t.Errorf("a rebuilt worker: got %v, want that it was rebuilt", err)
	}
}

// A cell without a worker is in the first launch that is kept, also where an agent was
// lost before.
func TestBenchKeepsUnbuilt(t *testing.T) {
	l, _, request := bench(t, &watcher{})
	folder := filepath.Join(l.Source.Dir, "workers", "broken")
	for name, text := range map[string]string{"go.mod": "module assay/workers/broken\n\ngo 1.24\n", "main.go": "package main\n\nfunc main() { broken }\n"} {
		must(t, errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644)))
	}
	request.Drivers = []string{"one", "broken"}
	template, err := l.Template(t.Context(), request)
	must(t, err)
	first, err := l.Bench(t.Context(), template, nil)
	must(t, err)
	run := first.Run()
	first.Close()
	again, err := l.Bench(t.Context(), run, nil)
	must(t, err)
	defer again.Close()
	trials, err := again.Launch(t.Context(), 1)
	must(t, err)
	if !slices.ContainsFunc(trials, func(trial assay.Trial) bool { return trial.Cell.Driver == "broken" && trial.Outcome == assay.Failed }) {
		t.Errorf("the first launch has no trial of the driver without a worker: %+v", trials)
	}
}

// checkLaunch makes a launch and compares its trials.
func checkLaunch(t *testing.T, b *Bench, number int, want []string) []assay.Trial {
	t.Helper()
	trials, err := b.Launch(t.Context(), number)
	must(t, err)
	var got []string
	for i, trial := range trials {
		trials[i].Outcome = assay.OK // on a crowded machine, a worker's clock may be doubted
		got = append(got, fmt.Sprint(trial.Launch, " ", trial.Cell.Driver, " ", trial.Twin))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("launch %d: got %v, want %v", number, got, want)
	}
	return trials
}

// What one machine alone can measure has no template.
func TestTemplateRefuses(t *testing.T) {
	l, _, request := bench(t, &watcher{})
	path := filepath.Join(t.TempDir(), "app.db")
	must(t, os.WriteFile(path, nil, 0o600))
	before, _, _ := strings.Cut(small, "workload:")
	own, err := plan.Decode("own.yaml", []byte(before+"workload: {name: own, file: "+path+"}\noperations:\n  one: {sql: SELECT 1, rows: 1}\n"))
	must(t, err)
	for name, change := range map[string]func(*Request){
		"each makes the launches of the plan": func(r *Request) { r.Budget = 1 },
		"cannot give --budget, --precision":   func(r *Request) { r.Target = 0.1 },
		"unknown driver":                      func(r *Request) { r.Drivers = []string{"three"} },
		"which the other machines do not":     func(r *Request) { r.Plan = own },
	} {
		changed := request
		change(&changed)
		_, err := l.Template(t.Context(), changed)
		if input := (*InputError)(nil); !errors.As(err, &input) || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want an error of the input: %s", err, name)
		}
	}
}
