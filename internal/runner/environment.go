//go:build unix

package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"assay"
)

// EnvironmentError says that nothing can be measured any more, whatever the
// driver: the disk is full or broken, or the cache is gone. It ends the run,
// which can be resumed, and is no outcome of the cell that met it.
type EnvironmentError struct{ Err error }

func (e *EnvironmentError) Error() string {
	return fmt.Sprintf("the run cannot go on: %v%s; resume it with --resume when that is fixed", e.Err, makeRoom(e.Err.Error()))
}

func (e *EnvironmentError) Unwrap() error { return e.Err }

// environmental are the errors of the system that no driver causes.
var environmental = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS, syscall.EMFILE, syscall.ENFILE, fs.ErrNotExist}

// own is fail, for work of this process on its own files: what the system
// refuses there is no fault of a driver.
func own(doing string, err error) error {
	for _, cause := range environmental {
		if errors.Is(err, cause) {
			return &EnvironmentError{fmt.Errorf("%s: %w", doing, err)}
		}
	}
	return fail(doing, err)
}

// exhausted are the errors of a system that has no more of something.
var exhausted = []error{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM}

// notStarted is fail, for a worker that did not start: what the system refuses to
// this process before there is a worker is no fault of a driver.
func notStarted(err error) error {
	for _, cause := range exhausted {
		if errors.Is(err, cause) {
			return &EnvironmentError{fmt.Errorf("start a worker: %w", err)}
		}
	}
	return fail("start", err)
}

// checkEnvironment reports whether a trial failed because nothing can be measured
// any more: then it has no outcome.
func (r *Runner) checkEnvironment(t *assay.Trial) error {
	if t.Outcome != assay.Failed && t.Outcome != assay.TimedOut && !isFull(t.Reason) {
		return nil
	}
	if err := r.config.Work.check(); err != nil {
		return &EnvironmentError{fmt.Errorf("%s: %w", describe(t.Cell), err)}
	}
	if isFull(t.Reason) { // there may be room again, now that its files are gone
		return &EnvironmentError{fmt.Errorf("%s: %s", describe(t.Cell), t.Reason)}
	}
	return nil
}

// isFull reports whether words are about a full disk: the system's, from here or
// from a server that begins a sentence with them.
func isFull(words string) bool {
	return strings.Contains(strings.ToLower(words), syscall.ENOSPC.Error())
}
