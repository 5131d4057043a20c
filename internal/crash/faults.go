package crash

import (
	"cmp"
	"context"
	"slices"
	"time"

	"assay"
)

type level int

// The levels. The zero value is none: a fault of the table must have one.
const (
	diskLevel    level = iota + 1 // a file system that is mounted for the fault, on a disk or in memory
	fileLevel                     // files and folders, in a file system that is only a model
	processLevel                  // the process: no file system
)

// fault holds what there is to know of a fault, whatever the target.
type fault struct {
	Fault   assay.Fault
	level   level
	subject string // begins the sentences about it
	weight  int    // its part of a budget
	shared  bool   // a second process checkpoints the file of the one that writes
	server  string // begins the sentences where the engine is a server; empty: as of others
	inject  func(*trial, context.Context) error
}

// about returns what there is to know of a fault; the zero value where it is none of them.
func about(f assay.Fault) fault {
	all := table()
	if i := slices.IndexFunc(all, func(known fault) bool { return known.Fault == f }); i >= 0 {
		return all[i]
	}
	return fault{}
}

// subject begins the sentences about the fault; empty where the driver
// could not be built, so that no fault was injected.
func (r *Result) subject() string {
	known := about(r.Task.Fault)
	if assay.IsServer(r.Engine) {
		return cmp.Or(known.server, known.subject)
	}
	return known.subject
}

// Faults lists what can be done to databases.
func Faults() []assay.Fault {
	var all []assay.Fault
	for _, f := range table() {
		all = append(all, f.Fault)
	}
	return all
}

// Usual are the faults that are tried where nobody chooses: all to one process, and the
// weaker model of a power cut only where the disk itself cannot be had.
func Usual() []assay.Fault {
	return slices.DeleteFunc(Faults(), func(f assay.Fault) bool {
		return about(f).shared || f == assay.FileCut && Missing(assay.PowerCut, assay.Ext4) == ""
	})
}

// share gives each task that can be done on this machine its part of a budget
// for all of them, with so many lanes at most. None gets more than all have.
func share(tasks []Task, lanes int, budget time.Duration) {
	var possible []*Task
	total := 0
	for i, t := range tasks {
		if Missing(t.Fault, t.FileSystem) == "" {
			possible = append(possible, &tasks[i])
			total += about(t.Fault).weight
		}
	}
	lanes = min(lanes, len(possible))
	for _, t := range possible {
		t.Time = min(budget, budget*time.Duration(lanes*about(t.Fault).weight)/time.Duration(total))
	}
}
