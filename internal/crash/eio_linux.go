package crash

import (
	"context"
	"sync/atomic"

	"assay"
	"assay/internal/crash/powercut"
)

// failingIO lets reads, writes and flushes of the disk fail, in turns.
func failingIO() fault {
	return fault{Fault: assay.FailingIO, level: diskLevel, subject: "A disk that fails", weight: 2, inject: repeatedly((*trial).failIO)} // a write that fails later is seen by a sync only
}

// mostReads is how many reads of the disk succeed at the most before they fail.
const mostReads = 12

// mostSucceeding is how many operations of each kind succeed at the most on a server's
// disk before they fail: about as many as the workload takes. The reads are those of a
// start with cold caches.
var mostSucceeding = map[powercut.OpKind]int{powercut.OpWrite: 300, powercut.OpFlush: 300, powercut.OpRead: 130}

// unsyncedPart is the part of these that a server does without synchronous commits.
const unsyncedPart = 5

// succeeding draws how many operations succeed before they fail, small numbers as often
// as large ones.
func (t *trial) succeeding(kind powercut.OpKind) (int64, error) {
	settings, err := settingsOfServer(t.task)
	most := mostSucceeding[kind]
	if kind != powercut.OpRead && settings["synchronous_commit"] == "off" {
		most /= unsyncedPart
	}
	return int64(drawNumber(t.random, most)) - 1, err
}

// failIO lets reads, writes or flushes of the disk fail from a random one on. A disk
// whose flushes fail loses what they were to keep: an engine that goes on as if nothing
// had been is found out.
func (t *trial) failIO(ctx context.Context) (evidence, observation, error) {
	kind, most := powercut.OpWrite, int64(300)
	switch t.turn % 3 {
	case 1:
		kind, most = powercut.OpRead, mostReads
	case 2:
		kind = powercut.OpFlush
	}
	succeed := t.random.Int64N(most)
	if t.server {
		var err error
		if succeed, err = t.succeeding(kind); err != nil {
			return evidence{}, observation{}, err
		}
	}
	var left atomic.Int64
	left.Store(succeed)
	e, found, err := t.broken(ctx, breakage{cold: kind == powercut.OpRead, forgets: kind == powercut.OpFlush,
		breaks: func(context.Context, *database) error {
			t.disk.Fail(func(k powercut.OpKind) bool { return k == kind && left.Add(-1) < 0 })
			return nil
		},
		repair: func(context.Context) error { t.disk.Fail(nil); return nil },
	})
	e.Finding.Moment = map[powercut.OpKind]powercut.Moment{powercut.OpWrite: "failing writes", powercut.OpFlush: "failing flushes", powercut.OpRead: "failing reads"}[kind]
	return e, found, err
}
