package load

import (
	"syscall"
	"time"
)

// reduceTimerSlack makes the thread's sleeps end within microseconds of their time: by
// default the kernel may take 50 µs more, and then others may have the processor.
// Where it is not permitted, the lag shows it.
func reduceTimerSlack() {
	const setTimerSlack, first = 29, -20 // PR_SET_TIMERSLACK
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, 1, 0)
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, first) // of this thread alone
}

// sleep sleeps in the kernel. The runtime's own timers are as exact as its wait
// for the network, which is a millisecond.
func sleep(d time.Duration) {
	wait := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&wait, nil) // callers that need all of it look at the clock
}
