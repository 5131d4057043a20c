package crash

import (
	"os"
	"os/exec"
	"sync"
	"syscall"

	"assay"
)

// Missing says what this machine lacks for a fault, and what to do about it;
// empty where it can be done.
func Missing(fault assay.Fault) string {
	switch {
	case fault == assay.Kill:
		return ""
	case fault != assay.FileCut && os.Geteuid() != 0:
		return "it takes root: run it with sudo, or in a container with --privileged"
	}
	file, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return "it takes /dev/fuse (" + err.Error() + "): load the module fuse, or start the container with --privileged"
	}
	_ = file.Close()
	if fault == assay.FileCut {
		return missingMount()
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		return "it takes loop devices (" + err.Error() + "): load the module loop, or start the container with --privileged"
	}
	for program, install := range map[string]string{"mount": "mount", "umount": "mount", "nsenter": "util-linux", "mkfs.ext4": "e2fsprogs"} {
		if _, err := exec.LookPath(program); err != nil {
			return "it takes " + program + ": apt-get install " + install
		}
	}
	return ""
}

// missingMount says what is missing to mount FUSE.
func missingMount() string {
	if os.Geteuid() == 0 || ownNamespace() {
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
