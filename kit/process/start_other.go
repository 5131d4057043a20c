//go:build unix && !linux

package process

import "os/exec"

// Launch starts a command. It is not ended with this process; a worker ends
// when its standard input does.
func Launch(command *exec.Cmd) error { return command.Start() }

// StartOn is Launch: on which processors a command runs cannot be said here.
func StartOn(command *exec.Cmd, _ []int) error { return command.Start() }

// CPUs would return the processors that this process may use.
func CPUs() []int { return nil }
