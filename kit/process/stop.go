//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"assay/kit/wire"
)

// rest is how long a worker that has answered gets before it is paused, so that it waits
// for the next request by then. One that is paused in the middle of a system call is
// taken, once it goes on, for one that was in it all the time: Go's monitor thread then
// takes its processor away and looks for work every 20 µs for some milliseconds.
const rest = 150 * time.Microsecond

// Pause stops the worker's process group (SIGSTOP): it uses no CPU until Resume.
func (w *Worker) Pause() error {
	sleep(rest)
	w.stopped = true
	return w.signal(syscall.SIGSTOP)
}

// Resume wakes the process group (SIGCONT) and waits until it answers.
func (w *Worker) Resume(ctx context.Context) error {
	w.stopped = false
	if err := w.signal(syscall.SIGCONT); err != nil {
		return err
	}
	return w.Call(ctx, wire.TypeStats, nil, nil)
}

func (w *Worker) signal(s syscall.Signal) error {
	select {
	case <-w.exited:
		return w.dead()
	default:
	}
	err := syscall.Kill(-w.PID(), s)
	if errors.Is(err, syscall.ESRCH) { // it has just ended
		<-w.exited
		return w.dead()
	}
	if err != nil {
		return fmt.Errorf("send %v to the worker's process group: %w", s, err)
	}
	return nil
}

// EndInput closes the worker's input and waits for its end, or ends it.
func (w *Worker) EndInput() error {
	err := w.stdin.Close()
	w.waitAndKill(Patience)
	return err
}

// Stop ends the worker in steps and returns what it answered to close. The
// error says why it did not answer that it closed; the process is gone in any
// case.
func (w *Worker) Stop(ctx context.Context) (wire.Closed, error) {
	limited, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	var closed wire.Closed
	err := w.broken
	if err == nil && w.stopped {
		err = w.Resume(limited)
	}
	if err == nil {
		err = w.call(limited, wire.TypeClose, nil, &closed)
	}
	_ = w.stdin.Close()
	if !w.wait(w.step) {
		_ = w.signal(syscall.SIGTERM)
	}
	w.waitAndKill(w.step)
	return closed, err
}

// Kill ends the process group at once and waits for it. It does so once: the
// group's number may be another's afterwards.
func (w *Worker) Kill() {
	if w.killed {
		return
	}
	w.killed = true
	_ = syscall.Kill(-w.PID(), syscall.SIGKILL)
	_ = w.stdout.Close() // a process that left the group may hold it open
	for range w.lines {  // the reader may wait for room
	}
	<-w.exited
}

// waitAndKill kills what is left of the process group after some time.
func (w *Worker) waitAndKill(patience time.Duration) {
	w.wait(patience)
	w.Kill()
}

func (w *Worker) wait(patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for lines := w.lines; ; {
		select {
		case <-w.exited:
			return true
		case _, ok := <-lines:
			if !ok {
				lines = nil
			}
		case <-timer.C:
			return false
		}
	}
}
