package process

import (
	"syscall"
	"time"
)

// sleep waits for about so long. Go's own timers are of a millisecond where nothing else
// happens.
func sleep(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // a signal that ends it earlier does no harm
}
