//go:build unix

package runner

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay"
	"assay/kit/process"
	"assay/kit/wire"
)

// A worker that cannot be started is an outcome of its cells; where there is
// no other, it is an error.
func TestWorkerThatDoesNotStart(t *testing.T) {
	b := newBench(t, header+insert)
	broken := filepath.Join(t.TempDir(), "broken")
	must(t, os.WriteFile(broken, []byte("#!/bin/sh\necho no library >&2\nexit 5\n"), 0o755))
	b.Programs["second"] = Program{Path: broken, Digest: "broken build"}
	b.run(t)
	outcomes := map[string]int{}
	for _, trial := range b.trials {
		outcomes[trial.Cell.Driver+" "+string(trial.Outcome)]++
		if trial.Cell.Driver == "second" && (!strings.Contains(trial.Reason, "exit status 5") || !strings.Contains(trial.Reason, "no library") || trial.Cell.Build != "broken build") {
			t.Errorf("trial %+v", trial)
		}
	}
	if len(outcomes) != 2 || outcomes["honest ok"] < 4 || outcomes["second failed"] != 1 {
		t.Errorf("outcomes %v", outcomes)
	}
	b.Programs["honest"] = b.Programs["second"]
	if _, err := Prepare(t.Context(), b.Config); err == nil || !strings.Contains(err.Error(), "no worker can be measured; honest: ") {
		t.Errorf("without a worker: %v", err)
	}
}

// The failure of a worker that does not open is kept even if the budget ends before the first
// operation of its launch: the cell would count as not measured, or as ok.
func TestFailureToStartIsKept(t *testing.T) {
	b := newBench(t, strings.Replace(header, "second", "dies", 1)+read)
	r, err := Prepare(t.Context(), b.Config)
	must(t, err)
	l := &jointLaunch{r: r, g: r.groups[0], members: r.groups[0].members, number: r.groups[0].launches.begin(), tried: map[string]bool{}}
	l.g.launches.pauses, _ = process.Pauses()
	defer l.killAll()
	must(t, l.startAll(t.Context()))
	var got []string
	for _, trial := range b.trials {
		got = append(got, trial.Cell.Driver+" "+string(trial.Outcome))
	}
	if got := slices.Compact(got); !slices.Equal(got, []string{"dies failed"}) {
		t.Errorf("got trials %v, want those of the driver that dies alone", got)
	}
}

// verifiedLaunch is a launch of a bench whose answers are verified, before its first window.
func verifiedLaunch(t *testing.T, b *bench) (*jointLaunch, [][]*variant) {
	t.Helper()
	r, err := Prepare(t.Context(), b.Config)
	must(t, err)
	l := &jointLaunch{r: r, g: r.groups[0], members: r.groups[0].members, number: r.groups[0].launches.begin(), tried: map[string]bool{}}
	l.g.launches.pauses, _ = process.Pauses()
	t.Cleanup(l.killAll)
	must(t, l.startAll(t.Context()))
	operations, err := l.verifyAll(t.Context())
	must(t, err)
	return l, operations
}

// An operation that was begun when the budget ends has as many windows as one whose time is scarce,
// and no more.
func TestWindowsAfterTheBudget(t *testing.T) {
	b := newBench(t, header+read)
	l, operations := verifiedLaunch(t, b)
	r := l.r
	r.config.Budget, r.clock.spent = time.Second, time.Hour
	must(t, l.operation(t.Context(), operations[0]))
	for _, v := range operations[0] {
		if v.rounds != v.least || v.least != max(1, v.count/4) || l.g.windows.efforts[v.peer].rounds != v.rounds {
			t.Errorf("got %d of %d windows, %+v; want a fourth", v.rounds, v.count, l.g.windows.efforts[v.peer])
		}
	}
}

// What went wrong in an operation is kept if the budget ends in the middle of it, or of its first
// round: the cell would count as not measured, or as ok.
func TestFailuresBeforeTheBudgetEndsAreKept(t *testing.T) {
	for _, name := range []string{"operation", "round"} {
		b := newBench(t, header+read)
		l, operations := verifiedLaunch(t, b)
		r := l.r
		variants := operations[0]
		failed, wrong := variants[0].turns[0], variants[0].turns[1]
		must(t, end(&wrong.trial, &failure{assay.WrongAnswer, "another answer"}))
		r.config.Budget, r.clock.began = time.Second, time.Now().Add(-time.Hour) // no request is answered any more
		var err error
		if name == "round" {
			failed.last = &measured{Measured: wire.Measured{Executed: 10, Errors: 1}}
			err = l.emitWrong(variants[0].turns, assay.Noise{}, 0, l.countedRound(t.Context(), variants[0]))
		} else {
			failed.tally.add(wire.Measured{Executed: 10, Errors: 1})
			err = l.operation(t.Context(), variants)
		}
		if !errors.Is(err, errBudgetEnded) {
			t.Errorf("%s: got %v, want the end of the budget", name, err)
		}
		got := map[string]assay.Outcome{}
		for _, trial := range b.trials {
			got[figuresKey(trial.Cell, trial.Twin)] = trial.Outcome
		}
		want := map[string]assay.Outcome{figuresKey(failed.j.Cell, failed.twin): assay.Failed, figuresKey(wrong.j.Cell, wrong.twin): assay.WrongAnswer}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A worker that was killed while it was stopped, between two operations, has a
// trial that says so.
func TestWorkerKilledBetweenOperations(t *testing.T) {
	b := newBench(t, header+read+strings.ReplaceAll(read, "  read", "  again"))
	b.Launches = 1
	killed := false
	b.Emit = func(trial assay.Trial) error {
		b.trials = append(b.trials, trial)
		if !killed {
			killed = true
			b.killOne(t)
		}
		return nil
	}
	b.run(t)
	outcomes := map[assay.Outcome]int{}
	for _, trial := range b.trials {
		if trial.Launch > 1 {
			continue
		}
		outcomes[trial.Outcome]++
		if trial.Outcome == assay.Failed && !strings.Contains(trial.Reason, "killed") {
			t.Errorf("reason %q", trial.Reason)
		}
	}
	if outcomes[assay.OK] != 5 || outcomes[assay.Failed] != 1 {
		t.Errorf("outcomes %v, want five ok and one failed", outcomes)
	}
}

// killOne kills the worker second, and waits until the runner has seen it.
func (b *bench) killOne(t *testing.T) {
	for _, a := range b.asked(t) {
		if a.Worker == "second" && alive(a.PID) {
			kill(t, a.PID)
			for alive(a.PID) {
				time.Sleep(time.Millisecond)
			}
			return
		}
	}
	t.Fatal("no worker is there")
}

func TestRunTakesNoLongerThanItsTimeouts(t *testing.T) {
	b := newBench(t, header+insert)
	b.Timeout = time.Nanosecond
	if _, err := Prepare(t.Context(), b.Config); err == nil || !strings.Contains(err.Error(), "no answer within the time limit") {
		t.Errorf("with no time to answer: %v", err)
	}
}

// An instance that cannot be opened costs its own cells only: the others of its
// group are measured, also when it was the baseline, and of several operations.
func TestBaselineThatDoesNotOpen(t *testing.T) {
	text := strings.Replace(header, "profiles:\n", "profiles:\n  broken: {once: [SELECT nothing FROM nowhere]}\n", 1)
	operations := read + strings.ReplaceAll(read, "  read", "  again")
	for name, c := range map[string]struct {
		plan       string
		ok, failed int // cells
	}{
		"the first profile's once fails":     {text + operations, 4, 4},
		"the baseline's worker dies at open": {strings.Replace(header, "honest", "dies", 1) + operations, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.plan)
			b.run(t)
			outcomes := map[assay.Outcome]map[string]int{assay.OK: {}, assay.Failed: {}}
			for _, trial := range b.trials {
				if trial.Twin {
					continue
				}
				if outcomes[trial.Outcome] == nil {
					t.Fatalf("trial %+v", trial)
				}
				outcomes[trial.Outcome][trial.Cell.Key()]++
			}
			if len(outcomes[assay.OK]) != c.ok || len(outcomes[assay.Failed]) != c.failed {
				t.Errorf("%d cells are ok and %d failed, want %d and %d: %v", len(outcomes[assay.OK]), len(outcomes[assay.Failed]), c.ok, c.failed, outcomes)
			}
			for key, n := range outcomes[assay.OK] {
				if n < b.Launches {
					t.Errorf("%s has %d trials, want %d", key, n, b.Launches)
				}
			}
		})
	}
}
