package process

import (
	"os/exec"
	"runtime"
	"syscall"
)

// start starts a command that the kernel kills when this process ends, even
// when it is killed itself and the command is stopped at that moment. The
// kernel watches the thread that started the command, not the process
// (prctl(2), PR_SET_PDEATHSIG), so that all are started from one thread that
// never ends.
func start(command *exec.Cmd) error {
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL
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
