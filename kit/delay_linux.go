package kit

import (
	"bytes"
	"syscall"
)

// delay is how long a thread was ready to run so far, and waited for a processor.
type delay struct {
	thread int
	nanos  int64
	known  bool
}

// since is how long the thread waited after an earlier reading; 0 where it is not known,
// or the goroutine has moved to another thread.
func (d delay) since(before delay) int64 {
	if !d.known || !before.known || d.thread != before.thread {
		return 0
	}
	return max(0, d.nanos-before.nanos)
}

// schedstats are the files that tell it, open, by thread; -1 where there is none. One
// measurement at a time reads them.
var schedstats = map[int]int{}

// readDelay reads that of the calling thread. It allocates nothing where it was read
// before.
func readDelay() delay {
	d := delay{thread: syscall.Gettid()}
	file, opened := schedstats[d.thread]
	if !opened {
		var err error
		if file, err = syscall.Open("/proc/thread-self/schedstat", syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err != nil {
			file = -1
		}
		schedstats[d.thread] = file
	}
	n, err := syscall.Pread(file, schedstat[:], 0)
	if err != nil {
		return d
	}
	ownReads += int64(n)
	d.nanos, d.known = parseDelay(schedstat[:n])
	return d
}

var schedstat [128]byte

// parseDelay reads the second number of schedstat: for how long, in ns, the thread ran,
// then for how long it waited, then how often it ran
// (https://docs.kernel.org/scheduler/sched-stats.html).
func parseDelay(text []byte) (nanos int64, ok bool) {
	_, rest, _ := bytes.Cut(text, []byte(" "))
	waited, _, ok := bytes.Cut(rest, []byte(" "))
	for _, digit := range waited {
		if digit < '0' || digit > '9' {
			return 0, false
		}
		nanos = 10*nanos + int64(digit-'0')
	}
	return nanos, ok && len(waited) > 0
}
