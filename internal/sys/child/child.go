// Package child runs commands that end with this process.
package child

import (
	"os/exec"
	"syscall"
	"time"

	"assay/kit/process"
)

// Run runs a command that was made with a context, in a process group of its own. When the
// context ends, the whole group is killed. When this process is killed, the kernel ends the
// command, where it can.
func Run(command *exec.Cmd) error {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = 5 * time.Second // where something outlives the group and holds the pipes
	if err := process.Launch(command); err != nil {
		return err
	}
	return command.Wait()
}
