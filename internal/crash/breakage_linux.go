package crash

import (
	"context"
	"errors"
	"fmt"

	"assay/internal/crash/powercut"
)

// breakage is a disk that breaks under the workload and works again later.
type breakage struct {
	breaks func(ctx context.Context, db *database) error // db is nil where the breakage is cold
	repair func(ctx context.Context) error
	// cold says that it breaks for a database that was written before, closed, and
	// is in no cache.
	cold bool
	// forgets says that the disk loses what no flush covered when it broke.
	forgets bool
	// goesOn says that the workload goes on when the disk works again, without a new
	// start of the database.
	goesOn bool
}

// remount mounts the file system anew: an error has made it read-only, or what
// is cached is not to be.
func (t *trial) remount(ctx context.Context) error {
	if err := t.unmount(ctx); err != nil {
		return err
	}
	return t.mountDisk(ctx)
}

// broken runs the workload on a disk that breaks, then repairs it and looks at what
// is there. The workload has to see an error: what it did not see, it
// acknowledged.
func (t *trial) broken(ctx context.Context, b breakage) (evidence, observation, error) {
	e, found := evidence{Finding: Finding{Moment: powercut.Anywhere}}, observation{}
	err := t.mounted(ctx, t.base, true, func() error {
		path := dataPath(t.mount)
		from, err := t.prewritten(ctx, path, b.cold)
		if err != nil {
			return err
		}
		found, e.unfelt, err = t.writeBroken(ctx, path, from, b)
		recording := t.disk.Recorded() // before it is repaired: what comes later is no part of it
		if err := errors.Join(err, b.repair(ctx)); err != nil {
			return err
		}
		e.Finding.Acked = recording.Acked(len(recording.Ops))
		if err := t.unmount(ctx); err != nil {
			return err
		}
		left := t.disk.Content()
		if b.forgets {
			left = t.forgotten(recording)
			t.disk.Insert(left, false)
		}
		e.Recording = &powercut.Recording{Base: left}
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
func (t *trial) forgotten(r *powercut.Recording) *powercut.Image {
	for {
		cut, ok := r.Choose(len(r.Ops), powercut.Choices[t.random.IntN(len(powercut.Choices))], true, t.random)
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
		if err := b.repair(ctx); err != nil {
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

// goOn commits the rest of the workload where there is room again, beginning with the
// transaction that failed, and ends the server in order. One that runs has to do both.
func (t *trial) goOn(ctx context.Context, db *database, from int) observation {
	err := db.write(ctx, from, t.history.transactions()-from, t.marks())
	if err != nil && db.server.ended(ctx) {
		return observation{}
	}
	if err == nil {
		err = db.close(ctx)
	}
	if err != nil {
		return observation{damage: Unwritable, transactions: -1, words: fmt.Sprintf("the server ran and there was room again, but it did not commit the rest: %s", err)}
	}
	return observation{}
}
