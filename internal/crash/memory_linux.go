package crash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// filledMemory lets a file system in memory run full under the workload, and makes
// room again: it takes no disk. It is mounted in the lane's own namespace.
func (t *trial) filledMemory(ctx context.Context) (evidence, observation, error) {
	e, found := evidence{Finding: Finding{Moment: Anywhere}}, observation{}
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
		e.Files, err = readFolder(store)
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
