//go:build unix && !linux

package process

import "os/exec"

// start starts a command. It ends when its standard input does.
func start(command *exec.Cmd) error { return command.Start() }
