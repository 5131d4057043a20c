package crash

import (
	"cmp"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"

	"assay"
)

// Missing says what this machine lacks for a fault, of a disk with a file system,
// and what to do about it; empty where it can be done.
func Missing(fault assay.Fault, fs assay.FileSystem) string {
	switch {
	case about(fault).level == processLevel:
		return ""
	case fs == assay.Tmpfs && fault == assay.FullDisk:
		return missingTmpfs(rootMounts() || ownNamespace())
	case about(fault).level == fileLevel:
		return cmp.Or(missingFUSE(), missingMount(rootMounts() || ownNamespace(), os.Geteuid() == 0))
	}
	known, _ := os.ReadFile("/proc/filesystems") // else its module is looked for
	return cmp.Or(missingDisk(), missingExt4(string(known)))
}

// missingExt4 says what there is not to make and mount an ext4 file system, where the kernel
// lists those that it knows as /proc/filesystems does; empty: nothing.
func missingExt4(known string) string {
	if _, err := exec.LookPath(makeExt4[0]); err != nil {
		return "it needs " + makeExt4[0] + ": apt-get install e2fsprogs"
	}
	if !slices.Contains(strings.Fields(known), string(assay.Ext4)) && exec.Command("modprobe", "-q", "-n", string(assay.Ext4)).Run() != nil {
		return "it needs a kernel with " + string(assay.Ext4)
	}
	return ""
}

// available is the file system that a fault is done to here: ext4, or to fill a disk where
// there is none, one in memory.
func available(fault assay.Fault) assay.FileSystem {
	if fault == assay.FullDisk && Missing(fault, assay.Ext4) != "" && Missing(fault, assay.Tmpfs) == "" {
		return assay.Tmpfs
	}
	return assay.Ext4
}

// missingDisk says what is missing to serve a disk and to mount what lies on it.
func missingDisk() string {
	if !rootMounts() {
		return "it needs root: run it with sudo, or in a container with --privileged"
	}
	if missing := missingFUSE(); missing != "" {
		return missing
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		return "it needs loop devices (" + err.Error() + "): load the module loop, or start the container with --privileged"
	}
	for program, install := range map[string]string{"mount": "mount", "umount": "mount", "nsenter": "util-linux"} {
		if _, err := exec.LookPath(program); err != nil {
			return "it needs " + program + ": apt-get install " + install
		}
	}
	return ""
}

// missingTmpfs says what is missing to mount a file system in memory, where one may
// mount or not.
func missingTmpfs(own bool) string {
	if own {
		return ""
	}
	return "it needs a disk, or a mount namespace of the user's own, which this system does not give: run it with sudo, or in a container with --privileged"
}

func missingFUSE() string {
	file, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return "it needs /dev/fuse (" + err.Error() + "): load the module fuse, or start the container with --privileged"
	}
	_ = file.Close()
	return ""
}

// missingMount says what is missing to mount FUSE, where one has mounts of one's
// own or not.
func missingMount(own, root bool) string {
	if own {
		return ""
	}
	if root { // of a container: its fusermount3 may not mount either
		return "it needs the right to mount: start the container with --privileged"
	}
	if _, err := exec.LookPath("fusermount3"); err != nil {
		return "it needs fusermount3, since this system gives users no mount namespace: apt-get install fuse3"
	}
	return ""
}

// rootMounts reports whether this process is root and may mount, as root of a
// container may not.
var rootMounts = sync.OnceValue(func() bool { return os.Geteuid() == 0 && starts(rootNamespace()) })

// ownNamespace reports whether an ordinary user gets a mount namespace.
var ownNamespace = sync.OnceValue(func() bool { return starts(userNamespace()) })

// starts reports whether a process with some attributes can be started.
func starts(attributes *syscall.SysProcAttr) bool {
	command := exec.Command("true")
	command.SysProcAttr = attributes
	return command.Run() == nil
}

// rootNamespace are the attributes of a process with a mount namespace that root
// makes.
func rootNamespace() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
}

// userNamespace are the attributes of a process that is root of its own mounts
// and of nothing else.
func userNamespace() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}}
}

// namespaceAttributes are the attributes of a process with a mount namespace, where the system
// allows one, and a process group of its own.
func namespaceAttributes() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{}
	switch {
	case rootMounts():
		attributes = rootNamespace()
	case ownNamespace():
		attributes = userNamespace()
	}
	attributes.Setpgid = true
	return attributes
}
