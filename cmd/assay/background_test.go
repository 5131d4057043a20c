//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// background is the assay that start started.
type background struct {
	command *exec.Cmd
	ended   chan error
}

// start ARGS... starts assay in a process group of its own, as a shell does.
// Its outputs go to background.out and background.err.
func start(ts *testscript.TestScript, neg bool, args []string) {
	command := command(ts, args...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	command.Stdout, err = os.Create(ts.MkAbs("background.out"))
	ts.Check(err)
	command.Stderr, err = os.Create(ts.MkAbs("background.err"))
	ts.Check(err)
	ts.Check(command.Start())
	b := &background{command, make(chan error, 1)}
	go func() { b.ended <- command.Wait() }()
	ts.Defer(func() { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) })
	stateOf(ts).background = b
}

// gate waits until a worker stands in the window whose number is GATE_AT, and
// keeps its process ID in the variable GATED.
func waitForGate(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 0 && !neg, "gate")
	reached := make(chan string, 1)
	go func() {
		if file, err := os.Open(ts.Getenv("GATE")); err == nil {
			text, _ := bufio.NewReader(file).ReadString('\n')
			file.Close()
			reached <- strings.TrimSpace(text)
		}
	}()
	select {
	case pid := <-reached:
		ts.Setenv("GATED", pid)
	case err := <-stateOf(ts).background.ended:
		ts.Fatalf("assay ended before the gate: %v\n%s", err, ts.ReadFile("background.err"))
	case <-time.After(patience):
		ts.Fatalf("no worker came to the gate\n%s", ts.ReadFile("background.err"))
	}
}

// signal NAME [PID] sends a signal to the background assay, or to a process.
func send(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) > 0 && !neg, "signal NAME [PID]")
	pid := stateOf(ts).background.command.Process.Pid
	if len(args) > 1 {
		var err error
		pid, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}
	ts.Check(syscall.Kill(pid, signals[args[0]]))
}

// finish STATUS waits for the background assay.
func finish(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1 && !neg, "finish STATUS")
	select {
	case err := <-stateOf(ts).background.ended:
		if got := exitStatus(err); got != args[0] {
			ts.Fatalf("exit status %s, want %s\n%s", got, args[0], ts.ReadFile("background.err"))
		}
	case <-time.After(patience):
		ts.Fatalf("assay does not end\n%s", ts.ReadFile("background.err"))
	}
}

// proc is a fake worker that runs.
type proc struct {
	pid   int
	state string // as /proc has it: T is stopped
}

// running finds the fake workers of a script by their environment.
func running(ts *testscript.TestScript) []proc {
	marker := []byte("XDG_CACHE_HOME=" + ts.Getenv("XDG_CACHE_HOME") + "\x00")
	folders, err := filepath.Glob("/proc/[0-9]*")
	ts.Check(err)
	var found []proc
	for _, folder := range folders {
		environment, _ := os.ReadFile(filepath.Join(folder, "environ")) // nothing: not ours, or just ended
		stat, err := os.ReadFile(filepath.Join(folder, "stat"))
		if err != nil || !bytes.Contains(append(environment, 0), marker) {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		if !strings.Contains(string(command), "worker") {
			continue
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		pid, _ := strconv.Atoi(filepath.Base(folder))
		found = append(found, proc{pid, after[:1]})
	}
	return found
}

// workers LEAST demands that so many fake workers are there, and that all but
// one of them are stopped.
func countWorkers(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1 && !neg, "workers LEAST")
	least, err := strconv.Atoi(args[0])
	ts.Check(err)
	// A stopped process stops when it would run next, a moment later.
	all, right := await(ts, func(all []proc) bool {
		awake := 0
		for _, p := range all {
			if p.state != "T" {
				awake++
			}
		}
		return len(all) >= least && awake == 1
	})
	if !right {
		ts.Fatalf("workers %v; want %d or more, one of them awake", all, least)
	}
}

// await looks at the workers until they are as they should be.
func await(ts *testscript.TestScript, right func([]proc) bool) ([]proc, bool) {
	deadline := time.Now().Add(patience)
	for {
		all := running(ts)
		if right(all) {
			return all, true
		}
		if time.Now().After(deadline) {
			return all, false
		}
		time.Sleep(time.Millisecond)
	}
}

// tidy demands that no worker is left and no folder of a run. With processes
// it looks for workers only, which end a moment after an assay that was killed.
func tidy(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) <= 1 && !neg, "tidy [processes]")
	left := running(ts)
	if len(args) == 1 {
		left, _ = await(ts, func(all []proc) bool { return len(all) == 0 })
	}
	if len(left) > 0 {
		ts.Fatalf("workers are left: %v", left)
	}
	folders, err := filepath.Glob(filepath.Join(ts.Getenv("XDG_CACHE_HOME"), "assay", "runs", "run-*"))
	ts.Check(err)
	if len(args) == 0 && len(folders) > 0 {
		ts.Fatalf("folders are left: %v", folders)
	}
}

// tmpfs BYTES DIR mounts a small file system until the script ends.
func tmpfs(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 2 && !neg, "tmpfs BYTES DIR")
	dir := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(ts.Exec("mount", "-t", "tmpfs", "-o", "mode=755,size="+args[0], "tmpfs", dir))
	ts.Defer(func() { _ = exec.Command("umount", "--lazy", dir).Run() })
}
