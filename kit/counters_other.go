//go:build unix && !linux

package kit

import (
	"syscall"

	"assay/kit/wire"
)

func readUsage(c *wire.Counters) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return // it cannot fail with these arguments
	}
	c.CPU = usage.Utime.Nano() + usage.Stime.Nano()
	c.Switches = int64(usage.Nvcsw) + int64(usage.Nivcsw)
	c.Peak = usage.Maxrss
}

// readSystem reads nothing: the system does not tell the bytes read and written.
func readSystem(*wire.Counters) {}
