package kit

import (
	"os"
	"syscall"
	"time"
)

// input is the standard input, and what ends its use. A pipe is read through the poller
// of Go's runtime: a read that blocks in the kernel keeps a processor of the runtime,
// and its monitor thread takes that away after a pause, and then looks for work every
// 20 µs for some milliseconds, longer than a window.
func input() (in *os.File, end func()) {
	asBefore := func() {}
	info, err := os.Stdin.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 || os.Stdin.SetReadDeadline(time.Time{}) == nil { // it is polled already
		return os.Stdin, asBefore
	}
	fd := int(os.Stdin.Fd())
	if syscall.SetNonblock(fd, true) != nil {
		return os.Stdin, asBefore
	}
	return os.NewFile(uintptr(fd), os.Stdin.Name()), func() { _ = syscall.SetNonblock(fd, false) } // whoever reads it next expects it to block
}
