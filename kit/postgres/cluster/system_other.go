//go:build unix && !linux

package cluster

import (
	"os/exec"
	"syscall"
)

func enter(*syscall.SysProcAttr) {}

func killWithParent(*exec.Cmd) {}

// processes and usage are not told by this system.
func processes(string) []int { return nil }

func usage(int) Usage { return Usage{} }

// sharedFiles and removeSegment are Linux's: here what a killed server leaves of
// shared memory stays until the system is started again.
func sharedFiles(int) []string { return nil }

func removeSegment(int) {}

// flush writes all that is in memory of files to the disk.
func flush() error { return syscall.Sync() }
