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
func countersBefore() wire.Counters {
	var c wire.Counters
	readSystem(&c)
	readHeap(&c)
	readUsage(&c)
	return c
}

// countersAfter reads the same after a window.
func countersAfter() wire.Counters {
	var c wire.Counters
	readUsage(&c)
	readHeap(&c)
	readSystem(&c)
	return c
}

func readHeap(c *wire.Counters) {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	c.Allocs, c.Alloc = int64(memory.Mallocs), int64(memory.TotalAlloc)
}
