package crash

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"assay"
	"assay/internal/crash/powercut"
	"assay/kit/process"
	"assay/kit/wire"
)

const (
	// longestLife is how long after the first acknowledgement a worker is killed
	// at the latest.
	longestLife = 300 * time.Millisecond
	// defaultFaults is how many times a fault is done where neither a number of
	// states nor a time is given.
	defaultFaults = 20
)

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
	if about(t.task.Fault).shared && t.task.DSN == "" && t.task.Settings["busy_timeout"] == "" {
		t.task.Settings = maps.Clone(t.task.Settings)
		if t.task.Settings == nil {
			t.task.Settings = map[string]string{}
		}
		t.task.Settings["busy_timeout"] = "10000" // the other process holds the lock now and then
	}
	inject, err := t.injection()
	if err != nil {
		return err
	}
	return inject(ctx)
}

// injection is the function that does the task's fault.
func (t *trial) injection() (func(context.Context) error, error) {
	attempts := func(once func(context.Context) (evidence, observation, error)) (func(context.Context) error, error) {
		return func(ctx context.Context) error { return t.attempts(ctx, once) }, nil
	}
	switch t.task.Fault {
	case assay.PowerCut, assay.FileCut, assay.PowerShared:
		return t.power, nil
	case assay.Kill:
		if t.server {
			return attempts(t.killedServer)
		}
		return attempts(t.killWorker)
	case assay.KillShared:
		return attempts(t.killShared)
	case assay.FullDisk:
		if t.task.FileSystem == assay.Tmpfs {
			return attempts(t.filledMemory)
		}
		return attempts(t.fillDisk)
	case assay.FailingIO:
		return attempts(t.failIO)
	}
	return nil, fmt.Errorf("nothing here does the fault %q", t.task.Fault)
}

// attempts does a fault again and again, each time from an empty database, and once
// however long the control took. The evidence is what lay there before anybody looked.
func (t *trial) attempts(ctx context.Context, once func(context.Context) (evidence, observation, error)) error {
	if t.task.Controls {
		if err := t.control(ctx, once); err != nil {
			return err
		}
	}
	unfelt := 0
	for number := 1; t.result.States == 0 || !t.enough(); number++ {
		if t.task.States == 0 && t.task.Time == 0 && t.result.States >= defaultFaults {
			break
		}
		t.turn = t.result.States
		e, found, err := once(ctx)
		if errors.Is(err, errMount) {
			if err := t.unmountable(err); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		e.Finding.Task, e.Finding.Attempt = t.task, number
		t.note(e, found)
		if e.unfelt {
			unfelt++
		}
	}
	return t.noteUntouched(unfelt)
}

// noteUntouched notes in how many states no transaction failed. A fault that no transaction met,
// and that damaged nothing, was not tried.
func (t *trial) noteUntouched(unfelt int) error {
	r := t.result
	if unfelt > 0 && unfelt == r.States && r.Counts[Unharmed] == r.States {
		return wire.Errorf(wire.Unsupported, "no transaction failed in %d states: %s did not meet the fault", r.States, t.task.Driver)
	}
	if unfelt > 0 {
		r.remark(fmt.Sprintf("%s of %s, %s: in %d of %d nothing failed", t.task.Fault, t.task.Driver, t.task.Profile, unfelt, r.States))
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
			return Unharmed, t.unmountable(err)
		}
		return found.damage, nil
	})
}

// inspectAcked inspects what is left of acknowledged transactions, of which a
// control has one more.
func (t *trial) inspectAcked(ctx context.Context, path string, acked int) (observation, error) {
	return t.inspect(ctx, path, min(acked+t.ahead, t.history.transactions()))
}

// killWorker kills the worker, at a random time or at a system call in turns, and
// looks at what it left.
func (t *trial) killWorker(ctx context.Context) (evidence, observation, error) {
	e := evidence{Finding: Finding{Moment: powercut.Anywhere}}
	call, under, err := t.drawKillPoint(ctx)
	if err != nil {
		return e, observation{}, err
	}
	path, marks, remove, err := t.scratch()
	if err != nil {
		return e, observation{}, err
	}
	defer remove()
	atCall, err := t.writeUntilKilled(ctx, path, marks, under)
	if err != nil {
		return e, observation{}, err
	}
	if atCall {
		e.Finding.Moment = powercut.Moment("before " + call)
	}
	found, err := t.inspectLeft(ctx, &e, path, marks)
	return e, found, err
}

// inspectLeft notes what processes that are gone acknowledged and left, and inspects it.
func (t *trial) inspectLeft(ctx context.Context, e *evidence, path, marks string) (found observation, err error) {
	if info, err := os.Stat(marks); err == nil {
		e.Finding.Acked = int(info.Size())
	}
	if e.Files, err = powercut.ReadFolder(filepath.Dir(path)); err != nil {
		return observation{}, err
	}
	return t.inspectAcked(ctx, path, e.Finding.Acked)
}

// drawKillPoint draws a system call to kill the worker at, and the program that does so;
// none in every other attempt, where a time decides, and without a tracer.
func (t *trial) drawKillPoint(ctx context.Context) (call string, under []string, err error) {
	if missing := strace().missing; missing != "" {
		t.result.remark("killed at random times only, and not at system calls: " + missing)
		return "", nil, nil
	}
	if t.turn%2 == 0 {
		return "", nil, nil
	}
	if t.made == nil {
		if t.made, err = t.callsMade(ctx); err != nil {
			return "", nil, err
		}
	}
	drawn := t.made[t.random.IntN(len(t.made))]
	return drawn.call, strace().killing(drawn.call, drawNumber(t.random, drawn.count)), nil
}

// drawNumber draws a number from 1 to count, small ones as often as large ones.
func drawNumber(random *rand.Rand, count int) int {
	return min(count, int(math.Exp(random.Float64()*math.Log(float64(count+1)))))
}

// callsMade runs the workload once and returns the calls that it makes, so that a
// worker is killed at those that come.
func (t *trial) callsMade(ctx context.Context) ([]callCount, error) {
	path, marks, remove, err := t.scratch()
	if err != nil {
		return nil, err
	}
	defer remove()
	traced := filepath.Join(filepath.Dir(marks), "calls")
	db, err := t.begin(ctx, path, strace().counting(traced))
	if err != nil {
		return nil, err
	}
	defer db.kill()
	if _, err := t.writeForAWhile(ctx, db, marks); err != nil {
		return nil, err
	}
	if err := db.close(ctx); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(traced)
	if err != nil {
		return nil, err
	}
	made := countCalls(string(text))
	if len(made) == 0 {
		return nil, errors.New("strace saw the worker make no call by which data reaches a file")
	}
	return made, nil
}

// scratch is a database's path in an empty folder of its own, a file for marks
// that is not in it, and what removes both.
func (t *trial) scratch() (path, marks string, remove func(), err error) {
	dir, err := os.MkdirTemp(t.work, "killed-")
	if err != nil {
		return "", "", nil, err
	}
	path = filepath.Join(dir, "store", dataName)
	return path, filepath.Join(dir, "marks"), func() { _ = os.RemoveAll(dir) }, os.Mkdir(filepath.Dir(path), 0o700)
}

// writeUntilKilled runs the workload under a program that kills the worker at a
// system call, or else kills it at a random time, or behind the last transaction
// where that comes first. It reports whether the call killed it. Its error is one
// that came before the worker was killed.
func (t *trial) writeUntilKilled(ctx context.Context, path, marks string, under []string) (atCall bool, err error) {
	db, err := t.begin(ctx, path, under)
	early := true
	if err == nil {
		limit := longestLife
		if len(under) > 0 {
			limit = callPatience // the call decides
		}
		timer := time.AfterFunc(time.Duration(t.random.Int64N(int64(longestLife)))+limit-longestLife, db.kill)
		err = db.write(ctx, 0, t.history.transactions(), marks)
		early = timer.Stop()
		db.kill()
	}
	if errors.As(err, new(*process.ExitError)) {
		return early && len(under) > 0, nil
	}
	return false, err
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

// filledMemory lets a file system in memory run full under the workload, and makes
// room again: it takes no disk. It is mounted in the lane's own namespace.
func (t *trial) filledMemory(ctx context.Context) (evidence, observation, error) {
	e, found := evidence{Finding: Finding{Moment: powercut.Anywhere}}, observation{}
	_, marks, remove, err := t.scratch()
	if err != nil {
		return e, found, err
	}
	defer remove()
	if err := unix.Mount("assay-crash", t.files, "tmpfs", 0, sizeOption(diskBytes)); err != nil {
		return e, found, fmt.Errorf("mount a file system in memory at %s: %w", t.files, err)
	}
	store := filepath.Join(t.files, "store")
	err = os.Mkdir(store, 0o700)
	if err == nil {
		e.Finding.Acked, err = t.writeUntilFull(ctx, dataPath(store), marks)
	}
	if err == nil {
		e.Files, err = powercut.ReadFolder(store)
	}
	if err == nil {
		found, err = t.inspectAcked(ctx, dataPath(store), e.Finding.Acked)
	}
	return e, found, errors.Join(err, unix.Unmount(t.files, unix.MNT_DETACH))
}

// writeUntilFull runs the workload where little room is left until its first error,
// makes room, and returns how many transactions were acknowledged.
func (t *trial) writeUntilFull(ctx context.Context, path, marks string) (int, error) {
	db, err := t.begin(ctx, path, nil)
	if err != nil {
		return 0, err
	}
	defer db.kill()
	var used unix.Statfs_t
	if err := unix.Statfs(t.files, &used); err != nil {
		return 0, err
	}
	taken := int64(used.Blocks-used.Bfree) * used.Bsize
	if err := resize(t.files, taken+t.roomLeft()); err != nil {
		return 0, err
	}
	t.writeUntilError(ctx, db, 0, marks)
	db.kill()
	if err := resize(t.files, diskBytes); err != nil {
		return 0, err
	}
	info, err := os.Stat(marks)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil // the first transaction failed
	}
	if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}

// resize gives a file system in memory another size.
func resize(folder string, bytes int64) error {
	if err := unix.Mount("", folder, "", unix.MS_REMOUNT, sizeOption(bytes)); err != nil {
		return fmt.Errorf("resize the file system in memory at %s: %w", folder, err)
	}
	return nil
}

func sizeOption(bytes int64) string { return fmt.Sprintf("size=%d", bytes) }
