//go:build unix && !linux

package process

import "os/exec"

// Launch starts a command. It is not ended with this process; a worker ends
// when its standard input does.
func Launch(command *exec.Cmd) error { return command.Start() }
