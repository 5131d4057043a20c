package crash

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

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
		parts = append(parts, fmt.Sprintf("%s in %d of %s", r.damages()[0].words(), bad, counted(r.Task.Fault, r.States)))
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
		parts = append(parts, fmt.Sprintf("in %d %s", n, Unmade.words()))
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

func (d Damage) words() string {
	switch d {
	case Lost:
		return "loses acknowledged commits"
	case Unmade:
		return "it did not open, cut off while it was created, with nothing acknowledged yet"
	case Unwritable:
		return "cannot be written to afterwards"
	case Unstable:
		return "changes when it is opened again"
	case Inconsistent:
		return "keeps parts of transactions"
	case Corrupt:
		return "corrupts: the engine's own check fails"
	case Unopened:
		return "does not open"
	}
	return "unharmed"
}

func counted(f assay.Fault, n int) string {
	return fmt.Sprintf("%d %s", n, f.Times(n))
}

// fault is what there is to know of a fault, whatever the target.
type fault struct {
	Fault   assay.Fault
	subject string        // begins the sentences about it
	weight  time.Duration // its part of a budget
	// losesUnsynced: what was not synced may be gone. A process that is killed, and a
	// disk that is full, take nothing from the operating system's memory.
	losesUnsynced bool
	server        string // begins the sentences where the engine is a server; empty: as of others
}

// faults are what can be done to databases, in the order of reports. Cutting the
// power has the most different states, and the most controls.
var faults = []fault{
	{assay.PowerCut, "A power cut", 5, true, ""},
	{assay.FileCut, "A power cut (weaker model, of files)", 4, true, ""},
	{assay.Kill, "A process that is killed", 2, false, "A server that is killed"},
	{assay.FullDisk, "A full disk", 2, false, ""},
	{assay.FailingIO, "A disk that fails", 2, true, ""}, // a write that fails later is seen by a sync only
}

// about returns what there is to know of a fault.
func about(f assay.Fault) fault {
	return faults[slices.IndexFunc(faults, func(known fault) bool { return known.Fault == f })]
}

// subject begins the sentences about the fault; empty where no fault was come to.
func (r *Result) subject() string {
	known := about(r.Task.Fault)
	if r.ofServer() {
		return cmp.Or(known.server, known.subject)
	}
	return known.subject
}

// Faults lists what can be done to databases.
func Faults() []assay.Fault {
	all := make([]assay.Fault, len(faults))
	for i, f := range faults {
		all[i] = f.Fault
	}
	return all
}

// Usual are the faults that are tried where nobody chooses: all, and the weaker
// model of a power cut only where the disk itself cannot be had.
func Usual() []assay.Fault {
	return slices.DeleteFunc(Faults(), func(f assay.Fault) bool { return f == assay.FileCut && Missing(assay.PowerCut, assay.Ext4) == "" })
}

// Share gives each task that can be done on this machine its part of a budget
// for all of them, with so many lanes.
func Share(tasks []Task, lanes int, budget time.Duration) {
	total := time.Duration(0)
	for _, t := range tasks {
		if Missing(t.Fault, t.FileSystem) == "" {
			total += about(t.Fault).weight
		}
	}
	for i := range tasks {
		if Missing(tasks[i].Fault, tasks[i].FileSystem) == "" {
			tasks[i].Time = budget * time.Duration(lanes) * about(tasks[i].Fault).weight / total
		}
	}
}
