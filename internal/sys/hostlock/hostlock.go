// Package hostlock has those that measure on one machine do so one after the other: two at a time
// would measure each other.
package hostlock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Path is the file by which processes that measure on a machine take turns, whichever user runs them
// and wherever they keep their caches.
const Path = "/tmp/assay-measuring.lock"

// lockPause is how often it is asked whether another one has ended measuring.
const lockPause = 100 * time.Millisecond

// Take waits until nobody else has the lock of a path. Closing what it returns ends the turn,
// and so does the end of the process.
func Take(ctx context.Context, path string, waiting func()) (io.Closer, error) {
	for told := false; ; {
		file, err := openLock(path)
		if err != nil {
			return nil, fmt.Errorf("taking a turn to measure: %w", err)
		}
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file, nil
		}
		if err = errors.Join(err, file.Close()); !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("taking a turn to measure: %s: %w", path, err)
		}
		if !told {
			told = true
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// regular refuses a FIFO that somebody has put in the place of the file.
func regular(lock *os.File) error {
	info, err := lock.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file: remove it", lock.Name())
	}
	if err != nil {
		return errors.Join(err, lock.Close())
	}
	return nil
}

// openLock opens a file that all users share; the first one makes it. Linux lets nobody
// open another user's file in a folder for all with O_CREATE. It follows no link.
func openLock(path string) (*os.File, error) {
	const mode = 0o666
	for {
		file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if err == nil {
			return file, regular(file)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if err == nil {
			return file, file.Chmod(mode) // whatever the umask
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
}
