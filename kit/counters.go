package kit

import (
	"runtime"

	"assay/kit/wire"
)

// counters reads what the process used so far. Reading costs tens of
// microseconds and is done outside of measured windows only.
func counters() (wire.Counters, error) {
	c, err := systemCounters()
	if err != nil {
		return wire.Counters{}, err
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	c.Allocs, c.Alloc = int64(memory.Mallocs), int64(memory.TotalAlloc)
	return c, nil
}

func difference(after, before wire.Counters) wire.Counters {
	return wire.Counters{
		CPU:      after.CPU - before.CPU,
		Allocs:   after.Allocs - before.Allocs,
		Alloc:    after.Alloc - before.Alloc,
		Read:     after.Read - before.Read,
		Written:  after.Written - before.Written,
		Switches: after.Switches - before.Switches,
		Peak:     after.Peak,
	}
}
