//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
)

// Where the budget ends in the first round, the operation that is measured then
// is finished, no instance is started any more, and all other cells are not run.
func TestBudgetEndsInTheFirstRound(t *testing.T) {
	b := newBench(t, header+read+strings.ReplaceAll(read, "  read", "  again")+insert+mix)
	b.Budget = time.Hour
	r, err := Prepare(t.Context(), b.Config)
	must(t, err)
	opened := 0
	r.config.Emit = func(trial assay.Trial) error {
		if len(b.trials) == 0 {
			opened = len(lives(b.asked(t)))
		}
		b.trials = append(b.trials, trial)
		r.clock.spent += b.Budget
		return nil
	}
	must(t, r.Run(t.Context()))
	outcomes, measured := map[string][]assay.Outcome{}, map[string]bool{}
	for _, trial := range b.trials {
		if !trial.Twin {
			outcomes[trial.Cell.Key()] = append(outcomes[trial.Cell.Key()], trial.Outcome)
		}
		if trial.Outcome == assay.OK {
			measured[trial.Cell.Operation] = true
		}
	}
	for key, all := range outcomes {
		if len(all) != 1 || all[0] != assay.OK && all[0] != assay.NotRun {
			t.Errorf("%s has the outcomes %v, want ok or not-run, once", key, all)
		}
	}
	if len(outcomes) != 8 || len(measured) != 1 {
		t.Errorf("%d cells have an outcome and the operations %v are measured, want 8 and one", len(outcomes), measured)
	}
	if got := len(lives(b.asked(t))); got != opened {
		t.Errorf("%d workers were opened, %d of them before the budget ended", got, opened)
	}
}

// A run that is cancelled ends with the context's error and leaves neither a
// worker nor a folder.
func TestCancel(t *testing.T) {
	b := newBench(t, header+read)
	ctx, cancel := context.WithCancel(t.Context())
	b.Progress = func(e Event) {
		if e.Phase == Measuring && e.Round == 2 {
			cancel()
		}
	}
	r, err := Prepare(ctx, b.Config)
	must(t, err)
	if err := r.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled run: %v", err)
	}
	if len(b.trials) != 3 {
		t.Errorf("%d trials, want the three of the first round", len(b.trials))
	}
	for _, a := range b.asked(t) {
		if alive(a.PID) {
			t.Errorf("worker %s is left", a.Worker)
		}
	}
	folders, err := filepath.Glob(filepath.Join(b.Work.Dir, "instance-*"))
	if err != nil || len(folders) > 0 {
		t.Errorf("folders %v are left, %v", folders, err)
	}
}

// What a resumed run has done already counts, a launch that was interrupted
// does not, and new launches get new numbers.
func TestResume(t *testing.T) {
	b := newBench(t, header+insert)
	b.run(t)
	b.Done = b.trials[:4] // the whole first launch, and a part of the second
	b.trials = nil
	b.run(t)
	var launches []int
	for _, trial := range b.trials {
		launches = append(launches, trial.Launch)
	}
	if !slices.Equal(launches, []int{3, 3, 3}) {
		t.Errorf("launches %v, want a third one alone", launches)
	}
}

// A runner that is prepared once launches some of its cases under the numbers that it is
// told. No worker is started again to be asked what it is.
func TestLaunchesOfAPreparedRunner(t *testing.T) {
	b := newBench(t, header+insert)
	r, err := Prepare(t.Context(), b.Config)
	must(t, err)
	if err := os.Remove(b.log); err != nil { // to find out the targets
		t.Fatal(err)
	}
	onlySecond := slices.DeleteFunc(slices.Clone(b.Cases), func(c assay.Case) bool { return c.Cell.Driver != "second" })
	for _, launch := range []struct {
		number int
		cases  []assay.Case
	}{{3, b.Cases}, {7, onlySecond}} {
		r.time.add(assay.StageMeasured, time.Hour) // of a launch before
		must(t, r.Launch(t.Context(), launch.number, launch.cases))
		if spent := r.Spent()[assay.StageMeasured]; spent >= time.Hour {
			t.Errorf("launch %d: %s were spent on measuring, want what it took without the launches before", launch.number, spent)
		}
	}
	var got []string
	for _, trial := range b.trials {
		got = append(got, fmt.Sprint(trial.Launch, " ", trial.Cell.Driver, " ", trial.Twin))
	}
	slices.Sort(got)
	same(t, "trials", got, []string{"3 honest false", "3 honest true", "3 second false", "7 second false"})
	for _, life := range lives(b.asked(t)) {
		if !strings.HasPrefix(life, "open ") {
			t.Errorf("a worker was asked %q, want that each opens the data", life)
		}
	}
}
