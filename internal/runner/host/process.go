package host

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"strings"
	"time"
)

// GroupCPU returns the user and system CPU time that the running processes of
// a group have used so far, with that of their children that have ended: a
// worker may be a script that started the program. The resolution is 10 ms a
// process. It works on Linux; elsewhere, and for a group without processes, it
// returns an error.
func GroupCPU(group int) (time.Duration, error) {
	return groupCPU(system, group)
}

func groupCPU(files fs.FS, group int) (time.Duration, error) {
	count, ticks := members(files, group)
	if count == 0 {
		return 0, fmt.Errorf("reading the CPU time of process group %d: no such processes", group)
	}
	return time.Duration(ticks) * tick, nil
}

// members counts the running processes of a group, and the ticks that they used.
func members(files fs.FS, group int) (count int, ticks int64) {
	for _, stat := range stats(files) {
		if member, used := groupMember(stat, group); member {
			count, ticks = count+1, ticks+used
		}
	}
	return count, ticks
}

// stats returns what /proc/PID/stat says of each process, by its number.
func stats(files fs.FS) iter.Seq2[string, string] {
	return func(yield func(number, stat string) bool) {
		folders, _ := fs.Glob(files, "proc/[0-9]*") // the pattern is right
		for _, folder := range folders {
			if !yield(path.Base(folder), read(files, folder+"/stat")) {
				return
			}
		}
	}
}

// groupMember reads from /proc/PID/stat whether a process belongs to a group,
// and the ticks that it and its ended children used.
func groupMember(stat string, group int) (bool, int64) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const processGroup, childrenUser, childrenSystem = 2, 13, 14 // counted from the state
	if len(fields) <= childrenSystem || fields[processGroup] != fmt.Sprint(group) {
		return false, 0
	}
	own, err := parseProcess(stat)
	user, errUser := parseTicks(fields[childrenUser])
	system, errSystem := parseTicks(fields[childrenSystem])
	if errors.Join(err, errUser, errSystem) != nil {
		return false, 0
	}
	return true, own.ticks + user + system
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

// GroupSize counts the running processes of a group. It works on Linux;
// elsewhere it finds none.
func GroupSize(group int) int {
	count, _ := members(system, group)
	return count
}
