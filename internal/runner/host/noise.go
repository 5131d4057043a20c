package host

import (
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"time"

	"assay"
)

// tick is the unit of CPU time in /proc, on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// Meter measures what disturbed the machine from Start to Stop. It works on
// Linux; elsewhere it sees nothing.
type Meter struct {
	files  fs.FS
	before usage
	ok     bool
}

// Start begins to measure.
func Start() *Meter {
	return start(system)
}

func start(files fs.FS) *Meter {
	m := &Meter{files: files}
	m.before, m.ok = measure(files)
	return m
}

// Stop returns what disturbed the machine since Start, as shares of the whole
// CPU time of all its cores; 0 where it cannot be read. own is the CPU time
// that this process and its workers used in that time.
//
// Foreign is user and system time of all processes less own. Interrupts and
// the kernel's own threads are not in it: they work for the measured databases
// too. In a container, kernel threads cannot be seen and count as foreign.
//
// Everything is counted in ticks of 10 ms, so measure for seconds. A Meter
// may be stopped more than once; each time it reports on all since Start.
func (m *Meter) Stop(own time.Duration) assay.Noise {
	after, ok := measure(m.files)
	if !ok || !m.ok {
		return assay.Noise{}
	}
	return noise(m.before, after, own)
}

func noise(before, after usage, own time.Duration) assay.Noise {
	total := float64(after.total - before.total)
	if total <= 0 {
		return assay.Noise{}
	}
	processes := after.processes - before.processes
	// A kernel thread that ended takes its time with it.
	kernel := max(0, after.kernel-before.kernel)
	foreign := float64(processes-kernel) - own.Seconds()/tick.Seconds()
	return assay.Noise{
		Steal:   share(float64(after.steal-before.steal), total),
		Foreign: share(foreign, total),
	}
}

func share(part, whole float64) float64 {
	return min(max(0, part/whole), 1)
}

// usage counts the ticks of all cores since the machine was started.
type usage struct {
	total     int64
	processes int64 // user and system time, interrupts excluded
	kernel    int64 // the part of it that the kernel's threads used
	steal     int64 // taken by the hypervisor
}

func measure(files fs.FS) (usage, bool) {
	u, err := parseUsage(read(files, "proc/stat"))
	if err != nil {
		return usage{}, false
	}
	for _, stat := range stats(files) {
		// A process that has just ended, or is hidden, is not a kernel thread.
		if p, err := parseProcess(stat); err == nil && p.kernel {
			u.kernel += p.ticks
		}
	}
	return u, true
}

// parseUsage reads the first line of /proc/stat: cpu, then ticks of user,
// nice, system, idle, iowait, irq, softirq, steal. Guests follow, which are
// in user and nice already.
func parseUsage(stat string) (usage, error) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return usage{}, fmt.Errorf("no CPU times in %q", line)
	}
	var n [8]int64
	for i := range n {
		var err error
		if n[i], err = parseTicks(fields[i+1]); err != nil {
			return usage{}, err
		}
	}
	u := usage{processes: n[0] + n[1] + n[2], steal: n[7]}
	for _, ticks := range n {
		u.total += ticks
	}
	return u, nil
}

// process holds what is read of /proc/PID/stat.
type process struct {
	ticks  int64 // user and system time of all its threads
	kernel bool  // a thread of the kernel
}

// parseProcess reads /proc/PID/stat: the PID, the name in parentheses, which
// may itself hold spaces and parentheses, and then numbers.
func parseProcess(stat string) (process, error) {
	end := strings.LastIndexByte(stat, ')')
	fields := strings.Fields(stat[end+1:])
	const flags, user, system = 6, 11, 12 // counted from the state, the first after the name
	if end < 0 || len(fields) <= system {
		return process{}, fmt.Errorf("no CPU times in %q", stat)
	}
	bits, err := strconv.ParseUint(fields[flags], 10, 64)
	if err != nil {
		return process{}, fmt.Errorf("flags %q are not a number", fields[flags])
	}
	userTicks, err := parseTicks(fields[user])
	if err != nil {
		return process{}, err
	}
	systemTicks, err := parseTicks(fields[system])
	if err != nil {
		return process{}, err
	}
	ticks := userTicks + systemTicks
	if ticks > math.MaxInt64/int64(tick) {
		return process{}, fmt.Errorf("%d ticks are no CPU time of a process", ticks)
	}
	const kernelThread = 0x00200000 // PF_KTHREAD
	return process{ticks: ticks, kernel: bits&kernelThread != 0}, nil
}

// parseTicks bounds the ticks, so that a sum of eight does not overflow.
func parseTicks(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/8 {
		return 0, fmt.Errorf("%q is no number of ticks", text)
	}
	return n, nil
}
