package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"assay/internal/crash/powercut"
	"assay/kit/process"
)

// observation holds what was found in a state.
type observation struct {
	damage       Damage
	words        string
	transactions int // that are there; -1 where that cannot be told
	opening      time.Duration
}

// check mounts a state and looks at the database in fresh processes.
func (t *trial) check(ctx context.Context, image *powercut.Image, acked int) (observation, error) {
	var found observation
	err := t.mounted(ctx, image, false, func() error {
		var err error
		found, err = t.inspect(ctx, dataPath(t.mount), acked)
		return err
	})
	return found, err
}

// inspect says what is there of the acknowledged transactions, and whether the
// database still works. Its error is one of the machine, not of the database.
func (t *trial) inspect(ctx context.Context, path string, acked int) (observation, error) {
	found := observation{transactions: -1}
	bad := func(d Damage, err error) (observation, error) {
		if ctx.Err() != nil || errors.Is(err, errStart) {
			return found, cmp.Or(ctx.Err(), err)
		}
		found.damage, found.words = d, err.Error()
		return found, nil
	}
	db, err := t.open(ctx, t.task, path)
	if err != nil {
		return bad(unopened(acked), err)
	}
	defer func() { db.kill() }()
	found.opening = db.took
	there, err := db.all(ctx)
	if err != nil {
		return bad(unopened(acked), err)
	}
	if err := db.check(ctx); err != nil {
		return bad(Corrupt, fmt.Errorf("%w; %d keys can be read, and %d transactions were acknowledged, which leave %d", err, there.Rows, acked, t.history.rows(acked)))
	}
	n, whole := t.whole(int(there.Rows), there.Digest, acked)
	if !whole {
		return bad(Inconsistent, fmt.Errorf("%d keys with digest %.12s match no state after whole transactions; %d were acknowledged", there.Rows, there.Digest, acked))
	}
	found.transactions = n
	if err := t.writable(ctx, db); err != nil {
		return bad(Unwritable, err)
	}
	if err := db.close(ctx); err != nil && !errors.As(err, new(*process.ExitError)) {
		return bad(Unwritable, fmt.Errorf("close: %w", err))
	}
	again, err := t.open(ctx, t.task, path)
	if err != nil {
		return bad(Unstable, fmt.Errorf("the second time: %w", err))
	}
	db = again
	there, err = db.all(ctx)
	if err != nil {
		return bad(Unstable, fmt.Errorf("the second time: %w", err))
	}
	if want := digest(t.history.with(t.history.state(n))); there.Digest != want {
		return bad(Unstable, fmt.Errorf("the second open finds %d keys with digest %.12s, want %.12s", there.Rows, there.Digest, want))
	}
	if n < acked {
		lost := Lost
		if n == acked-1 {
			lost = LostLast
		}
		return bad(lost, fmt.Errorf("%d transactions were acknowledged, and %d are there", acked, n))
	}
	return found, nil
}

// writable commits one more transaction.
func (t *trial) writable(ctx context.Context, db *database) error {
	if err := db.prepare(ctx, t.arguments); err != nil {
		return err
	}
	return db.write(ctx, t.history.transactions(), 1, "")
}
