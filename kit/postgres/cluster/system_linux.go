package cluster

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// capDacReadSearch lets a process enter folders that its user may not
// (capabilities(7)); it lets it change nothing.
const capDacReadSearch = 2

func enter(attributes *syscall.SysProcAttr) { attributes.AmbientCaps = []uintptr{capDacReadSearch} }

// killWithParent has the server shut down at once when this process ends: with
// SIGKILL it would leave its shared memory behind.
func killWithParent(command *exec.Cmd) { command.SysProcAttr.Pdeathsig = syscall.SIGQUIT }

// processes are the server's: its processes work in the data folder.
func processes(data string) []int {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd") // the pattern is right
	var pids []int
	for _, link := range links {
		if folder, err := os.Readlink(link); err != nil || folder != data && folder != data+" (deleted)" {
			continue // another's, or one that has ended
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// usage reads what a process used. Its ended children are in it, as parallel
// workers of queries are, whose CPU time is told in ticks.
func usage(pid int) Usage {
	var u Usage
	folder := filepath.Join("/proc", strconv.Itoa(pid))
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil // it has just ended
		}
		return text
	}
	u.CPU = cpu(read("schedstat"), read("stat"))
	io, status := read("io"), read("status")
	u.Read, u.Fetched, u.Written = field(io, "rchar:"), field(io, "\nread_bytes:"), field(io, "\nwrite_bytes:")
	u.Switches = field(status, "\nvoluntary_ctxt_switches:") + field(status, "\nnonvoluntary_ctxt_switches:")
	return u
}

// cpu is the CPU time of a process with its ended children: its own by schedstat, and
// in ticks where the kernel does not count that.
func cpu(schedstat, stat []byte) time.Duration {
	own, ticks := field(schedstat, ""), int64(0)
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= childrenSystem {
		return time.Duration(own)
	}
	if own == 0 {
		ticks = number(fields[ownUser]) + number(fields[ownSystem])
	}
	return time.Duration(own) + tick*time.Duration(ticks+number(fields[childrenUser])+number(fields[childrenSystem]))
}

// The fields of /proc/PID/stat that follow the name, counted from the state, and
// their unit, which is the same on all systems that Go runs on.
const (
	ownUser, ownSystem, childrenUser, childrenSystem = 11, 12, 13, 14

	tick = 10 * time.Millisecond
)

// field returns the number behind a name; 0 without one.
func field(text []byte, name string) int64 {
	_, rest, _ := bytes.Cut(text, []byte(name))
	words := bytes.Fields(rest)
	if len(words) == 0 {
		return 0
	}
	return number(words[0])
}

func number(word []byte) int64 {
	n, err := strconv.ParseInt(string(word), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// sharedFiles are the files of shared memory that a process has mapped.
func sharedFiles(pid int) []string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "maps"))
	if err != nil {
		return nil // it has just ended
	}
	var files []string
	for line := range bytes.Lines(text) {
		if _, file, found := bytes.Cut(bytes.TrimSpace(line), []byte("/dev/shm/")); found {
			files = append(files, filepath.Join("/dev/shm", string(file)))
		}
	}
	return files
}

// removeSegment removes a System V segment of shared memory that nobody has
// attached any more.
func removeSegment(id int) {
	const remove = 0 // IPC_RMID
	_, _, _ = syscall.Syscall(syscall.SYS_SHMCTL, uintptr(id), remove, 0)
}

// flush writes all that is in memory of files to the disk.
func flush() error {
	syscall.Sync()
	return nil
}
