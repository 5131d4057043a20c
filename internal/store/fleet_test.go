package store

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
)

const aMinute = time.Minute

// fleetOf is a fleet in the store, and an agent of a machine.
func fleetOf(t *testing.T, s *Store, machines, launches int) Fleet {
	t.Helper()
	f := Fleet{Template: start("fleet", "quick", 0), Machines: machines, Launches: launches}
	f.Template.Version, f.Template.Options = "v1", assay.Options{Drivers: []string{"mattn"}, Launches: launches}
	must(t, s.Queue(t.Context(), f))
	return f
}

func agentOf(name, machine string) Agent {
	return Agent{Name: name, Machine: machine, Words: "machine " + machine, Version: "v1"}
}

func take(t *testing.T, s *Store, a Agent) *Lease {
	t.Helper()
	l, err := s.Take(t.Context(), a, aMinute)
	must(t, err)
	return l
}

func launch(number int) []assay.Trial {
	return []assay.Trial{{Launch: number, Group: "g", Cell: assay.Cell{Operation: "read"}}}
}

// A launch is kept once, with its end, by the agent that has it.
func TestFleetLaunches(t *testing.T) {
	s := open(t, database(t, admin, true))
	f := fleetOf(t, s, 2, 2)
	a := take(t, s, agentOf("a", "A"))
	if a == nil || a.Position != 1 || a.Launch != 1 || a.Fleet.Template.Plan != "quick" || a.Fleet.Launches != 2 || a.Fleet.Template.Options.Drivers[0] != "mattn" {
		t.Fatalf("got %+v, want the first launch of the first machine", a)
	}
	if l := take(t, s, agentOf("a2", "A")); l != nil {
		t.Errorf("another agent of the machine: got launch %d of %d, want none", l.Launch, l.Position)
	}
	if l := take(t, s, Agent{Name: "old", Machine: "C", Version: "v0"}); l != nil {
		t.Error("an agent of another version has got a launch")
	}
	if l := take(t, s, agentOf("b", "B")); l == nil || l.Position != 2 {
		t.Errorf("another machine: got %+v, want the second place", l)
	}
	if l := take(t, s, agentOf("c", "C")); l != nil {
		t.Errorf("a third machine: got %+v, want none", l)
	}
	must(t, s.BeginPart(t.Context(), a, start("run", "quick", 0)))
	must(t, s.BeginPart(t.Context(), a, start("run", "quick", 0))) // where the server's answer was lost
	must(t, s.Complete(t.Context(), a, launch(1), nil, aMinute))
	again := *a
	again.Launch = 1
	must(t, s.Complete(t.Context(), &again, launch(1), nil, aMinute)) // likewise
	finished := start("run", "quick", 0)
	finished.Status = assay.Finished
	must(t, s.Complete(t.Context(), a, launch(2), &finished, aMinute))
	if got := launchesOf(t, s, "run"); got != "1 2" {
		t.Errorf("got the launches %s, want 1 2", got)
	}
	machines, err := s.FleetMachines(t.Context(), f.Template.ID)
	must(t, err)
	if m := machines[0]; len(machines) != 2 || m.Machine != "machine A" || m.Run != "run" || m.Done != 2 || machines[1].Holder != "b" {
		t.Errorf("got %+v, want two launches of run on machine A, and b on the second", machines)
	}
	if run, err := s.Run(t.Context(), "run"); err != nil || run.Status != assay.Finished {
		t.Errorf("got the status %s, %v; want finished", run.Status, err)
	}
}

func launchesOf(t *testing.T, s *Store, run string) string {
	t.Helper()
	var all []string
	for trial, err := range s.Trials(t.Context(), run) {
		must(t, err)
		all = append(all, string(rune('0'+trial.Launch)))
	}
	return strings.Join(all, " ")
}

// Who does not have a launch any more changes nothing: whether its lease has expired, or
// another agent has it.
func TestFleetLeases(t *testing.T) {
	at := database(t, admin, true)
	s, other := open(t, at), open(t, at)
	fleetOf(t, s, 1, 2)
	first := take(t, s, agentOf("a", "A"))
	must(t, s.BeginPart(t.Context(), first, start("run", "quick", 0)))
	must(t, s.Renew(t.Context(), first, -aMinute))
	expect(t, s.Complete(t.Context(), first, launch(1), nil, aMinute), ErrTaken, "the lease of launch 1 has expired")
	expect(t, s.Renew(t.Context(), first, aMinute), ErrTaken, "expired")
	second := take(t, other, agentOf("b", "A"))
	if second == nil || second.Run != "run" || second.Launch != 1 {
		t.Fatalf("after the lease: got %+v, want launch 1 of the same run", second)
	}
	expect(t, s.Complete(t.Context(), first, launch(1), nil, aMinute), ErrTaken, "another agent has since taken launch 1")
	expect(t, s.GiveBack(t.Context(), first, ""), ErrTaken, "another agent")
	expect(t, s.Append(t.Context(), "run", launch(1)[0]), ErrTaken, "another assay")
	must(t, other.Complete(t.Context(), second, launch(1), nil, aMinute))
	// A launch of which a trial cannot be kept is not ended.
	wrong := append(launch(2), assay.Trial{Launch: 2, Group: "h", Figures: map[string]float64{assay.NsPerOp: math.NaN()}})
	expect(t, other.Complete(t.Context(), second, wrong, nil, aMinute), nil, "is not a number")
	if got := launchesOf(t, s, "run"); got != "1" {
		t.Errorf("got the launches %s, want 1", got)
	}
	// One that is given back is anybody's of the machine; a problem ends it.
	must(t, other.GiveBack(t.Context(), second, ""))
	third := take(t, s, agentOf("a", "A"))
	if third == nil || third.Launch != 2 {
		t.Fatalf("given back: got %+v, want launch 2", third)
	}
	must(t, s.GiveBack(t.Context(), third, "no compiler"))
	if l := take(t, s, agentOf("a", "A")); l != nil {
		t.Errorf("a machine that gave up: got launch %d", l.Launch)
	}
	run, err := s.Run(t.Context(), "run")
	must(t, err)
	if run.Status != assay.Interrupted {
		t.Errorf("a machine that gave up: got the status %s, want interrupted", run.Status)
	}
	// Only agents go on with a run of a fleet.
	expect(t, open(t, at).Claim(t.Context(), "run"), ErrTaken, "it belongs to a fleet")
	if _, err := s.Unfinished(t.Context(), "quick", run.PlanFile, run.Host); err == nil {
		t.Error("the run of a fleet can be resumed")
	}
}

// A fleet that is withdrawn ends on the machines that have launches left, also while an
// agent measures one; what is kept stays.
func TestFleetWithdrawn(t *testing.T) {
	s := open(t, database(t, admin, true))
	f := fleetOf(t, s, 3, 1)
	done, busy := take(t, s, agentOf("a", "A")), take(t, s, agentOf("b", "B"))
	must(t, s.BeginPart(t.Context(), done, start("run1", "quick", 0)))
	must(t, s.BeginPart(t.Context(), busy, start("run2", "quick", 0)))
	finished := start("run1", "quick", 0)
	finished.Status = assay.Finished
	must(t, s.Complete(t.Context(), done, launch(1), &finished, aMinute))
	for _, want := range []int{2, 0} { // once more changes nothing
		if ended, err := s.Withdraw(t.Context(), f.Template.ID); err != nil || ended != want {
			t.Errorf("got %d machines withdrawn, %v; want %d", ended, err, want)
		}
	}
	expect(t, s.Complete(t.Context(), busy, launch(1), nil, aMinute), ErrWithdrawn, "keeping launch 1")
	expect(t, s.Renew(t.Context(), busy, aMinute), ErrWithdrawn, "withdrawn")
	expect(t, s.GiveBack(t.Context(), busy, ""), ErrWithdrawn, "withdrawn")
	for _, a := range []Agent{agentOf("b", "B"), agentOf("c", "C")} {
		if l := take(t, s, a); l != nil {
			t.Errorf("machine %s: got launch %d of a fleet that was withdrawn", a.Machine, l.Launch)
		}
	}
	machines, err := s.FleetMachines(t.Context(), f.Template.ID)
	must(t, err)
	var got []string
	for _, m := range machines {
		got = append(got, fmt.Sprint(m.Done, m.Problem, m.Holder))
	}
	if want := []string{"1a", "0withdrawn", "0withdrawn"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for run, want := range map[string]assay.Status{"run1": assay.Finished, "run2": assay.Interrupted} {
		if got, err := s.Run(t.Context(), run); err != nil || got.Status != want {
			t.Errorf("%s: got the status %s, %v; want %s", run, got.Status, err, want)
		}
	}
}

// The run of a machine tells its fleet, also where the options of the fleet do not: an
// earlier version of assay queued it.
func TestFleetOfRun(t *testing.T) {
	s := open(t, database(t, admin, true))
	f := fleetOf(t, s, 1, 1)
	must(t, s.BeginPart(t.Context(), take(t, s, agentOf("a", "A")), start("part", "quick", 0)))
	must(t, s.Begin(t.Context(), start("alone", "quick", 0)))
	all, err := s.Runs(t.Context())
	must(t, err)
	got := map[string]string{}
	for _, run := range all {
		one, err := s.Run(t.Context(), run.ID)
		must(t, err)
		got[run.ID] = run.Options.Fleet + " " + one.Options.Fleet
	}
	if want := map[string]string{"part": f.Template.ID + " " + f.Template.ID, "alone": " "}; !maps.Equal(got, want) {
		t.Errorf("got the fleets %q, want %q", got, want)
	}
}

// A fleet is found by its ID, or by what only its ID begins with.
func TestFleetByID(t *testing.T) {
	s := open(t, database(t, admin, true))
	_, err := s.Fleet(t.Context(), "a")
	expect(t, err, ErrNoFleet, "has none yet")
	for i, id := range []string{"ab-1", "ab-2", "c-1"} {
		f := Fleet{Template: start(id, "quick", 0), Machines: i + 1, Launches: 5}
		f.Template.Started = f.Template.Started.Add(time.Duration(i) * time.Second)
		f.Template.Options.Fleet = id
		must(t, s.Queue(t.Context(), f))
	}
	all, err := s.Fleets(t.Context())
	must(t, err)
	if got, want := fleetIDs(all), []string{"c-1", "ab-2", "ab-1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, id := range []string{"ab-2", "c"} {
		f, err := s.Fleet(t.Context(), id)
		must(t, err)
		if want := map[string]int{"ab-2": 2, "c": 3}[id]; f.Machines != want || f.Launches != 5 || f.Template.Options.Fleet != f.Template.ID {
			t.Errorf("%s: got %+v, want %d machines with 5 launches", id, f, want)
		}
	}
	_, err = s.Fleet(t.Context(), "ab")
	expect(t, err, ErrNoFleet, `more than one ID begins with "ab": ab-2, ab-1`)
	_, err = s.Fleet(t.Context(), "x")
	expect(t, err, ErrNoFleet, `"x"; store `)
}

func TestFleetAgents(t *testing.T) {
	s := open(t, database(t, admin, true))
	a, b := agentOf("a", "A"), agentOf("b", "B")
	for range 2 {
		must(t, s.Present(t.Context(), a))
	}
	must(t, s.Present(t.Context(), b))
	must(t, s.Leave(t.Context(), b))
	all, err := s.Agents(t.Context(), aMinute)
	if err != nil || len(all) != 1 || all[0] != a {
		t.Errorf("got %+v, %v; want a", all, err)
	}
	if gone, err := s.Agents(t.Context(), -aMinute); err != nil || len(gone) > 0 {
		t.Errorf("not heard of: got %+v, %v; want none", gone, err)
	}
}

// A store in a file has no fleet.
func TestFleetNeedsAServer(t *testing.T) {
	s := open(t, t.TempDir()+"/a.db")
	expect(t, s.Queue(t.Context(), Fleet{}), ErrNoServer, "postgres://")
	_, err := s.Take(t.Context(), Agent{}, aMinute)
	expect(t, err, ErrNoServer, "a store on a server")
}
