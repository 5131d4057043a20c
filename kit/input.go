//go:build unix

package kit

import (
	"os"
	"syscall"
)

// input is the standard input. A pipe is read through the poller of Go's runtime: a
// read that blocks in the kernel keeps a processor of the runtime, and its monitor
// thread takes that away after a pause, and then looks for work every 20 µs for
// some milliseconds, longer than a window.
func input() *os.File {
	info, err := os.Stdin.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 || syscall.SetNonblock(int(os.Stdin.Fd()), true) != nil {
		return os.Stdin
	}
	return os.NewFile(os.Stdin.Fd(), os.Stdin.Name())
}
