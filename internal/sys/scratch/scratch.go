// Package scratch makes folders for what a process throws away when it ends. A
// folder is locked while its process runs, so that a later one can tell what a
// killed process left behind, and removes it.
package scratch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Folder is a folder that belongs to this process.
type Folder struct {
	Path string
	lock *os.File
}

// gateName is a file beside the folders. Who makes, sweeps or removes folders locks
// it: nobody takes a folder whose lock is not there yet, or no longer, for one that
// was left behind.
const gateName = "sweeping.lock"

// New makes a folder with a name of its own below parent, after removing those
// that were left behind there.
func New(parent, prefix string) (*Folder, error) {
	return create(parent, prefix, func() (string, error) { return os.MkdirTemp(parent, prefix) })
}

// Named is New, for a folder whose name is the prefix and a name. The folder may
// be there already, unless its process runs.
func Named(parent, prefix, name string) (*Folder, error) {
	path := filepath.Join(parent, prefix+name)
	return create(parent, prefix, func() (string, error) { return path, os.MkdirAll(path, 0o755) })
}

func create(parent, prefix string, folder func() (string, error)) (*Folder, error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, err
	}
	gate, err := lockGate(parent)
	if err != nil {
		return nil, err
	}
	defer gate.Close()
	if err := sweep(parent, prefix); err != nil {
		return nil, err
	}
	path, err := folder()
	if err != nil {
		return nil, err
	}
	lock, err := lockFolder(path)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s is in use by another assay: %w", path, err)
	}
	if err != nil {
		return nil, err
	}
	return &Folder{path, lock}, nil
}

// sweep removes the folders that nobody has locked.
func sweep(parent, prefix string) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), prefix) {
			continue
		}
		old := filepath.Join(parent, entry.Name())
		lock, err := lockFolder(old)
		if err != nil {
			continue // in use
		}
		if err := errors.Join(os.RemoveAll(old), lock.Close()); err != nil {
			return fmt.Errorf("remove what an earlier process left behind: %w", err)
		}
	}
	return nil
}

// lockFolder locks a folder by a file in it, without waiting.
func lockFolder(path string) (*os.File, error) {
	return Lock(filepath.Join(path, "lock"), syscall.LOCK_EX|syscall.LOCK_NB)
}

// lockGate waits until nobody else makes, sweeps or removes folders below parent.
func lockGate(parent string) (*os.File, error) {
	return Lock(filepath.Join(parent, gateName), syscall.LOCK_EX)
}

// Lock locks a file as flock(2) does, and makes it where it is missing. To close
// it ends that, and so does the end of the process.
func Lock(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), how); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Remove removes the folder with all that is in it. Where its parent is gone, so is it.
func (f *Folder) Remove() error {
	gate, err := lockGate(filepath.Dir(f.Path))
	if errors.Is(err, os.ErrNotExist) {
		return f.lock.Close()
	}
	if err != nil {
		return errors.Join(err, f.lock.Close())
	}
	return errors.Join(os.RemoveAll(f.Path), f.lock.Close(), gate.Close())
}
