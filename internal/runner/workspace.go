//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"assay"
	"assay/internal/dataset"
	"assay/internal/sys/hostlock"
	"assay/internal/sys/scratch"
)

// Workspace is the folder in which the databases of one run lie. It is locked
// while the run goes on, so that a later run can tell what was left behind by
// one that was killed.
type Workspace struct {
	Dir     string
	scratch *scratch.Folder
	copies  *dataset.Copies
}

const workPrefix = "run-"

// NewWorkspace makes a workspace below dir, after removing those of runs that
// ended without removing theirs.
func NewWorkspace(dir, runID string) (*Workspace, error) {
	if !assay.ValidRunID(runID) {
		return nil, fmt.Errorf("folder for databases: %q is not a run ID", runID)
	}
	folder, err := scratch.Named(dir, workPrefix, runID)
	if err != nil {
		return nil, fmt.Errorf("folder for databases: %w", err)
	}
	w := &Workspace{Dir: folder.Path, scratch: folder}
	w.copies = &dataset.Copies{Folder: w.folder, Limit: freeSpace(w.Dir) / idleShare}
	return w, nil
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

// takeTurn waits until no other assay measures on this machine. Where its lock cannot be
// opened, as in a container without /tmp, the turns are those of the cache folder.
func (r *Runner) takeTurn(ctx context.Context) (io.Closer, error) {
	waiting := func() { r.progress(Waiting, "another assay that measures on this machine", 0) }
	if r.config.HostLock != "" {
		if taken, err := hostlock.Take(ctx, r.config.HostLock, waiting); err == nil || ctx.Err() != nil {
			return taken, err
		}
	}
	return hostlock.Take(ctx, filepath.Join(filepath.Dir(r.config.Work.Dir), "measuring.lock"), waiting)
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

func (w *Workspace) folder() (string, error) { return os.MkdirTemp(w.Dir, "instance-") }

// Close removes the workspace.
func (w *Workspace) Close() error { return w.scratch.Remove() }
