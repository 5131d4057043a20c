package fleet

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"assay"
	"assay/internal/store"

	"github.com/google/go-cmp/cmp"
)

// A machine has ended where it has made all launches, or given up; until then it says
// whom it waits for.
func TestState(t *testing.T) {
	for want, c := range map[string]struct {
		machine store.FleetMachine
		ended   bool
	}{
		"machine 2: waiting for an agent":              {store.FleetMachine{Position: 2}, false},
		"a: 2 of 3 launches":                           {store.FleetMachine{Machine: "a", Done: 2, Holder: "agent"}, false},
		"a: 2 of 3 launches, waiting for its agent":    {store.FleetMachine{Machine: "a", Done: 2}, false},
		"a: 3 of 3 launches":                           {store.FleetMachine{Machine: "a", Done: 3}, true},
		"a: 2 of 3 launches, given up: no space":       {store.FleetMachine{Machine: "a", Done: 2, Problem: "no space"}, true},
		"machine 2: 0 of 3 launches, given up: nobody": {store.FleetMachine{Position: 2, Problem: "nobody"}, true},
	} {
		if got := State(c.machine, 3); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := Ended(c.machine, 3); got != c.ended {
			t.Errorf("%s: got that it has ended: %v, want %v", want, got, c.ended)
		}
	}
}

// Where a launch cannot be made, the machine gives up the plan and says why, and its agent
// goes on with the next fleet.
func TestGivesUp(t *testing.T) {
	s := open(t, location(t))
	broken := queue(t, s, 1, 2)
	null := openNull(nil, nil)
	opened := 0
	opener := func(ctx context.Context, run assay.Run, trials []assay.Trial) (Bench, error) {
		if opened++; opened == 1 {
			return nil, errors.New("no driver of that name")
		}
		return null(ctx, run, trials)
	}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- agent(s, "1", "A", filepath.Join(t.TempDir(), "lock"), opener, func(string) {}).Run(ctx)
	}()
	machines, err := Wait(t.Context(), s, broken, testPoll, func(string) {})
	must(t, err)
	if got, want := State(machines[0], 2), "machine A: 0 of 2 launches, given up: no driver of that name"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	next := queue(t, s, 1, 2)
	wait(t, s, next)
	checkOnce(t, s, next)
	end()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of its context", err)
	}
}

// Machines with an agent of the same version take part; of the others, those are named
// that have none.
func TestMachines(t *testing.T) {
	s := open(t, location(t))
	old := store.Agent{Name: "c", Machine: "C", Words: "machine C", Version: "v0"}
	for _, a := range []store.Agent{
		{Name: "a1", Machine: "A", Words: "machine A", Version: "v0"}, {Name: "a2", Machine: "A", Words: "machine A", Version: "v1"},
		{Name: "b", Machine: "B", Words: "machine B", Version: "v1"}, old,
	} {
		must(t, s.Present(t.Context(), a))
	}
	machines, others, err := Machines(t.Context(), s, "v1")
	if err != nil || machines != 2 {
		t.Errorf("got %d machines, %v; want 2", machines, err)
	}
	if diff := cmp.Diff([]store.Agent{old}, others); diff != "" {
		t.Errorf("of other versions: (-want +got)\n%s", diff)
	}
}

// What a machine says is one line, whatever is in the store.
func TestStateIsALine(t *testing.T) {
	m := store.FleetMachine{Position: 2, Machine: "EPYC\x1b[2J\n#1", Done: 1, Problem: "worker a: no go\nworker b: no go"}
	if got, want := State(m, 3), "EPYC [2J #1: 1 of 3 launches, given up: worker a: no go; worker b: no go"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
