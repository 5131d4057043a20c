package host

import (
	"time"

	"golang.org/x/sys/unix"
)

// ProcessCPU returns the user and system CPU time that a running process has
// used so far, in nanoseconds' resolution; false where the system does not tell.
func ProcessCPU(pid int) (time.Duration, bool) {
	const scheduled = 2 // CPUCLOCK_SCHED, see clock_getcpuclockid(3)
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &ts); err != nil {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}
