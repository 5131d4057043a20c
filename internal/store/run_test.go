package store

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"assay"

	"github.com/google/go-cmp/cmp"
)

func TestRunLifeCycle(t *testing.T) {
	s := fresh(t)
	run := assay.Run{
		ID: "20261120-153000-1f2e", Plan: "quick", PlanText: "workload: {}\n",
		Options: assay.Options{Drivers: []string{"mattn", "modernc@v1.61.1"}, Only: map[string][]string{"clients": {"1", "8"}},
			Budget: 90 * time.Second, Precision: 0.02, Margin: 0.03},
		Seed: math.MaxUint64, Started: time.Date(2026, 11, 20, 15, 30, 0, 123456789, time.UTC),
		Status: assay.Running, Version: "v0.1.0", Host: map[string]string{"cpu": "Ünï 3000"},
	}
	must(t, s.Begin(t.Context(), run))
	same(t, s, run)

	run.Targets = []assay.Target{
		{Driver: "modernc", DriverVersion: "v1.61.1", Engine: "sqlite", EngineVersion: "3.54.1", Build: "ab12",
			Facts: map[string]string{"cgo": "no"}, CompileOptions: []string{"THREADSAFE=1", "USE_URI"}},
		{Driver: "bbolt", CompileOptions: []string{}},
	}
	run.Baseline, run.MinTime = assay.ParseBaseline("modernc@v1.61.1:DQS=0/web"), 42*time.Second
	run.Spent = assay.Spent{assay.StageMeasured: 62 * time.Second, assay.StageWarmUp: 38 * time.Second}
	run.Files = map[string]string{"/home/a/shop.db page_size=8192": "00ff"}
	run.Options.Budget, run.Options.Baseline = time.Hour, run.Baseline
	must(t, s.Update(t.Context(), run))
	same(t, s, run)

	run.Targets = run.Targets[:1]
	run.Status, run.Finished = assay.Finished, run.Started.Add(time.Hour)
	must(t, s.Update(t.Context(), run))
	same(t, s, run)
}

// same checks that the store's only run is this one, to the last field.
func same(t *testing.T, s *Store, want assay.Run) {
	t.Helper()
	got, err := s.Runs(t.Context())
	if diff := cmp.Diff([]assay.Run{want}, got, sameTime); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got)\n%s", err, diff)
	}
}

// sameTime compares times with their locations: what is stored comes back in UTC.
var sameTime = cmp.Comparer(func(a, b time.Time) bool { return a == b })

func TestRunErrors(t *testing.T) {
	s := fresh(t)
	if runs, err := s.Runs(t.Context()); err != nil || len(runs) != 0 {
		t.Errorf("Runs of an empty store: %v, %v", runs, err)
	}
	_, err := s.Run(t.Context(), "")
	expect(t, err, ErrNotFound, "it has no runs yet")
	expect(t, s.Update(t.Context(), assay.Run{ID: "x"}), ErrNotFound, `updating run "x"`)

	must(t, s.Begin(t.Context(), start("x", "quick", 0)))
	expect(t, s.Begin(t.Context(), start("x", "quick", 0)), nil, "there already")
	for _, err := range s.Trials(t.Context(), "y") {
		expect(t, err, ErrNotFound, `run "y"`)
	}
	must(t, s.Close())
	expect(t, s.Begin(t.Context(), start("y", "quick", 0)), nil, "closed")
}

func expect(t *testing.T, err, is error, text string) {
	t.Helper()
	if err == nil || is != nil && !errors.Is(err, is) || !strings.Contains(err.Error(), text) {
		t.Errorf("got error %v, want %v with %q", err, is, text)
	}
}

func TestRunByID(t *testing.T) {
	s := fresh(t)
	for i, id := range []string{"b-2", "a-10", "a-1", "c-9"} {
		must(t, s.Begin(t.Context(), start(id, "quick", i)))
	}
	for _, test := range []struct{ id, want, text string }{
		{"", "c-9", ""},
		{"latest", "c-9", ""},
		{"b", "b-2", ""},
		{"a-1", "a-1", ""}, // exact, though a-10 begins so too
		{"a-10", "a-10", ""},
		{"c-", "c-9", ""},
		{"a", "", "more than one run begins with \"a\": a-1, a-10"},
		{"%", "", "\"%\"; there are c-9, a-1, a-10, b-2"},
		{"_", "", "no such run"},
	} {
		got, err := s.Run(t.Context(), test.id)
		if test.text != "" {
			expect(t, err, nil, test.text)
		} else if err != nil || got.ID != test.want {
			t.Errorf("%q: got %q, %v; want %q", test.id, got.ID, err, test.want)
		}
	}
	for i := range 4 {
		must(t, s.Begin(t.Context(), start(fmt.Sprint("d", i), "quick", 10+i)))
	}
	_, err := s.Run(t.Context(), "z")
	expect(t, err, ErrNotFound, "there are d3, d2, d1, d0, c-9 and 3 more")
}

// A stage of a tuning is the newest run only where there is nothing else.
func TestNewestIsNoStage(t *testing.T) {
	s := fresh(t)
	begin := func(id, plan, text string, at int) {
		run := start(id, plan, at)
		run.PlanText = text
		must(t, s.Begin(t.Context(), run))
	}
	newest := func(want string) {
		t.Helper()
		for _, id := range []string{"", "latest"} {
			if run, err := s.Run(t.Context(), id); err != nil || run.ID != want {
				t.Errorf("the newest, %q: got %q, %v; want %q", id, run.ID, err, want)
			}
		}
	}
	text := "name: quick\n"
	stage := func(name string) string { return text + assay.StageLine(name, 1) + "\n#   current:\n" }
	begin("a", "quick.screening", stage("quick.screening"), 1)
	begin("b", "quick.race", stage("quick.race"), 2)
	newest("b")
	begin("c", "quick", text, 3)
	begin("d", "quick.race", stage("quick.race"), 4)
	newest("c")
	begin("e", "quick.race", text+"# quick.race, seed 1, is what this plan is called\n", 5)
	newest("e")
}

func TestUnfinished(t *testing.T) {
	s := fresh(t)
	for i, status := range []assay.Status{assay.Interrupted, assay.Running, assay.Finished} {
		run := start(string(status), "quick", i)
		run.Status, run.PlanFile = status, "/mine/quick.yaml"
		must(t, s.Begin(t.Context(), run))
	}
	must(t, s.Begin(t.Context(), start("other", "other", 9)))

	got, err := s.Unfinished(t.Context(), "quick", "/mine/quick.yaml", nil)
	if err != nil || got.ID != "running" {
		t.Errorf("got %q, %v; want the newest that is not finished", got.ID, err)
	}
	_, err = s.Unfinished(t.Context(), "quick", "/other/quick.yaml", nil)
	expect(t, err, ErrNotFound, `no unfinished run of plan "quick" from /other/quick.yaml; run running is of the plan of that name from /mine/quick.yaml`)
	far := start("far", "far", 10)
	far.PlanFile, far.Host = "/mine/far.yaml", map[string]string{"machine": "ab", "cpu": "x"}
	must(t, s.Begin(t.Context(), far))
	_, err = s.Unfinished(t.Context(), "far", "/mine/far.yaml", map[string]string{"machine": "cd", "cpu": "x"})
	expect(t, err, ErrNotFound, `no unfinished run of plan "far" of this machine; run far was started on another one (x)`)
	if got, err := s.Unfinished(t.Context(), "far", "/mine/far.yaml", map[string]string{"machine": "ab", "cpu": "x"}); err != nil || got.ID != "far" {
		t.Errorf("on its own machine: got %q, %v; want far", got.ID, err)
	}
	_, err = s.Unfinished(t.Context(), "none", "none.yaml", nil)
	expect(t, err, ErrNotFound, `no unfinished run of plan "none"`)
}
