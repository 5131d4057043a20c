//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"assay"
	"assay/internal/dataset"
)

// Workspace is the folder in which the databases of one run lie. It is locked
// while the run goes on, so that a later run can tell what was left behind by
// one that was killed.
type Workspace struct {
	Dir    string
	lock   *os.File
	copies *dataset.Copies
}

const workPrefix = "run-"

// NewWorkspace makes a workspace below dir, after removing those of runs that
// ended without removing theirs.
func NewWorkspace(dir, runID string) (*Workspace, error) {
	if !assay.ValidRunID(runID) {
		return nil, fmt.Errorf("folder for databases: %q is no ID of a run", runID)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("folder for databases: %w", err)
	}
	// Nobody else sweeps between the making of the folder and its locking.
	gate, err := lockFile(filepath.Join(dir, "sweeping.lock"), syscall.LOCK_EX)
	if err != nil {
		return nil, fmt.Errorf("folder for databases: %w", err)
	}
	defer gate.Close()
	if err := sweep(dir); err != nil {
		return nil, err
	}
	own := filepath.Join(dir, workPrefix+runID)
	lock, err := makeLocked(own)
	if err != nil {
		return nil, fmt.Errorf("folder for databases: %w", err)
	}
	w := &Workspace{Dir: own, lock: lock}
	w.copies = &dataset.Copies{Folder: w.folder, Limit: freeSpace(own) / idleShare}
	return w, nil
}

// makeLocked makes a folder and locks it. Between the two, another assay may
// take the folder for one that was left behind, and remove it: then it is made
// again.
func makeLocked(own string) (*os.File, error) {
	const maxTries = 20
	for try := 1; ; try++ {
		if err := os.MkdirAll(own, 0o755); err != nil {
			return nil, err
		}
		lock, err := lockFolder(own)
		if err == nil && hasName(lock) {
			return lock, nil
		}
		if err == nil {
			err = errors.Join(os.ErrNotExist, lock.Close())
		}
		if try == maxTries {
			return nil, fmt.Errorf("%s is in use by another assay: %w", own, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// hasName tells whether a file still has its name.
func hasName(file *os.File) bool {
	open, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(file.Name())
	return err == nil && os.SameFile(open, named)
}

// idleShare is the part of the free space that copies may take which wait for
// another launch.
const idleShare = 4

// freeSpace is how many bytes the disk of a folder has left; 0 where it cannot
// be told.
func freeSpace(dir string) int64 {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0
	}
	return int64(fs.Bavail) * int64(fs.Bsize)
}

// lockFolder locks a folder by a file in it, without waiting.
func lockFolder(dir string) (*os.File, error) {
	return lockFile(filepath.Join(dir, "lock"), syscall.LOCK_EX|syscall.LOCK_NB)
}

func lockFile(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), how); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// turnPause is how often it is asked whether another assay has ended measuring.
const turnPause = 200 * time.Millisecond

// takeTurn waits until no other assay measures in the same cache folder: two at
// a time would measure each other. The turn ends when the file is closed.
func (w *Workspace) takeTurn(ctx context.Context, waiting func()) (io.Closer, error) {
	for told := false; ; {
		turn, err := lockFile(filepath.Join(filepath.Dir(w.Dir), "measuring.lock"), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) {
			return turn, err
		}
		if !told {
			told = true
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(turnPause):
		}
	}
}

// check says why nothing can be measured in the workspace any more: it is gone,
// or nothing can be written to it. It writes about as much as a small database.
func (w *Workspace) check() error {
	file, err := os.CreateTemp(w.Dir, "check-")
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, checkedBytes))
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}

const checkedBytes = 1 << 20

// sweep removes the workspaces that nobody has locked.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), workPrefix) {
			continue
		}
		old := filepath.Join(dir, entry.Name())
		lock, err := lockFolder(old)
		if err != nil {
			continue // in use
		}
		if err := errors.Join(os.RemoveAll(old), lock.Close()); err != nil {
			return fmt.Errorf("remove what an earlier run left behind: %w", err)
		}
	}
	return nil
}

// folder makes a fresh folder for one instance.
func (w *Workspace) folder() (string, error) { return os.MkdirTemp(w.Dir, "instance-") }

// Close removes the workspace.
func (w *Workspace) Close() error {
	return errors.Join(os.RemoveAll(w.Dir), w.lock.Close())
}
