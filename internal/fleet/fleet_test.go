package fleet

import (
	"testing"

	"assay/internal/store"

	"github.com/google/go-cmp/cmp"
)

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
