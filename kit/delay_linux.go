package kit

import (
	"bytes"
	"fmt"
	"syscall"
)

// delay is what a thread did so far, in ns.
type delay struct {
	thread      int
	ran, waited int64 // waited: ready to run, for a processor
	known       bool
}

// since is how long the thread waited after an earlier reading for a processor that other
// processes had; nil where it is not known, or the goroutine has moved to another thread. For
// as long as the process used more CPU time than the thread did, the thread may have waited for
// threads of its own process: that is no delay.
func (d delay) since(before delay, processCPU int64) *int64 {
	if !d.known || !before.known || d.thread != before.thread {
		return nil
	}
	others := max(0, processCPU-(d.ran-before.ran))
	delayed := max(0, d.waited-before.waited-others)
	return &delayed
}

// schedstats are the files that tell it, open, by thread. One measurement at a time
// reads them.
var schedstats = map[int]int{}

var schedstat [128]byte

// readDelay reads that of the calling thread. It allocates nothing where it was read
// before.
func readDelay() delay {
	d := delay{thread: syscall.Gettid()}
	file, opened := schedstats[d.thread]
	if !opened {
		var err error
		if file, err = syscall.Open(fmt.Sprintf("/proc/self/task/%d/schedstat", d.thread), syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err != nil {
			return d
		}
		schedstats[d.thread] = file
	}
	n, err := syscall.Pread(file, schedstat[:], 0)
	if err != nil { // of a thread that has ended, whose number another one has got
		_ = syscall.Close(file)
		delete(schedstats, d.thread)
		return d
	}
	ownReads += int64(n)
	d.ran, d.waited, d.known = parseSchedstat(schedstat[:n])
	return d
}

// parseSchedstat reads for how long, in ns, a thread ran and waited for a processor: the
// first two numbers of three (https://docs.kernel.org/scheduler/sched-stats.html).
func parseSchedstat(text []byte) (ran, waited int64, ok bool) {
	first, rest, _ := bytes.Cut(text, []byte(" "))
	second, _, found := bytes.Cut(rest, []byte(" "))
	ran, ok = parseNanos(first)
	if !ok || !found {
		return 0, 0, false
	}
	waited, ok = parseNanos(second)
	return ran, waited, ok
}

// parseNanos is strconv.ParseInt without its allocations.
func parseNanos(text []byte) (nanos int64, ok bool) {
	for _, digit := range text {
		if digit < '0' || digit > '9' {
			return 0, false
		}
		nanos = 10*nanos + int64(digit-'0')
	}
	return nanos, len(text) > 0
}
