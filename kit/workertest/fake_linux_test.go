package workertest

import (
	"bytes"
	"runtime"
	"syscall"
	"time"
)

var withoutWaiting = replace(`,"delayed_ns":\d+`, "")

func init() {
	fakes["mortal"] = fake{reply: onThreadThatEnds, fails: []string{"threads of clients live until close"}}
}

// onThreadThatEnds uses more CPU time for a reply than the measurement did, on a thread that
// ends before it. How long it waited is not told: how much of that was on such threads, and is
// not counted of living ones, depends on what else runs.
func onThreadThatEnds(line []byte) []byte {
	if !bytes.Contains(line, []byte(`"executed"`)) {
		return line
	}
	ended := make(chan struct{})
	go func() {
		runtime.LockOSThread() // for good: the thread ends with it
		defer close(ended)
		const ofThread = 1 // RUSAGE_THREAD
		var used syscall.Rusage
		for time.Duration(used.Utime.Nano()) < 20*time.Millisecond {
			if syscall.Getrusage(ofThread, &used) != nil {
				return
			}
		}
	}()
	<-ended
	return withoutWaiting(line)
}
