package store

import (
	"os"
	"runtime"
	"syscall"
	"testing"
)

// A process of another user lives, though this one may send it no signal.
func TestAliveOfAnotherUser(t *testing.T) {
	pid := os.Getppid() // of the same user: so the question is asked by a thread of another one
	owner := owner{boot: bootID(), pid: pid, started: startOf(pid), opening: "X"}
	ended := owner
	ended.started += "0"
	const nobody = 65534
	type answer struct {
		errno, signal syscall.Errno
		alive, ended  bool
	}
	answers := make(chan answer)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with this goroutine
		var a answer
		if _, _, a.errno = syscall.RawSyscall(syscall.SYS_SETRESUID, nobody, nobody, nobody); a.errno == 0 {
			a.signal, _ = syscall.Kill(pid, 0).(syscall.Errno)
			a.alive, a.ended = alive(owner.String()), alive(ended.String())
		}
		answers <- a
	}()
	a := <-answers
	if a.errno != 0 || a.signal != syscall.EPERM {
		t.Skipf("it takes root, and a parent of the same user: %v, %v", a.errno, a.signal)
	}
	if !a.alive || a.ended {
		t.Errorf("alive(%q) by another user: got %v, want true; of a process that was started earlier: got %v, want false", owner, a.alive, a.ended)
	}
}
