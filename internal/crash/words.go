package crash

import (
	"fmt"
	"slices"
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
	switch {
	case r.beyondLoss():
		of := " of " + counted(r.Task.Fault, r.States)
		for _, d := range r.damages() {
			if d != Unmade {
				parts = append(parts, fmt.Sprintf("%s in %d%s", d.about().line, r.Counts[d], of))
				of = ""
			}
		}
	case r.lost() > 0:
		parts = append(parts, fmt.Sprintf("loses up to %s in %d of %s, never corrupts", newest(r.MaxLost, "commit"), r.lost(), counted(r.Task.Fault, r.States)))
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

// beyondLoss reports whether a state is worse than the loss of the newest commits.
func (r *Result) beyondLoss() bool {
	return slices.ContainsFunc(r.damages(), Damage.beyondLoss)
}

// lost is in how many states commits are gone, and nothing is worse.
func (r *Result) lost() int { return r.Counts[LostLast] + r.Counts[Lost] }

// newest are the last n commits.
func newest(n int, commit string) string {
	if n == 1 {
		return "the last " + commit
	}
	return fmt.Sprintf("%d of the newest %ss", n, commit)
}

func counted(f assay.Fault, n int) string {
	return fmt.Sprintf("%d %s", n, f.Times(n))
}
