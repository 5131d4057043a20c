// Package host says what machine measurements were made on, and what
// disturbed them: facts that a reader of a result needs, CPU time that others
// took meanwhile, and CPU time and memory of processes.
//
// On Linux everything is read from /proc and /sys. Elsewhere the package says
// what the system tells without them, and leaves out the rest.
//
// Linux counts CPU time in ticks of 10 ms. An interval shorter than a second
// or so therefore says little: on two cores, one tick of half a second is 1 %.
package host

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// system is the root of the machine's files.
var system = os.DirFS("/")

// Facts returns facts of the machine by name, for a reader who asks whether a
// result holds on another one. What cannot be read is left out. dir is where
// databases will lie; it need not exist yet. The facts hold no path and no
// name of a person, a host or a server.
//
//	machine          tells this machine from others without revealing its name: a digest of
//	                 the system's random ID; containers of one image may share it
//	cpu              model
//	cores            logical CPUs that this process may use
//	gomaxprocs       threads that run Go code at once: less than cores under a CPU quota
//	smt              on or off: whether cores share execution units
//	governor         of the CPU frequency; several if cores differ
//	boost            on or off: whether the CPU may exceed its nominal frequency
//	memory           all of it
//	memory-available at the time of the call
//	huge-pages       transparent huge pages: always, madvise or never
//	os, arch         as Go names them
//	distribution     name and version
//	kernel           release
//	clocksource      of the kernel
//	virtualization   what runs the machine, if it is virtual and shows it
//	container        what runs the container, if one is visible
//	load             processes that could run, averaged over the last minute
//	go               version of the toolchain
//	filesystem       type of the file system of dir
//	mount-options    those that concern speed or durability
//	disk-free        on that file system
//	device           of that file system, as the kernel names it
//	device-model     as the device itself says
//	rotational       yes or no, as the device claims
//	write-cache      write back (the device may lose what it acknowledged, unless flushed) or write through
//	io-scheduler     of the device
func Facts(dir string) map[string]string {
	facts := map[string]string{
		"cores":      strconv.Itoa(runtime.NumCPU()),
		"gomaxprocs": strconv.Itoa(runtime.GOMAXPROCS(0)),
		"os":         runtime.GOOS,
		"arch":       runtime.GOARCH,
		"go":         runtime.Version(),
	}
	addIdentity(facts, system)
	addNative(facts, existing(dir))
	addCPU(facts, system)
	addMemory(facts, system)
	addKernel(facts, system)
	addVirtualization(facts, system)
	addStorage(facts, system, existing(dir))
	return facts
}

// existing returns the real path of the nearest folder that exists: dir, or
// one above it.
func existing(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return real
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// read returns the trimmed text of a file, empty where it cannot be read.
func read(files fs.FS, name string) string {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// put adds a fact unless it is empty.
func put(facts map[string]string, name, value string) {
	if value != "" {
		facts[name] = value
	}
}
