package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/crash/powercut"
	"assay/internal/sys/guard"
	"assay/kit/wire"
)

// powerShared cuts the power while a second process checkpoints the file of the one that writes.
func powerShared() fault {
	return fault{Fault: assay.PowerShared, level: diskLevel, subject: "A power cut of two processes on a file", weight: 3, shared: true, inject: (*trial).power}
}

// killShared kills one of two such processes, or both.
func killShared() fault {
	return fault{Fault: assay.KillShared, level: processLevel, subject: "One of two processes on a file that is killed", weight: 2, shared: true, inject: repeatedly((*trial).killShared)}
}

// checkpointer is a second process on a database's file, which copies the log into the
// database without pause, as a tool for backups does.
type checkpointer struct {
	db     *database
	killed atomic.Bool // by us
	ended  chan struct{}
	right  int64 // of its checkpoints; it has ended
	err    error // that came before it was killed
}

// checkpointSteps copy what nobody reads, and then all of it, after which the log begins anew.
var checkpointSteps = []wire.Step{checkpointStep("PASSIVE"), checkpointStep("RESTART")}

func checkpointStep(how string) wire.Step {
	return wire.Step{SQL: "PRAGMA wal_checkpoint(" + how + ")", Query: true, Rows: 1, Returns: []string{"int", "int", "int"}}
}

const checkpointName = "checkpoint"

// startCheckpointer starts it beside a worker that has the database open.
func (t *trial) startCheckpointer(ctx context.Context, path string) (*checkpointer, error) {
	if t.result.Settings["journal_mode"] != "wal" {
		return nil, wire.Errorf(wire.Unsupported, "there is no write-ahead log that a second process can copy: the profile has another journal_mode")
	}
	db, err := t.open(ctx, t.task, path)
	switch {
	case errors.Is(err, errStart):
		return nil, err
	case err != nil:
		return nil, wire.Errorf(wire.Unsupported, "a second process cannot open the database: %v", err)
	}
	operation := wire.Operation{Name: checkpointName, Changes: true, Steps: checkpointSteps}
	if err := db.call(ctx, wire.TypePrepare, wire.Prepare{Operation: operation, Clients: 1}, nil); err != nil {
		db.kill()
		return nil, fmt.Errorf("a second process that checkpoints: %w", err)
	}
	c := &checkpointer{db: db, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		c.err = guard.Error(func() error { return c.run(ctx) })
	}()
	return c, nil
}

// run checkpoints until the process is killed. It is an error where none of its checkpoints
// was right: nothing would have been tried.
func (c *checkpointer) run(ctx context.Context) error {
	var done int64
	said := ""
	for {
		var m wire.Measured
		err := c.db.call(ctx, wire.TypeMeasure, wire.Measure{Operation: checkpointName, Nanos: checkpointsFor.Nanoseconds()}, &m)
		if err != nil && !c.killed.Load() {
			return fmt.Errorf("a second process that checkpoints: %w", err)
		}
		if err != nil {
			break
		}
		c.right, done, said = c.right+m.Operations, done+m.Executed, cmp.Or(m.Error, m.Miss, said)
	}
	if done > 0 && c.right == 0 {
		return fmt.Errorf("none of %d checkpoints of the second process was right: %s", done, said)
	}
	return nil
}

// checkpointsFor is how long it checkpoints between two answers.
const checkpointsFor = 10 * time.Millisecond

// kill kills it and waits for its end. It may be done again.
func (c *checkpointer) kill() error {
	c.killed.Store(true)
	c.db.kill()
	<-c.ended
	return c.err
}

// outlives is how long a process lives on that is killed behind the other one.
const outlives = 20 * time.Millisecond

// killShared kills one of two processes on a file, one of which writes and the other
// checkpoints, or both, in turns, and looks at what they left. Where there is a time, half of it
// goes to races.
func (t *trial) killShared(ctx context.Context) (evidence, observation, error) {
	if began := t.deadline.Add(-t.task.Time); t.ahead == 0 && t.task.Time > 0 && t.raced <= time.Since(began)/2 {
		return t.race(ctx)
	}
	life, err := t.drawLife(ctx)
	if err != nil {
		return evidence{}, observation{}, err
	}
	lives := []time.Duration{life + outlives, life, time.Duration(t.random.Int64N(int64(life)))} // of the checkpointer
	return t.share(ctx, Finding{Moment: powercut.Anywhere}, func(db *database, other *checkpointer, marks string) (unfelt bool, err error) {
		defer time.AfterFunc(lives[t.turn%len(lives)], func() { _ = other.kill() }).Stop() // its error is kept
		finished, err := t.writeUntil(ctx, db, func(ctx context.Context) { sleep(ctx, life) }, db.kill, marks)
		unfelt = finished && !other.killed.Load()
		if t.turn%len(lives) == 0 {
			time.Sleep(outlives)
		}
		return unfelt, err
	})
}

// The workload of a race has short transactions, and more of them than there is time for, as
// far as memory takes them.
const (
	raceRate   = 20 // to the millisecond
	maxRace    = 300_000
	raceBytes  = 24
	raceMoment = powercut.Moment("race")
)

func (t *trial) raceWorkload() (workload, error) {
	count := min(maxRace, raceRate*(t.task.Time/recordingShare).Milliseconds())
	return newWorkload(t.work, int(count), raceBytes, t.task.Seed)
}

// race lets both processes work for a part of the task's time before they are killed: what
// goes wrong only where a checkpoint and a commit meet within microseconds takes many of them.
func (t *trial) race(ctx context.Context) (evidence, observation, error) {
	usual := t.workload
	defer func() { t.workload = usual }()
	var err error
	if t.workload, err = t.raceWorkload(); err != nil {
		return evidence{}, observation{}, err
	}
	return t.share(ctx, Finding{Moment: raceMoment, Race: true}, func(db *database, _ *checkpointer, marks string) (bool, error) {
		began := time.Now()
		written, err := t.writeForAWhile(ctx, db, marks)
		took := time.Since(began)
		t.raced += took
		t.result.remark(fmt.Sprintf("%s of %s, %s: a race had %d transactions beside checkpoints, in %s", t.task.Fault, t.task.Driver, t.task.Profile, written, wording.Brief(took)))
		return false, err
	})
}

// share has one process write while another one checkpoints, and looks at what they left. An
// error of the writer ends a state whose damage explains it, and otherwise the fault.
func (t *trial) share(ctx context.Context, of Finding, write func(db *database, other *checkpointer, marks string) (unfelt bool, err error)) (evidence, observation, error) {
	var failed error
	e, found, err := t.left(ctx, func(e *evidence, path, marks string) error {
		e.Finding = of
		db, err := t.begin(ctx, path, nil)
		if err != nil {
			return err
		}
		defer db.kill()
		other, err := t.startCheckpointer(ctx, path)
		if err != nil {
			return err
		}
		e.unfelt, failed = write(db, other, marks)
		db.kill()
		failed = cmp.Or(failed, other.kill())
		return nil
	})
	if failed != nil && !found.damage.beyondLoss() {
		err = failed
	}
	return e, found, err
}
