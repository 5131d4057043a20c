package crash

import (
	"cmp"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"assay"
)

// Missing says what this machine lacks for a fault, of a disk with a file system,
// and what to do about it; empty where it can be done.
func Missing(fault assay.Fault, fs assay.FileSystem) string {
	switch {
	case fault == assay.Kill:
		return ""
	case fault == assay.FileCut:
		return cmp.Or(missingFUSE(), missingMount(os.Geteuid() == 0 || ownNamespace()))
	}
	known, _ := os.ReadFile("/proc/filesystems") // else its module is looked for
	return cmp.Or(missingDisk(), missingFileSystem(fs, string(known)))
}

// missingDisk says what is missing to serve a disk and to mount what lies on it.
func missingDisk() string {
	if os.Geteuid() != 0 {
		return "it takes root: run it with sudo, or in a container with --privileged"
	}
	if missing := missingFUSE(); missing != "" {
		return missing
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		return "it takes loop devices (" + err.Error() + "): load the module loop, or start the container with --privileged"
	}
	for program, install := range map[string]string{"mount": "mount", "umount": "mount", "nsenter": "util-linux"} {
		if _, err := exec.LookPath(program); err != nil {
			return "it takes " + program + ": apt-get install " + install
		}
	}
	return ""
}

func missingFUSE() string {
	file, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return "it takes /dev/fuse (" + err.Error() + "): load the module fuse, or start the container with --privileged"
	}
	_ = file.Close()
	return ""
}

// missingMount says what is missing to mount FUSE, where one is root of its own
// mounts or not.
func missingMount(root bool) string {
	if root {
		return ""
	}
	if _, err := exec.LookPath("fusermount3"); err != nil {
		return "it takes fusermount3, since this system gives users no mount namespace: apt-get install fuse3"
	}
	return ""
}

// ownNamespace reports whether an ordinary user gets a mount namespace.
var ownNamespace = sync.OnceValue(func() bool {
	command := exec.Command("true")
	command.SysProcAttr = userNamespace()
	return command.Run() == nil
})

// userNamespace are the attributes of a process that is root of its own mounts
// and of nothing else.
func userNamespace() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}}
}

// apart are the attributes of a process with a mount namespace, where the system
// allows one, and a process group of its own.
func apart() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{}
	switch {
	case os.Geteuid() == 0:
		attributes.Unshareflags = syscall.CLONE_NEWNS
	case ownNamespace():
		attributes = userNamespace()
	}
	attributes.Setpgid = true
	return attributes
}
