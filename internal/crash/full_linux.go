package crash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"assay"
	"assay/internal/crash/powercut"
	"assay/kit/wire"
)

// fullDisk lets the file system run full under the workload, on a disk or in memory.
func fullDisk() fault {
	return fault{Fault: assay.FullDisk, level: diskLevel, subject: "A full disk", weight: 2,
		inject: repeatedly(func(t *trial, ctx context.Context) (evidence, observation, error) {
			switch {
			case t.task.FileSystem == assay.Tmpfs:
				return t.filledMemory(ctx)
			case t.server:
				return t.filledServer(ctx)
			}
			return t.broken(ctx, t.full(t.roomLeft()))
		})}
}

const (
	// shortSegment is less room than a segment of a server's log takes.
	shortSegment = 8 << 20
	// leastRoom is what a server's workload takes at least.
	leastRoom = 64 << 10
)

// What a disk has no room for under a server.
const (
	tableGrowth powercut.Moment = "table growth"
	logGrowth   powercut.Moment = "log growth"
)

// full is a disk with so many bytes left.
func (t *trial) full(left int64) breakage {
	ballast := filepath.Join(t.mount, "ballast")
	return breakage{
		breaks: func(ctx context.Context, _ *database) error {
			return t.run(ctx, "sh", "-c", fmt.Sprintf(
				`fallocate -l $(( $(stat -f -c '%%a * %%S' "$1") - %d )) "$1/ballast"`, left), "sh", t.mount)
		},
		repair: func(ctx context.Context) error { return t.run(ctx, "rm", "-f", ballast) },
	}
}

// mostRoom is as many blocks as most workloads take. SQLite takes hardly any behind its
// rows where it deletes its journal.
const mostRoom = 160

// roomLeft returns how many bytes a disk has left, a few blocks as often as many.
func (t *trial) roomLeft() int64 { return 4096 * int64(drawNumber(t.random, mostRoom)) }

// filledMemory lets a file system in memory run full under the workload, and makes
// room again: it takes no disk. It is mounted in the lane's own namespace.
func (t *trial) filledMemory(ctx context.Context) (e evidence, found observation, err error) {
	e.Finding.Moment = powercut.Anywhere
	err = t.inFolder(func(_, marks string) (err error) {
		if err := unix.Mount("assay-crash", t.files, "tmpfs", 0, sizeOption(diskBytes)); err != nil {
			return fmt.Errorf("mount a file system in memory at %s: %w", t.files, err)
		}
		defer func() { err = errors.Join(err, unix.Unmount(t.files, unix.MNT_DETACH)) }()
		path := dataPath(filepath.Join(t.files, "store"))
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if e.unfelt, err = t.writeUntilFull(ctx, path, marks); err != nil {
			return err
		}
		found, err = t.inspectLeft(ctx, &e, path, marks)
		return err
	})
	return e, found, err
}

// writeUntilFull runs the workload where little room is left until its first error,
// and makes room; unfelt says that there was none.
func (t *trial) writeUntilFull(ctx context.Context, path, marks string) (unfelt bool, err error) {
	db, err := t.begin(ctx, path, nil)
	if err != nil {
		return false, err
	}
	defer db.kill()
	var used unix.Statfs_t
	if err := unix.Statfs(t.files, &used); err != nil {
		return false, err
	}
	taken := int64(used.Blocks-used.Bfree) * used.Bsize
	if err := resize(t.files, taken+t.roomLeft()); err != nil {
		return false, err
	}
	unfelt = t.writeUntilError(ctx, db, 0, marks) == t.history.transactions()
	db.kill()
	return unfelt, resize(t.files, diskBytes)
}

// resize gives a file system in memory another size.
func resize(folder string, bytes int64) error {
	if err := unix.Mount("", folder, "", unix.MS_REMOUNT, sizeOption(bytes)); err != nil {
		return fmt.Errorf("resize the file system in memory at %s: %w", folder, err)
	}
	return nil
}

func sizeOption(bytes int64) string { return fmt.Sprintf("size=%d", bytes) }

// filledServer lets the disk run full under a server, in turns where its tables grow and
// where its log needs another segment. Without room for a table, a transaction fails and
// the server goes on; without room for the log, the server ends.
func (t *trial) filledServer(ctx context.Context) (evidence, observation, error) {
	moment, left := tableGrowth, leastRoom+t.random.Int64N(600<<10)
	b := t.full(left / 2) // tables take less than the log
	b.goesOn = true
	if t.turn%2 == 1 {
		moment, b = logGrowth, t.full(shortSegment)
		fill := b.breaks
		b.breaks = func(ctx context.Context, db *database) error {
			request := wire.Verify{SQL: fmt.Sprintf(fillSegment, left), Returns: []string{"text"}}
			if err := db.call(ctx, wire.TypeVerify, request, &wire.Verified{}); err != nil {
				return err
			}
			return fill(ctx, db)
		}
	}
	e, found, err := t.broken(ctx, b)
	e.Finding.Moment = moment
	return e, found, err
}

// fillSegment writes a message, which nobody reads, to the server's log, so that its
// segment has so many bytes left.
const fillSegment = `SELECT pg_logical_emit_message(false, 'assay', repeat('x', greatest(0,
	segment - (pg_current_wal_insert_lsn() - '0/0'::pg_lsn) %% segment - %d)::int))::text
	FROM (SELECT pg_size_bytes(current_setting('wal_segment_size'))) AS setting (segment)`
