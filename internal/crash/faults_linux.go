package crash

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"assay"
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
	// mostReads is how many reads of the disk succeed at the most before they fail.
	mostReads = 12
)

// fault does what the task asks for.
func (t *trial) fault(ctx context.Context) error {
	if t.task.readOnly() {
		return wire.Errorf(wire.Unsupported, "the profile opens the database for reading only: it commits nothing that could be lost")
	}
	if err := t.meet(ctx); err != nil {
		return err
	}
	if t.server && t.task.onDisk() {
		if err := t.withCluster(ctx); err != nil {
			return err
		}
	}
	switch t.task.Fault {
	case assay.Kill:
		if t.server {
			return t.attempts(ctx, t.killedServer)
		}
		return t.attempts(ctx, t.killed)
	case assay.FullDisk:
		if t.task.FileSystem == assay.Tmpfs {
			return t.attempts(ctx, t.filledMemory)
		}
		return t.attempts(ctx, t.filled)
	case assay.FailingIO:
		return t.attempts(ctx, t.failing)
	}
	return t.power(ctx)
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
	defer func() {
		if unfelt > 0 {
			t.result.remark(fmt.Sprintf("%s of %s, %s: in %d of %d nothing failed", t.task.Fault, t.task.Driver, t.task.Profile, unfelt, t.result.States))
		}
	}()
	for number := 1; t.result.States == 0 || !t.enough(); number++ {
		if t.task.States == 0 && t.task.Time == 0 && t.result.States >= defaultFaults {
			return nil
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
	return nil
}

// control does a fault to a worker that is taken to acknowledge before it commits,
// which has to be caught.
func (t *trial) control(ctx context.Context, once func(context.Context) (evidence, observation, error)) error {
	t.ahead = 1
	drawn := t.random // what states draw must not depend on how many attempts a control takes
	t.random = rand.New(rand.NewPCG(t.task.Seed, 4))
	defer func() { t.ahead, t.random = 0, drawn }()
	control := Control{Name: earlyControl}
	for control.States < controlStates && !control.Caught {
		t.turn = control.States
		_, found, err := once(ctx)
		if err != nil {
			if err := t.unmountable(err); err != nil {
				return err
			}
		}
		control.States++
		control.Caught = err == nil && promised(assay.Power, true, found.damage)
	}
	t.result.Controls = append(t.result.Controls, control)
	return nil
}

// inspectAcked inspects what is left of acknowledged transactions, of which a
// control has one more.
func (t *trial) inspectAcked(ctx context.Context, path string, acked int) (observation, error) {
	return t.inspect(ctx, path, min(acked+t.ahead, t.history.transactions()))
}

// killed kills the worker, at a random time or at a system call in turns, and
// looks at what it left.
func (t *trial) killed(ctx context.Context) (evidence, observation, error) {
	e := evidence{Finding: Finding{Moment: Anywhere}}
	call, under, err := t.killer(ctx)
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
		e.Finding.Moment = Moment("before " + call)
	}
	if info, err := os.Stat(marks); err == nil {
		e.Finding.Acked = int(info.Size())
	}
	if e.Files, err = readFolder(filepath.Dir(path)); err != nil {
		return e, observation{}, err
	}
	found, err := t.inspectAcked(ctx, path, e.Finding.Acked)
	return e, found, err
}

// killer draws a system call to kill the worker at, and the program that does so;
// none in every other attempt, where a time decides, and without a tracer.
func (t *trial) killer(ctx context.Context) (call string, under []string, err error) {
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

// breakage is a disk that breaks under the workload and works again later.
type breakage struct {
	breaks func(ctx context.Context, db *database) error // db is nil where the breakage is cold
	mend   func(ctx context.Context) error
	// cold says that it breaks for a database that was written before, closed, and
	// is in no cache.
	cold bool
	// forgets says that the disk loses what no flush covered when it broke.
	forgets bool
	// goesOn says that the workload goes on when the disk works again, without a new
	// start of the database.
	goesOn bool
}

// filled lets the disk run full under the workload, and makes room again.
func (t *trial) filled(ctx context.Context) (evidence, observation, error) {
	if t.server {
		return t.filledServer(ctx)
	}
	return t.broken(ctx, t.full(t.roomLeft()))
}

// full is a disk with so many bytes left.
func (t *trial) full(left int64) breakage {
	ballast := filepath.Join(t.mount, "ballast")
	return breakage{
		breaks: func(ctx context.Context, _ *database) error {
			return t.run(ctx, "sh", "-c", fmt.Sprintf(
				`fallocate -l $(( $(stat -f -c '%%a * %%S' "$1") - %d )) "$1/ballast"`, left), "sh", t.mount)
		},
		mend: func(ctx context.Context) error { return t.run(ctx, "rm", "-f", ballast) },
	}
}

// mostRoom is as many blocks as most workloads take. SQLite takes hardly any behind its
// rows where it deletes its journal.
const mostRoom = 160

// roomLeft is how many bytes a disk has left, a few blocks as often as many.
func (t *trial) roomLeft() int64 { return 4096 * int64(drawNumber(t.random, mostRoom)) }

// failing lets reads, writes or flushes of the disk fail from a random one on. A disk
// whose flushes fail loses what they were to keep: an engine that goes on as if nothing
// had been is found out.
func (t *trial) failing(ctx context.Context) (evidence, observation, error) {
	kind, most := OpWrite, int64(300)
	switch t.turn % 3 {
	case 1:
		kind, most = OpRead, mostReads
	case 2:
		kind = OpFlush
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
	e, found, err := t.broken(ctx, breakage{cold: kind == OpRead, forgets: kind == OpFlush,
		breaks: func(context.Context, *database) error {
			t.disk.fail(func(k OpKind) bool { return k == kind && left.Add(-1) < 0 })
			return nil
		},
		mend: func(context.Context) error { t.disk.fail(nil); return nil },
	})
	e.Finding.Moment = map[OpKind]Moment{OpWrite: "failing writes", OpFlush: "failing flushes", OpRead: "failing reads"}[kind]
	return e, found, err
}

// remount mounts the file system anew: an error has made it read-only, or what
// is cached is not to be.
func (t *trial) remount(ctx context.Context) error {
	if err := t.unmount(ctx); err != nil {
		return err
	}
	return t.mountDisk(ctx)
}

// broken runs the workload on a disk that breaks, then mends it and looks at what
// is there. The workload has to see an error: what it did not see, it
// acknowledged.
func (t *trial) broken(ctx context.Context, b breakage) (evidence, observation, error) {
	e, found := evidence{Finding: Finding{Moment: Anywhere}}, observation{}
	err := t.mounted(ctx, t.base, true, func() error {
		path := dataPath(t.mount)
		from, err := t.prewritten(ctx, path, b.cold)
		if err != nil {
			return err
		}
		found, e.unfelt, err = t.writeBroken(ctx, path, from, b)
		recording := t.disk.recorded() // before it is mended: what comes later is no part of it
		if err := errors.Join(err, b.mend(ctx)); err != nil {
			return err
		}
		e.Finding.Acked = recording.Acked(len(recording.Ops))
		if err := t.unmount(ctx); err != nil {
			return err
		}
		left := t.disk.content()
		if b.forgets {
			left = t.forgotten(recording)
			t.disk.insert(left, false)
		}
		e.Recording = &Recording{Base: left}
		if err := t.mountDisk(ctx); err != nil {
			return err
		}
		if found.damage != Unharmed {
			e.Recording = nil // the disk does not show it any more
			return nil
		}
		found, err = t.inspectAcked(ctx, path, e.Finding.Acked)
		return err
	})
	return e, found, err
}

// forgotten is a disk at the end of a recording, which has lost a part of what no
// flush covers.
func (t *trial) forgotten(r *Recording) *Image {
	for {
		cut, ok := r.choose(len(r.Ops), choices[t.random.IntN(len(choices))], true, t.random)
		if ok {
			return r.Image(cut, true)
		}
	}
}

// prewritten writes a part of the workload and drops it from all caches, where
// that is asked for. It returns how many transactions that were.
func (t *trial) prewritten(ctx context.Context, path string, cold bool) (int, error) {
	if !cold {
		return 0, nil
	}
	db, err := t.begin(ctx, path, nil)
	if err != nil {
		return 0, err
	}
	defer db.kill()
	count := 1 + t.random.IntN(t.history.transactions()/2)
	if err := db.write(ctx, 0, count, t.marks()); err != nil {
		return 0, err
	}
	if err := db.close(ctx); err != nil {
		return 0, err
	}
	return count, t.remount(ctx)
}

// writeBroken breaks the disk and runs the workload until its first error; unfelt
// says that there was none, and that a server ended in order. What it observes is a wrong answer while the disk was
// broken, or that the database does not go on where it has to.
func (t *trial) writeBroken(ctx context.Context, path string, from int, b breakage) (found observation, unfelt bool, err error) {
	var db *database
	if !b.cold { // a database is made on a disk that works
		if db, err = t.begin(ctx, path, nil); err != nil {
			return found, false, err
		}
		defer func() { db.kill() }()
	}
	if err := b.breaks(ctx, db); err != nil {
		return found, false, err
	}
	if b.cold {
		db, found = t.openBroken(ctx, path, from)
	}
	if db == nil {
		return found, false, nil
	}
	defer db.kill()
	failed := t.writeUntilError(ctx, db, from, t.marks())
	unfelt = failed == t.history.transactions()
	if unfelt && t.server { // to kill it would lose what the disk did not lose
		unfelt = db.close(ctx) == nil
	}
	if b.goesOn && !unfelt {
		if err := b.mend(ctx); err != nil {
			return found, unfelt, err
		}
		found = t.goOn(ctx, db, failed)
	}
	return found, unfelt, nil
}

// openBroken opens a database whose reads fail, and reads it: an error may be the
// answer, and a wrong one may not. The database is nil where it ended in an
// error.
func (t *trial) openBroken(ctx context.Context, path string, from int) (*database, observation) {
	found := observation{transactions: -1}
	db, err := t.open(ctx, t.task, path)
	if err != nil {
		return nil, found
	}
	there, err := db.all(ctx)
	if err == nil && there.Digest != t.digest(from) {
		found.damage = Inconsistent
		found.words = fmt.Sprintf("while reads failed it answered %d keys with digest %.12s and no error; %d transactions were acknowledged", there.Rows, there.Digest, from)
	}
	if err == nil && found.damage == Unharmed {
		err = db.prepare(ctx, t.arguments)
	}
	if err != nil || found.damage != Unharmed {
		db.kill()
		return nil, found
	}
	return db, found
}

// writeUntilError commits transactions one by one until one fails, which is what
// is wanted: those after it would be no state of the history. It returns the one that
// failed; the number of all where none did.
func (t *trial) writeUntilError(ctx context.Context, db *database, from int, marks string) int {
	for n := from; n < t.history.transactions(); n++ {
		if db.write(ctx, n, 1, marks) != nil {
			return n
		}
	}
	return t.history.transactions()
}
