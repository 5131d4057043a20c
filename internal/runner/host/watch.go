package host

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay"
)

// Load holds what others do on the machine.
type Load struct {
	Noise assay.Noise
	// Longer is how many times as long work of one thread takes as it would alone, by the
	// system's count of how long it waited for a processor; 1 where it did not, or that is unknown.
	Longer float64
	Users  []User // the programs that take most of it, the first most
}

// User is a program, or several of one name.
type User struct {
	Name  string
	Share float64 // of one processor
}

const (
	maxUsers = 3
	minUser  = 0.05 // of one processor
)

// Watch works for some time on one thread and sees what others do meanwhile. It works on
// Linux; elsewhere it sees nothing.
func Watch(ctx context.Context, during time.Duration) Load {
	meter, own, users := Start(), SelfCPU(), usersOf(system)
	began := time.Now()
	load := Load{Longer: spin(ctx, during)}
	load.Users = most(users, usersOf(system), time.Since(began))
	load.Noise = meter.Stop(SelfCPU() - own)
	return load
}

// spin works on one thread until the time is over or the context ends, and returns how many
// times as long as alone that took.
func spin(ctx context.Context, during time.Duration) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := read(system, "proc/thread-self/schedstat")
	for end := time.Now().Add(during); time.Now().Before(end) && ctx.Err() == nil; {
		for range 100_000 {
		}
	}
	return longer(before, read(system, "proc/thread-self/schedstat"))
}

// longer returns how many times as long a thread took between two readings of its schedstat as it
// would without waiting for a processor: the file has for how many ns it ran, and for how many
// it waited.
func longer(before, after string) float64 {
	var ran, waited int64
	for _, reading := range []struct {
		text string
		sign int64
	}{{before, -1}, {after, 1}} {
		var r, w int64
		if n, _ := fmt.Sscan(reading.text, &r, &w); n < 2 {
			return 1
		}
		ran, waited = ran+reading.sign*r, waited+reading.sign*w
	}
	if ran <= 0 || waited <= 0 {
		return 1
	}
	return float64(ran+waited) / float64(ran)
}

// usersOf are the ticks of CPU time that the processes of others have used, by name and number.
func usersOf(files fs.FS) map[[2]string]int64 {
	ticks := map[[2]string]int64{}
	for number, stat := range stats(files) {
		if p, err := parseProcess(stat); err == nil && !p.kernel && number != strconv.Itoa(os.Getpid()) {
			ticks[[2]string{programName(stat), number}] = p.ticks
		}
	}
	return ticks
}

// programName is the name in /proc/PID/stat.
func programName(stat string) string {
	_, after, _ := strings.Cut(stat, "(")
	return after[:max(0, strings.LastIndexByte(after, ')'))]
}

// most are the programs that used most between two counts.
func most(before, after map[[2]string]int64, took time.Duration) []User {
	shares := map[string]float64{}
	for process, ticks := range after {
		used := time.Duration(ticks-before[process]) * tick // a process that is new began in between
		shares[process[0]] += max(0, used.Seconds()) / took.Seconds()
	}
	names := slices.DeleteFunc(slices.Collect(maps.Keys(shares)), func(name string) bool { return shares[name] < minUser })
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(shares[b], shares[a]), cmp.Compare(a, b)) })
	var users []User
	for _, name := range names[:min(len(names), maxUsers)] {
		users = append(users, User{name, shares[name]})
	}
	return users
}
