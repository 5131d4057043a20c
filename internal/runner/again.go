//go:build unix

package runner

import (
	"assay/kit/wire"
)

const (
	// maxDelay is the share of a window for which its thread may wait for a processor.
	maxDelay = 0.02
	// maxAgain is the part of a launch's windows that may be measured again: 1/maxAgain.
	// Where more are disturbed, the machine is so all the time, and the launch counts
	// as it is, or not at all.
	maxAgain = 4
)

// again reports whether a window is to be measured once more, and counts it.
func (t *turn) again(m wire.Measured) bool {
	if t.spare == 0 || !disturbedWindow(m) {
		return false
	}
	t.spare--
	return true
}

// disturbedWindow reports whether others had the processor that the measuring thread was
// ready to run on. What the operation itself waits for, storage or a lock, is a part of it,
// and so is work of the process's own threads that was in its way: the process has used
// the processor then. A window in which something was wrong stays.
func disturbedWindow(m wire.Measured) bool {
	limit := maxDelay * float64(m.Nanos)
	unused := m.Nanos - m.Counters.CPU
	return float64(min(m.Delayed, unused)) > limit && m.Errors+m.Misses == 0
}
