package crash

import (
	"os"
	"os/exec"
	"syscall"

	"assay"
)

// Missing says what this machine lacks for a fault, and what to do about it;
// empty where it can be done.
func Missing(fault assay.Fault) string {
	if fault == assay.Kill {
		return ""
	}
	if os.Geteuid() != 0 {
		return "it takes root: run it with sudo, or in a container with --privileged"
	}
	file, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return "it takes /dev/fuse (" + err.Error() + "): load the module fuse, or start the container with --privileged"
	}
	_ = file.Close()
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

// apart are the attributes of a process with a mount namespace and a process
// group of its own.
func apart() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		attributes.Unshareflags = syscall.CLONE_NEWNS
	}
	return attributes
}
