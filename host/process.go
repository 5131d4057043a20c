package host

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// ProcessCPU returns the user and system CPU time that a running process has
// used so far, all its threads included, its children not. The resolution is
// 10 ms. It works on Linux; elsewhere, and for a process that has ended and
// was waited for, it returns an error.
func ProcessCPU(pid int) (time.Duration, error) {
	return processCPU(system, pid)
}

func processCPU(files fs.FS, pid int) (time.Duration, error) {
	stat, err := fs.ReadFile(files, fmt.Sprintf("proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the CPU time of process %d: %w", pid, err)
	}
	p, err := parseProcess(string(stat))
	if err != nil {
		return 0, fmt.Errorf("reading the CPU time of process %d: %w", pid, err)
	}
	return time.Duration(p.ticks) * tick, nil
}

// SelfCPU returns the user and system CPU time that this process has used so
// far, in microseconds or finer; 0 where the system does not tell.
func SelfCPU() time.Duration {
	return selfCPU()
}

// PeakMemory returns the peak resident memory of this process, in bytes.
func PeakMemory() (int64, error) {
	// Linux hands ru_maxrss down from parent to child: a small worker would
	// show the peak of the program that started it.
	if peak := kibibytes(field(read(system, "proc/self/status"), "VmHWM")); peak > 0 {
		return int64(peak), nil
	}
	peak := maxResident()
	if peak == 0 {
		return 0, fmt.Errorf("reading the peak memory of this process: %w", errors.ErrUnsupported)
	}
	return peak, nil
}
