package crash

import (
	"fmt"
	"strings"

	"assay"
)

// Line is the result in one line, without the names of its target and profile.
func (r *Result) Line() string {
	if r.Outcome != assay.OK {
		return strings.TrimRight(string(r.Outcome)+": "+r.Reason+"\n"+r.Stack, "\n")
	}
	if r.Void() {
		return "void: a control that must fail did not"
	}
	var parts []string
	switch bad := r.beyondLoss(); {
	case bad > 0:
		parts = append(parts, fmt.Sprintf("%s in %d of %s", r.damages()[0].about().line, bad, counted(r.Task.Fault, r.States)))
		if n := r.Counts[Lost]; n > 0 {
			parts = append(parts, fmt.Sprintf("loses acknowledged commits in %d", n))
		}
	case r.Counts[Lost] > 0:
		parts = append(parts, fmt.Sprintf("loses up to %d of the newest commits in %d of %s, never corrupts", r.MaxLost, r.Counts[Lost], counted(r.Task.Fault, r.States)))
	case r.States == 0:
		return "no state was checked: give it a larger budget"
	default:
		parts = append(parts, fmt.Sprintf("held in %d of %s", r.States-r.Counts[Unmade], counted(r.Task.Fault, r.States)))
	}
	if n := r.Counts[Unmade]; n > 0 {
		parts = append(parts, fmt.Sprintf("in %d %s", n, Unmade.about().line))
	}
	if r.Refuted() != Unharmed {
		parts = append(parts, "REFUTED: its settings claim "+string(r.Claimed))
	}
	return strings.Join(parts, "; ")
}

// beyondLoss counts the states that are worse than the loss of the newest
// commits.
func (r *Result) beyondLoss() int {
	n := 0
	for d, count := range r.Counts {
		if d != Unharmed && d != Lost && d != Unmade {
			n += count
		}
	}
	return n
}

func counted(f assay.Fault, n int) string {
	return fmt.Sprintf("%d %s", n, f.Times(n))
}
