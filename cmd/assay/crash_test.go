package main

import (
	"strings"
	"testing"

	"assay"
	"assay/internal/crash"
)

// Two processes on a file of a version of SQLite that is known for a race say so, with what was
// found; nothing is said of sound versions, other faults, and what was not tried.
func TestKnownRace(t *testing.T) {
	for name, c := range map[string]struct {
		fault   assay.Fault
		version string
		states  int
		want    int
	}{
		"affected":     {assay.KillShared, "3.49.2", 5, 1},
		"power":        {assay.PowerShared, "3.51.2", 5, 1},
		"sound":        {assay.KillShared, "3.51.3", 5, 0},
		"one process":  {assay.Kill, "3.49.2", 5, 0},
		"not tried":    {assay.KillShared, "3.49.2", 0, 0},
		"fixed branch": {assay.KillShared, "3.44.6", 5, 0},
	} {
		r := crash.Result{Task: crash.Task{Driver: "zombiezen", Profile: "web", Fault: c.fault}, Identity: crash.Identity{Engine: "sqlite", Version: c.version},
			Ending: crash.Ending{Outcome: assay.OK}, Tried: crash.Tried{States: c.states, Counts: map[crash.Damage]int{crash.Unharmed: c.states}}}
		got := knownRace(r)
		if len(got) != c.want || c.want > 0 && (!strings.Contains(got[0], c.version) || !strings.Contains(got[0], r.Line())) {
			t.Errorf("%s: got %q, want %d notes with the version and what was found", name, got, c.want)
		}
	}
}
