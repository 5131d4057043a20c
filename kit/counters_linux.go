package kit

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"assay/kit/wire"
)

// systemCounters reads getrusage(2) and /proc/self/io (where it is readable).
func systemCounters() (wire.Counters, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return wire.Counters{}, fmt.Errorf("getrusage: %w", err)
	}
	c := wire.Counters{
		CPU:      usage.Utime.Nano() + usage.Stime.Nano(),
		Switches: usage.Nvcsw + usage.Nivcsw,
		Peak:     usage.Maxrss << 10, // from KiB
	}
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return c, nil // not readable in some containers: the counters stay zero
	}
	c.Read, c.Written = ioField(text, "rchar: "), ioField(text, "write_bytes: ")
	return c, nil
}

func ioField(text []byte, name string) int64 {
	_, rest, found := bytes.Cut(text, []byte(name))
	if !found {
		return 0
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, err := strconv.ParseInt(string(line), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
