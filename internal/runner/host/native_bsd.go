//go:build darwin || freebsd

package host

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// addNative adds what the system tells without files.
func addNative(facts map[string]string, dir string) {
	names := map[string]string{"cpu": "machdep.cpu.brand_string", "memory": "hw.memsize"}
	if runtime.GOOS == "freebsd" {
		names = map[string]string{"cpu": "hw.model", "memory": "hw.physmem"}
	}
	if model, err := unix.Sysctl(names["cpu"]); err == nil {
		put(facts, "cpu", model)
	}
	if memory, err := unix.SysctlUint64(names["memory"]); err == nil {
		put(facts, "memory", size(memory))
	}
	if release, err := unix.Sysctl("kern.osrelease"); err == nil {
		put(facts, "kernel", release)
	}
	put(facts, "disk-free", diskFree(dir))
	var s unix.Statfs_t
	if dir != "" && unix.Statfs(dir, &s) == nil {
		put(facts, "filesystem", unix.ByteSliceToString(s.Fstypename[:]))
	}
}
