package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"assay"
	"assay/kit/process"
)

const (
	// longestLife is how long after the first acknowledgement a worker is killed
	// at the latest.
	longestLife = 300 * time.Millisecond
	// defaultFaults is how many times a fault is done where neither a number of
	// states nor a time is given.
	defaultFaults = 20
)

// attempts does a fault again and again, each time from an empty database.
func (t *trial) attempts(ctx context.Context, once func(context.Context) (acked int, found observation, err error)) error {
	for !t.enough() {
		if t.task.States == 0 && t.task.Time == 0 && t.result.States >= defaultFaults {
			return nil
		}
		acked, found, err := once(ctx)
		if errors.Is(err, errMount) {
			if err := t.unmountable(err); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		t.note(evidence{Finding: Finding{Task: t.task, Moment: Anywhere, Acked: acked}}, found)
	}
	return nil
}

// killed kills the worker at a random time and looks at what it left.
func (t *trial) killed(ctx context.Context) (int, observation, error) {
	dir, err := os.MkdirTemp(t.work, "killed-")
	if err != nil {
		return 0, observation{}, err
	}
	defer os.RemoveAll(dir)
	path, marks := dataPath(dir), filepath.Join(dir, "marks")
	db, err := t.begin(ctx, path)
	if err != nil {
		return 0, observation{}, err
	}
	timer := time.AfterFunc(time.Duration(t.random.Int64N(int64(longestLife))), db.worker.Kill)
	err = db.write(ctx, 0, t.history.transactions(), marks)
	timer.Stop()
	db.worker.Kill()
	if err != nil && !errors.As(err, new(*process.ExitError)) {
		return 0, observation{}, err // it failed before it was killed
	}
	acked := 0
	if info, err := os.Stat(marks); err == nil {
		acked = int(info.Size())
	}
	found, err := t.inspect(ctx, path, acked)
	return acked, found, err
}

// begin opens a fresh database, ready to write, and notes what it claims.
func (t *trial) begin(ctx context.Context, path string) (*database, error) {
	if err := t.install(ctx, t.task, path); err != nil {
		return nil, err
	}
	db, err := t.open(ctx, t.task, path)
	if err != nil {
		return nil, err
	}
	err = t.identify(ctx, db)
	if err == nil {
		err = db.prepare(ctx, t.arguments)
	}
	if err != nil {
		db.worker.Kill()
		return nil, err
	}
	return db, nil
}

// filled lets the disk run full under the workload, and makes room again.
func (t *trial) filled(ctx context.Context) (int, observation, error) {
	ballast := filepath.Join(t.mount, "ballast")
	return t.broken(ctx, func() error {
		free := 64<<10 + t.random.Int64N(600<<10) // less than the workload takes
		return t.run(ctx, "sh", "-c", fmt.Sprintf(
			`fallocate -l $(( $(stat -f -c '%%a * %%S' "$1") - %d )) "$1/ballast"`, free), "sh", t.mount)
	}, func() error { return t.run(ctx, "rm", "-f", ballast) }, nil)
}

// failing lets writes or flushes of the disk fail from a random one on.
func (t *trial) failing(ctx context.Context) (int, observation, error) {
	kind := []OpKind{OpWrite, OpFlush}[t.random.IntN(2)]
	var left atomic.Int64
	left.Store(rand.New(rand.NewPCG(t.random.Uint64(), 1)).Int64N(300))
	return t.broken(ctx, func() error {
		t.disk.fail(func(k OpKind) bool { return k == kind && left.Add(-1) < 0 })
		return nil
	}, func() error { t.disk.fail(nil); return nil }, t.remount)
}

// remount mounts the file system anew, which an error has made read-only.
func (t *trial) remount(ctx context.Context) error {
	if err := t.unmount(ctx); err != nil {
		return err
	}
	return t.run(ctx, "mount", "-t", "ext4", "-o", "loop", filepath.Join(t.fuse, diskName), t.mount)
}

// broken runs the workload on a disk that breaks, then mends it and looks at what
// is there. The workload has to see an error: what it did not see, it
// acknowledged.
func (t *trial) broken(ctx context.Context, breaks, mend func() error, remount func(context.Context) error) (int, observation, error) {
	acked, found := 0, observation{}
	err := t.mounted(ctx, t.base, true, func() error {
		path := dataPath(t.mount)
		db, err := t.begin(ctx, path)
		if err != nil {
			return err
		}
		defer db.worker.Kill()
		if err := breaks(); err != nil {
			return err
		}
		t.writeUntilError(ctx, db)
		db.worker.Kill()
		recording := t.disk.recorded()
		acked = recording.Acked(len(recording.Ops))
		if err := mend(); err != nil {
			return err
		}
		if remount != nil {
			if err := remount(ctx); err != nil {
				return fmt.Errorf("%w: %w", errMount, err)
			}
		}
		found, err = t.inspect(ctx, path, acked)
		return err
	})
	return acked, found, err
}

// writeUntilError commits transactions one by one until one fails, which is what
// is wanted: those after it would be no state of the history.
func (t *trial) writeUntilError(ctx context.Context, db *database) {
	for n := range t.history.transactions() {
		if db.write(ctx, n, 1, filepath.Join(t.fuse, marksName)) != nil {
			return
		}
	}
}

// fault does what the task asks for.
func (t *trial) fault(ctx context.Context) error {
	switch t.task.Fault {
	case assay.Kill:
		return t.attempts(ctx, t.killed)
	case assay.FullDisk:
		return t.attempts(ctx, t.filled)
	case assay.FailingIO:
		return t.attempts(ctx, t.failing)
	}
	return t.power(ctx)
}
