package crash

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"assay/internal/crash/powercut"
	"assay/kit/wire"
)

// table has all faults, in the order of reports. Each has a file.
func table() []fault {
	return []fault{powerCut(), fileCut(), kill(), fullDisk(), powerShared(), killShared(), failingIO()}
}

// repeatedly does a fault again and again, by what does it once.
func repeatedly(once func(*trial, context.Context) (evidence, observation, error)) func(*trial, context.Context) error {
	return func(t *trial, ctx context.Context) error {
		return t.attempts(ctx, func(ctx context.Context) (evidence, observation, error) { return once(t, ctx) })
	}
}

// defaultFaults is how many times a fault is done where neither a number of
// states nor a time is given.
const defaultFaults = 20

// fault does what the task asks for.
func (t *trial) fault(ctx context.Context) error {
	if t.task.readOnly() {
		return wire.Errorf(wire.Unsupported, "the profile opens the database for reading only: it commits nothing that could be lost")
	}
	if err := t.checkWorker(ctx); err != nil {
		return err
	}
	if t.server && t.task.onDisk() {
		if err := t.withCluster(ctx); err != nil {
			return err
		}
	}
	if about(t.task.Fault).shared && t.task.DSN == "" {
		settings := map[string]string{"busy_timeout": "10000"} // the other process holds the lock now and then
		maps.Copy(settings, t.task.Settings)
		t.task.Settings = settings
	}
	known := about(t.task.Fault)
	if known.inject == nil {
		return fmt.Errorf("nothing here does the fault %q", t.task.Fault)
	}
	return known.inject(t, ctx)
}

// attempts does a fault again and again, each time from an empty database, and once
// however long the control took. The evidence is what lay there before anybody looked.
func (t *trial) attempts(ctx context.Context, once func(context.Context) (evidence, observation, error)) error {
	if t.task.Controls {
		if err := t.control(ctx, once); err != nil {
			return err
		}
	}
	unfelt, redraws := 0, t.redraws()
	for number := 1; t.result.States == 0 || !t.enough(); number++ {
		if t.task.States == 0 && t.task.Time == 0 && t.result.States >= defaultFaults {
			break
		}
		t.turn = number - 1
		e, found, err := once(ctx)
		if found, err = t.confirmed(ctx, e, found, err); err != nil {
			if err := t.unknown(err); err != nil {
				return err
			}
			continue
		}
		if e.unfelt && found.damage == Unharmed {
			unfelt++
			switch {
			case redraws && unfelt > 20 && unfelt > 10*t.result.States:
				return t.noteUntouched(unfelt)
			case redraws:
				continue
			}
		}
		e.Finding.Task, e.Finding.Attempt = t.task, number
		t.note(e, found)
	}
	return t.noteUntouched(unfelt)
}

// redraws reports whether what no transaction met is done again, and not counted: a kill that
// came too late.
func (t *trial) redraws() bool { return about(t.task.Fault).level == processLevel }

// noteUntouched notes how often no transaction met the fault and nothing was damaged. A fault
// that none met was not tried.
func (t *trial) noteUntouched(unfelt int) error {
	states, what := t.result.States-unfelt, fmt.Sprintf("in %d of %d nothing failed", unfelt, t.result.States)
	if t.redraws() {
		states, what = t.result.States, fmt.Sprintf("%s behind the last transaction, not counted", counted(t.task.Fault, unfelt))
	}
	switch {
	case unfelt == 0:
	case states == 0:
		return wire.Errorf(wire.Unsupported, "%s: %s did not meet the fault", what, t.task.Driver)
	default:
		t.result.remark(fmt.Sprintf("%s of %s, %s: %s", t.task.Fault, t.task.Driver, t.task.Profile, what))
	}
	return nil
}

// control does a fault to a worker that is taken to acknowledge before it commits,
// which has to be caught.
func (t *trial) control(ctx context.Context, once func(context.Context) (evidence, observation, error)) error {
	t.ahead = 1
	drawn := t.random // what states draw must not depend on how many attempts a control takes
	t.random = rand.New(rand.NewPCG(t.task.Seed, 4))
	defer func() { t.ahead, t.random = 0, drawn }()
	return t.tryControl(earlyControl, func(state int) (Damage, error) {
		t.turn = state
		_, found, err := once(ctx)
		if err != nil {
			return Unharmed, t.unknown(err)
		}
		return found.damage, nil
	})
}

// inspectAcked inspects what is left of acknowledged transactions, of which a
// control has one more.
func (t *trial) inspectAcked(ctx context.Context, path string, acked int) (observation, error) {
	return t.inspect(ctx, path, min(acked+t.ahead, t.history.transactions()))
}

// inspectLeft notes what processes that are gone acknowledged and left, and inspects it.
func (t *trial) inspectLeft(ctx context.Context, e *evidence, path, marks string) (found observation, err error) {
	e.Finding.Acked = acknowledged(marks)
	if e.Files, err = powercut.ReadFolder(filepath.Dir(path)); err != nil {
		return observation{}, err
	}
	return t.inspectAcked(ctx, path, e.Finding.Acked)
}

// acknowledged returns how many transactions a file of marks has.
func acknowledged(marks string) int {
	info, err := os.Stat(marks)
	if err != nil {
		return 0 // there was none yet
	}
	return int(info.Size())
}

// drawNumber draws a number from 1 to count, small ones as often as large ones.
func drawNumber(random *rand.Rand, count int) int {
	return min(count, int(math.Exp(random.Float64()*math.Log(float64(count+1)))))
}

// inFolder does something with a database's path in an empty folder of its own, and a file for
// marks that is not in it.
func (t *trial) inFolder(do func(path, marks string) error) error {
	dir, err := os.MkdirTemp(t.work, "killed-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "store", dataName)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return do(path, filepath.Join(dir, "marks"))
}

// left has processes write in a folder until they are gone, and inspects what they left there.
func (t *trial) left(ctx context.Context, write func(e *evidence, path, marks string) error) (e evidence, found observation, err error) {
	e.Finding.Moment = powercut.Anywhere
	err = t.inFolder(func(path, marks string) error {
		if err := write(&e, path, marks); err != nil {
			return err
		}
		var err error
		found, err = t.inspectLeft(ctx, &e, path, marks)
		return err
	})
	return e, found, err
}

// begin opens a fresh database, ready to write, and notes what it claims.
func (t *trial) begin(ctx context.Context, path string, under []string) (*database, error) {
	if err := t.install(ctx, t.task, path); err != nil {
		return nil, err
	}
	db, err := t.open(ctx, t.task, path, under...)
	if err != nil {
		return nil, err
	}
	err = t.identify(ctx, db)
	if err == nil {
		err = db.prepare(ctx, t.arguments)
	}
	if err != nil {
		db.kill()
		return nil, err
	}
	return db, nil
}
