package process

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"
)

// Launch is StartOn on all processors.
func Launch(command *exec.Cmd) error { return StartOn(command, nil) }

// StartOn starts a command that the kernel ends when this process ends, even
// when it is killed itself and the command is stopped at that moment: by the
// command's Pdeathsig, or else by SIGKILL. The
// kernel watches the thread that started the command, not the process
// (prctl(2), PR_SET_PDEATHSIG), so that all are started from one thread that
// never ends. It runs on these processors only; none: wherever it may.
func StartOn(command *exec.Cmd, cpus []int) error {
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	if command.SysProcAttr.Pdeathsig == 0 {
		command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	request := launch{command, cpus, make(chan started)}
	launches <- request
	done := <-request.done
	if done.fault != nil {
		panic(done.fault)
	}
	return done.err
}

type launch struct {
	command *exec.Cmd
	cpus    []int
	done    chan started
}

// started is what became of a launch.
type started struct {
	err   error
	fault *Panic
}

var launches = make(chan launch)

func init() {
	go func() {
		runtime.LockOSThread()
		for request := range launches {
			var done started
			done.fault = caught(func() { done.err = request.start() })
			request.done <- done
		}
	}()
}

// start starts the command. A program has the processors of the thread that
// started it, before its runtime counts them.
func (l launch) start() error {
	if len(l.cpus) == 0 {
		return l.command.Start()
	}
	before, err := affinity()
	if err != nil {
		return err
	}
	var only mask
	for _, cpu := range l.cpus {
		only[cpu/64] |= 1 << (cpu % 64)
	}
	if err := setAffinity(only); err != nil {
		return err
	}
	return errors.Join(l.command.Start(), setAffinity(before))
}

// mask has a bit for each processor.
type mask [16]uint64

func affinity() (mask, error) {
	var m mask
	_, _, failed := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(m), uintptr(unsafe.Pointer(&m)))
	if failed != 0 {
		return m, fmt.Errorf("sched_getaffinity: %w", failed)
	}
	return m, nil
}

func setAffinity(m mask) error {
	_, _, failed := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(m), uintptr(unsafe.Pointer(&m)))
	if failed != 0 {
		return fmt.Errorf("sched_setaffinity: %w", failed)
	}
	return nil
}

// CPUs returns the processors that this process may use, by their numbers;
// none where the system does not tell, or has too many of them.
func CPUs() []int {
	m, err := affinity()
	if err != nil {
		return nil
	}
	var cpus []int
	for cpu := range 64 * len(m) {
		if m[cpu/64]&(1<<(cpu%64)) != 0 {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}
