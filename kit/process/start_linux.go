package process

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Launch starts a command that the kernel ends when this process ends, even
// when it is killed itself and the command is stopped at that moment: by the
// command's Pdeathsig, or else by SIGKILL. The
// kernel watches the thread that started the command, not the process
// (prctl(2), PR_SET_PDEATHSIG), so that all are started from one thread that
// never ends.
func Launch(command *exec.Cmd) error {
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	if command.SysProcAttr.Pdeathsig == 0 {
		command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	request := launch{command, make(chan error)}
	launches <- request
	return <-request.done
}

type launch struct {
	command *exec.Cmd
	done    chan error
}

var launches = make(chan launch)

func init() {
	go func() {
		runtime.LockOSThread()
		for request := range launches {
			request.done <- request.command.Start()
		}
	}()
}
