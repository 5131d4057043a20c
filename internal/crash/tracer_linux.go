package crash

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"

	"assay/internal/crash/powercut"
)

// tracer is strace, which records the system calls of a worker, or kills it at
// one.
type tracer struct {
	path    string
	missing string // why it cannot be used here, and what that takes; empty: it can
}

// strace is tried once in a process: that it is installed does not say that it may
// trace, or that it has all options.
var strace = sync.OnceValue(func() tracer { return findTracer(context.Background()) })

func findTracer(ctx context.Context) tracer {
	path, err := exec.LookPath("strace")
	if err != nil {
		return tracer{missing: "strace is not installed: apt-get install strace"}
	}
	t := tracer{path: path}
	recording, killing := append(t.recording(os.DevNull), "true"), append(t.killing("exit_group", 1), "true")
	err = program(ctx, recording[0], recording[1:]...)
	if err == nil {
		err = program(ctx, killing[0], killing[1:]...)
		switch ended := (*exec.ExitError)(nil); {
		case err == nil:
			err = errors.New("it killed no process at a system call")
		case errors.As(err, &ended) && ended.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
			err = nil
		}
	}
	if err != nil {
		t.missing = fmt.Sprintf("strace does not work here (%s): allow it to trace; a container needs --cap-add SYS_PTRACE", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return t
}

// recording is the program with arguments that runs a worker and writes its
// calls on files to a file.
func (t tracer) recording(output string) []string {
	return []string{t.path, "-f", "-qq", "-y", "--seccomp-bpf", "-s", "4096", "-e", "signal=none", "-e", "trace=?" + strings.Join(powercut.TracedCalls, ",?"), "-o", output, "--"}
}

// counting is the program with arguments that runs a worker and writes some of
// its calls to a file.
func (t tracer) counting(output string) []string {
	return []string{t.path, "-f", "-qq", "--seccomp-bpf", "-s", "0", "-e", "signal=none", "-e", "trace=?" + strings.Join(killingCalls, ",?"), "-o", output, "--"}
}

// killing is the program with arguments that runs a worker and kills it before a
// system call of a number, which each thread counts on its own. Without
// --seccomp-bpf: with it the kernel sends no signal before a call.
func (t tracer) killing(call string, number int) []string {
	return []string{t.path, "-f", "-o", os.DevNull, "-e", "trace=?" + call, "-e", fmt.Sprintf("inject=?%s:signal=KILL:when=%d", call, number), "--"}
}

// killingCalls are those that a worker is killed at: by one of them data reaches a
// file or the disk.
var killingCalls = []string{"fsync", "fdatasync", "msync", "pwrite64", "write", "ftruncate", "unlink", "unlinkat", "rename", "renameat", "renameat2", "sync_file_range"}

// callCount is how often a thread makes a system call, at most.
type callCount struct {
	call  string
	count int
}

// countCalls reads what counting wrote, and returns the calls by name.
func countCalls(traced string) []callCount {
	byThread, most := map[string]int{}, map[string]int{}
	for line := range strings.Lines(traced) {
		thread, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		call, _, begins := strings.Cut(strings.TrimSpace(rest), "(")
		if !begins || !slices.Contains(killingCalls, call) { // the end of a call that was noted before, or of a thread
			continue
		}
		id := thread + " " + call
		byThread[id]++
		most[call] = max(most[call], byThread[id])
	}
	var all []callCount
	for _, call := range slices.Sorted(maps.Keys(most)) {
		all = append(all, callCount{call, most[call]})
	}
	return all
}
