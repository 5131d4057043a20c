package kit

import (
	"runtime"

	"assay/kit/wire"
)

// Reading the counters costs tens of microseconds and some allocations. They
// are read outside of measured windows, and in an order that keeps what each
// reading costs out of the difference: before a window the most exact one
// last, after it first.

// countersBefore reads what the process used so far, before a window.
func countersBefore() (c wire.Counters, d delay) {
	readSystem(&c)
	readHeap(&c)
	d = readDelay()
	readUsage(&c)
	return c, d
}

// countersAfter reads the same after a window.
func countersAfter() (c wire.Counters, d delay) {
	readUsage(&c)
	d = readDelay()
	readHeap(&c)
	readSystem(&c)
	return c, d
}

func readHeap(c *wire.Counters) {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	c.Allocs, c.Alloc = int64(memory.Mallocs), int64(memory.TotalAlloc)
}
