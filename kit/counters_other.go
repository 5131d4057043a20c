//go:build unix && !linux

package kit

import (
	"fmt"
	"syscall"

	"assay/kit/wire"
)

// systemCounters reads getrusage(2), which does not know bytes read and written.
func systemCounters() (wire.Counters, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return wire.Counters{}, fmt.Errorf("getrusage: %w", err)
	}
	return wire.Counters{
		CPU:      usage.Utime.Nano() + usage.Stime.Nano(),
		Switches: int64(usage.Nvcsw) + int64(usage.Nivcsw),
		Peak:     usage.Maxrss,
	}, nil
}
