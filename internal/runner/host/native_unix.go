//go:build linux || darwin || freebsd

package host

import (
	"runtime"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"
)

// SelfCPU returns the user and system CPU time that this process has used so
// far, in microseconds or finer; 0 where the system does not tell.
func SelfCPU() time.Duration {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// maxResident returns ru_maxrss in bytes, 0 where it is unknown.
func maxResident() int64 {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(used.Maxrss) // bytes; KiB elsewhere
	}
	return int64(used.Maxrss) * 1024
}

// diskFree writes how much room dir's file system has for us.
func diskFree(dir string) string {
	var s unix.Statfs_t
	if dir == "" || unix.Statfs(dir, &s) != nil {
		return ""
	}
	return humanize.IBytes(uint64(max(0, s.Bavail)) * uint64(s.Bsize))
}
