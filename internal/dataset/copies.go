package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
)

// Source is prepared data of which private copies are made: an SQLite file or
// the folder of a store. It is never changed.
type Source interface {
	path() string
	// Copy makes a private, writable, synced copy at dst, which must not exist.
	Copy(dst string) error
}

func (d *Data) path() string  { return d.Path }
func (s *Store) path() string { return s.Path }

// Copies keeps private copies from one launch to the next, for instances whose
// operations change nothing. A copy belongs to one instance at a time. Before
// it is handed out again it is made equal to its source, byte by byte, and
// whatever lies beside it is removed: an instance cannot tell it from a new
// one, whichever instance had it before and whatever opening it left behind (a
// journal mode in the header, a write-ahead log, a new manifest).
//
// Which of the idle copies an instance gets is random, so that where a copy
// happens to lie in memory and on the disk is not always the same target's.
type Copies struct {
	// Folder makes a fresh folder for a copy.
	Folder func() (string, error)
	// Limit is how many bytes idle copies may take together.
	Limit int64

	mutex sync.Mutex
	idle  []*Copy // the one that was given back first is the first
	bytes int64   // of the idle ones
}

// Copy is a private copy of a source.
type Copy struct {
	Dir    string // a folder of its own
	source Source
	size   int64
	stamps map[string]stamp // of its files, by path, when they were last known to be equal
}

const copyName = "data.db"

// Path returns where the copy itself lies, a file or a folder.
func (c *Copy) Path() string { return filepath.Join(c.Dir, copyName) }

// Remove removes the copy.
func (c *Copy) Remove() error { return os.RemoveAll(c.Dir) }

// Take returns a copy that equals its source: one that was given back, or a
// new one.
func (c *Copies) Take(source Source) (*Copy, error) {
	if reused := c.pick(source); reused != nil {
		err := reused.restore()
		if err == nil {
			return reused, nil
		}
		if err := reused.Remove(); err != nil { // it cannot be trusted, and a new one is as good
			return nil, err
		}
	}
	return c.New(source)
}

// New returns a copy that nobody had before.
func (c *Copies) New(source Source) (*Copy, error) {
	dir, err := c.Folder()
	if err != nil {
		return nil, err
	}
	made := &Copy{Dir: dir, source: source, stamps: map[string]stamp{}}
	if err := source.Copy(made.Path()); err != nil {
		return nil, errors.Join(err, made.Remove())
	}
	return made, nil
}

// pick takes a random one of a source's idle copies, nil where there is none.
func (c *Copies) pick(source Source) *Copy {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var fitting []int
	for i, idle := range c.idle {
		if idle.source.path() == source.path() {
			fitting = append(fitting, i)
		}
	}
	if len(fitting) == 0 {
		return nil
	}
	return c.remove(fitting[rand.IntN(len(fitting))])
}

func (c *Copies) remove(i int) *Copy {
	picked := c.idle[i]
	c.idle = append(c.idle[:i], c.idle[i+1:]...)
	c.bytes -= picked.size
	return picked
}

// Give takes a copy back whose instance has ended. Where idle copies would take
// too much of the disk, those are removed that have been idle for longest.
func (c *Copies) Give(copied *Copy) error {
	size, err := sizeOf(copied.Dir)
	if err != nil {
		return errors.Join(err, copied.Remove())
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	copied.size = size
	c.idle = append(c.idle, copied)
	c.bytes += size
	var errs []error
	for c.bytes > c.Limit {
		errs = append(errs, c.remove(0).Remove())
	}
	return errors.Join(errs...)
}

// sizeOf adds up the lengths of all files of a folder.
func sizeOf(folder string) (bytes int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			bytes += blocksOf(info)
		}
		return err
	})
	return bytes, err
}

// restore makes the copy equal to its source again.
func (c *Copy) restore() error {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return err
	}
	for _, entry := range entries { // sockets, logs, what the worker left
		if entry.Name() != copyName {
			if err := os.RemoveAll(filepath.Join(c.Dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	if err := c.removeOthers(); err != nil {
		return err
	}
	return mirror(c.source.path(), c.Path(), c.restoreFile)
}

// removeOthers removes what the copy has and its source has not, and what is of
// another kind there.
func (c *Copy) removeOthers() error {
	return filepath.WalkDir(c.Path(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(c.Path(), path)
		if err != nil {
			return err
		}
		info, err := os.Lstat(filepath.Join(c.source.path(), name))
		if err == nil && info.Mode().Type() == entry.Type() {
			return nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.RemoveAll(path); err != nil || !entry.IsDir() {
			return err
		}
		return fs.SkipDir
	})
}

// restoreFile makes a file equal to its source. One that nobody has touched
// since that was so is not read.
func (c *Copy) restoreFile(src, dst string) error {
	before, err := stampOf(dst)
	if err == nil && before == c.stamps[dst] {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err := copySparse(src, dst); err != nil {
			return err
		}
		return syncPath(filepath.Dir(dst))
	}
	if err != nil {
		return err
	}
	if err := equalize(src, dst); err != nil {
		return fmt.Errorf("make %s equal to %s: %w", dst, src, err)
	}
	after, err := stampOf(dst)
	if err != nil {
		return err
	}
	if after.settled() {
		c.stamps[dst] = after
	}
	return nil
}
