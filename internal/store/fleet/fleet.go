package fleet

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"assay/internal/analysis/wording"
	"assay/internal/store"
)

// heardOf is within how long an agent that lives is heard of.
const heardOf = 30 * time.Second

// Machines are how many machines have an agent of a version of assay now, and the agents
// of other versions on machines that have none of it.
func Machines(ctx context.Context, s *store.Store, version string) (machines int, others []store.Agent, err error) {
	agents, err := s.Agents(ctx, heardOf)
	have := map[string]bool{}
	for _, a := range agents {
		have[a.Machine] = have[a.Machine] || a.Version == version
	}
	for _, a := range agents {
		if !have[a.Machine] {
			others = append(others, a)
		}
	}
	for _, is := range have {
		if is {
			machines++
		}
	}
	return machines, others, err
}

// Wait returns the machines of a fleet when each has made its launches, or given up.
// It tells what it does while it waits.
func Wait(ctx context.Context, s *store.Store, f store.Fleet, poll time.Duration, tell func(string)) ([]store.FleetMachine, error) {
	told, unreachable := map[int]string{}, false
	for {
		machines, err := s.FleetMachines(ctx, f.Template.ID)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case s.IsLost(err):
			if !unreachable {
				tell(fmt.Sprintf("%v; waiting for it", err))
			}
		case err != nil:
			return nil, err
		}
		unreachable = s.IsLost(err)
		left := unreachable
		for _, m := range machines {
			if text := State(m, f.Launches); text != told[m.Position] {
				told[m.Position] = text
				tell(text)
			}
			left = left || !Ended(m, f.Launches)
		}
		if !left {
			return machines, nil
		}
		pause(ctx, poll)
	}
}

// Ended reports whether a machine has made its launches, or given up.
func Ended(m store.FleetMachine, launches int) bool { return m.Problem != "" || m.Done >= launches }

// Name is what a machine is called, also before an agent of it has begun.
func Name(m store.FleetMachine) string {
	return cmp.Or(wording.Clean(m.Machine), fmt.Sprint("machine ", m.Position))
}

// Problem says in one line why a machine gave up; empty where it did not.
func Problem(m store.FleetMachine) string {
	return wording.Clean(strings.ReplaceAll(m.Problem, "\n", "; "))
}

// State says how far a machine is.
func State(m store.FleetMachine, launches int) string {
	if m.Machine == "" && m.Problem == "" {
		return Name(m) + ": waiting for an agent"
	}
	text := fmt.Sprintf("%s: %d of %d launches", Name(m), m.Done, launches)
	switch {
	case m.Problem != "":
		return text + ", given up: " + Problem(m)
	case m.Done < launches && m.Holder == "":
		return text + ", waiting for its agent"
	}
	return text
}
