package kit

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// A worker reads its input without blocking, and leaves it as it was: the flag belongs
// to the pipe, and a program that reads it next expects a read to block.
func TestInputIsAsBefore(t *testing.T) {
	var ends [2]int
	must(t, syscall.Pipe2(ends[:], syscall.O_CLOEXEC))
	in, requests := os.NewFile(uintptr(ends[0]), "in"), os.NewFile(uintptr(ends[1]), "requests")
	defer in.Close()
	defer requests.Close()
	program, err := os.Executable()
	must(t, err)
	worker := exec.Command(program)
	worker.Env, worker.Stdin, worker.Stderr = append(os.Environ(), asWorker+"=1"), in, os.Stderr
	replies, err := worker.StdoutPipe()
	must(t, err)
	must(t, worker.Start())
	out := bufio.NewReader(replies)
	if _, err := out.ReadString('\n'); err != nil { // its hello: it reads now
		t.Error(err)
	}
	if waits(t, ends[0]) {
		t.Error("the input blocks while the worker reads it, want that it does not")
	}
	_ = requests.Close() // which ends the worker
	_, _ = io.Copy(io.Discard, out)
	must(t, worker.Wait())
	if !waits(t, ends[0]) {
		t.Error("the input does not block after the worker's end, want that it does, as before")
	}
}

// waits reports whether a read of a descriptor waits in the kernel.
func waits(t *testing.T, fd int) bool {
	t.Helper()
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	return flags&syscall.O_NONBLOCK == 0
}
