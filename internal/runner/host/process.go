package host

import (
	"errors"
	"fmt"
	"io/fs"
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
	folders, err := fs.Glob(files, "proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	var total int64
	found := false
	for _, folder := range folders {
		stat := read(files, folder+"/stat")
		if member, ticks := groupMember(stat, group); member {
			found = true
			total += ticks
		}
	}
	if !found {
		return 0, fmt.Errorf("reading the CPU time of process group %d: no such processes", group)
	}
	return time.Duration(total) * tick, nil
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
	folders, err := fs.Glob(system, "proc/[0-9]*")
	if err != nil {
		return 0
	}
	n := 0
	for _, folder := range folders {
		if member, _ := groupMember(read(system, folder+"/stat"), group); member {
			n++
		}
	}
	return n
}
