package host

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// addIdentity adds a digest of the machine's ID, which man machine-id(5) asks not to
// show as it is.
func addIdentity(facts map[string]string, files fs.FS) {
	for _, name := range []string{"etc/machine-id", "var/lib/dbus/machine-id", "etc/hostid"} {
		if id := read(files, name); len(id) >= 32 { // it may be empty, or "uninitialized"
			sum := sha256.Sum256([]byte("assay machine " + id))
			facts["machine"] = hex.EncodeToString(sum[:8])
			return
		}
	}
}

func addCPU(facts map[string]string, files fs.FS) {
	put(facts, "cpu", cpuModel(read(files, "proc/cpuinfo")))
	put(facts, "smt", onOff(read(files, "sys/devices/system/cpu/smt/active")))
	put(facts, "governor", governors(files))
	boost := onOff(read(files, "sys/devices/system/cpu/cpufreq/boost"))
	if off := onOff(read(files, "sys/devices/system/cpu/intel_pstate/no_turbo")); off != "" {
		boost = map[string]string{"on": "off", "off": "on"}[off]
	}
	put(facts, "boost", boost)
}

// cpuModel finds the model in /proc/cpuinfo. ARM gives numbers only.
func cpuModel(cpuinfo string) string {
	for _, name := range []string{"model name", "cpu model", "cpu", "uarch"} {
		if model := field(cpuinfo, name); model != "" {
			return model
		}
	}
	implementer, part := field(cpuinfo, "CPU implementer"), field(cpuinfo, "CPU part")
	if implementer == "" {
		return ""
	}
	return strings.TrimSpace("implementer " + implementer + " part " + part)
}

func governors(files fs.FS) string {
	names, err := fs.Glob(files, "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
	if err != nil {
		return ""
	}
	var found []string
	for _, name := range names {
		if governor := read(files, name); governor != "" {
			found = append(found, governor)
		}
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), ", ")
}

func addMemory(facts map[string]string, files fs.FS) {
	meminfo := read(files, "proc/meminfo")
	put(facts, "memory", size(kibibytes(field(meminfo, "MemTotal"))))
	put(facts, "memory-available", size(kibibytes(field(meminfo, "MemAvailable"))))
	put(facts, "huge-pages", chosen(read(files, "sys/kernel/mm/transparent_hugepage/enabled")))
}

func addKernel(facts map[string]string, files fs.FS) {
	put(facts, "kernel", read(files, "proc/sys/kernel/osrelease"))
	put(facts, "distribution", distribution(read(files, "etc/os-release")))
	put(facts, "clocksource", read(files, "sys/devices/system/clocksource/clocksource0/current_clocksource"))
	load, _, _ := strings.Cut(read(files, "proc/loadavg"), " ")
	put(facts, "load", load)
}

// addVirtualization names the hypervisor and the container, if they show.
func addVirtualization(facts map[string]string, files fs.FS) {
	hypervisor := read(files, "sys/hypervisor/type")
	flags := strings.Fields(field(read(files, "proc/cpuinfo"), "flags"))
	if hypervisor == "" && slices.Contains(flags, "hypervisor") {
		// On real hardware these name the maker of the machine.
		hypervisor = strings.TrimSpace(read(files, "sys/class/dmi/id/sys_vendor") + " " + read(files, "sys/class/dmi/id/product_name"))
		hypervisor = cmp.Or(hypervisor, "yes")
	}
	put(facts, "virtualization", hypervisor)

	for _, mark := range []struct{ file, name string }{{".dockerenv", "docker"}, {"run/.containerenv", "podman"}} {
		if _, err := fs.Stat(files, mark.file); err == nil {
			facts["container"] = mark.name
		}
	}
}

// field returns the first value of that name in lines like "name : value".
func field(text, name string) string {
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// distribution finds the name and version in /etc/os-release.
func distribution(release string) string {
	for line := range strings.Lines(release) {
		if value, found := strings.CutPrefix(line, "PRETTY_NAME="); found {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}

// chosen returns the word in brackets of a list like "always [madvise] never".
func chosen(list string) string {
	for _, word := range strings.Fields(list) {
		if strings.HasPrefix(word, "[") && strings.HasSuffix(word, "]") {
			return strings.Trim(word, "[]")
		}
	}
	return ""
}

// kibibytes returns the bytes that a value like "24684100 kB" means, 0 for
// any other text.
func kibibytes(value string) uint64 {
	number, found := strings.CutSuffix(value, " kB")
	n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 64)
	if !found || err != nil || n > math.MaxInt64/1024 {
		return 0
	}
	return n * 1024
}

// size writes bytes for people; none are empty.
func size(bytes uint64) string {
	if bytes == 0 {
		return ""
	}
	return humanize.IBytes(bytes)
}

// onOff translates a switch of the kernel; other text is empty.
func onOff(value string) string {
	return map[string]string{"0": "off", "1": "on"}[value]
}
