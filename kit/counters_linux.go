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
		Peak:     peak(usage.Maxrss << 10),
	}
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return c, nil // not readable in some containers: the counters stay zero
	}
	c.Read, c.Written = field(text, "rchar:"), field(text, "\nwrite_bytes:")
	return c, nil
}

// peak returns the peak resident memory in bytes. Getrusage's is the last
// resort: a process inherits it from the one that started it.
func peak(inherited int64) int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return inherited
	}
	return field(text, "VmHWM:") << 10
}

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
