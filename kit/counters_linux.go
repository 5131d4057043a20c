package kit

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"assay/kit/wire"
)

func readUsage(c *wire.Counters) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return // it cannot fail with these arguments
	}
	c.CPU = usage.Utime.Nano() + usage.Stime.Nano()
	c.Switches = usage.Nvcsw + usage.Nivcsw
}

// readSystem reads the peak of memory from /proc/self/status (getrusage's is
// inherited from the process that started this one) and the bytes read and
// written from /proc/self/io. In some containers they are not readable, and
// the counters stay zero. What reading the files adds to the bytes read is
// taken out.
func readSystem(c *wire.Counters) {
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		c.Peak = field(status, "VmHWM:") << 10 // from KiB
	}
	ownReads += int64(len(status))
	text, err := os.ReadFile("/proc/self/io")
	if err == nil {
		c.Read, c.Written = field(text, "rchar:")-ownReads, field(text, "\nwrite_bytes:")
		c.Fetched = field(text, "\nread_bytes:")
	}
	ownReads += int64(len(text))
}

// ownReads is how many bytes of these files were read so far.
var ownReads int64

// field returns the number behind a name in a file of /proc; 0 without one.
func field(text []byte, name string) int64 {
	_, rest, _ := bytes.Cut(text, []byte(name))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	words := bytes.Fields(line)
	if len(words) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(string(words[0]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
