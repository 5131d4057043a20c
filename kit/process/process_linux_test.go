package process

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOrphanDies: a worker ends with the process that started it, even when
// that is killed while the worker is stopped.
func TestOrphanDies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	linkSelf(t, filepath.Join(dir, "parent"))
	linkSelf(t, filepath.Join(dir, "holder"))
	held, free := pipe(t, dir, "alive")
	parent := exec.Command(filepath.Join(dir, "parent"))
	parent.Dir = dir
	parent.Stderr = os.Stderr
	out, err := parent.StdoutPipe()
	if err == nil {
		err = parent.Start()
	}
	must(t, err)
	held()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the parent said %q, %v", line, err)
	}
	must(t, parent.Process.Kill())
	free()
	if err := parent.Wait(); err == nil {
		t.Error("the parent was not killed")
	}
}

// TestPauseStops: the kernel says that the process is stopped.
func TestPauseStops(t *testing.T) {
	t.Parallel()
	w := begin(t, "honest", Options{})
	must(t, w.Pause())
	for state := byte(0); state != 'T'; { // the signal takes its time
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.PID()))
		must(t, err)
		_, rest, _ := bytes.Cut(stat, []byte(") "))
		state = rest[0]
	}
	must(t, w.Resume(t.Context()))
}

// TestPanicWhileStarting: a fault on the thread that starts commands reaches the
// one that wants to start one, and the thread goes on.
func TestPanicWhileStarting(t *testing.T) {
	fault := caught(func() { _ = StartOn(exec.Command("true"), []int{1 << 20}) })
	if known, ok := fault.Value.(*Panic); !ok || !strings.Contains(string(known.Stack()), "launch.start") {
		t.Errorf("got %v, want the panic of the other goroutine with its stack", fault)
	}
	command := exec.Command("true")
	must(t, Launch(command))
	if err := command.Wait(); err != nil {
		t.Errorf("the next command: %v", err)
	}
}

// TestStartOn: a command runs on its processors only, and what starts after it
// on all again.
func TestStartOn(t *testing.T) {
	all := CPUs()
	if len(all) == 0 {
		t.Fatal("no processors")
	}
	allowed := func(cpus []int) string {
		t.Helper()
		command := exec.Command("grep", "Cpus_allowed_list", "/proc/self/status")
		var out bytes.Buffer
		command.Stdout = &out
		must(t, StartOn(command, cpus))
		must(t, command.Wait())
		return out.String()
	}
	before := allowed(nil)
	last := all[len(all)-1]
	if got, want := allowed([]int{last}), fmt.Sprintf("Cpus_allowed_list:\t%d\n", last); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := allowed(nil); got != before {
		t.Errorf("afterwards %q, before %q", got, before)
	}
	if err := StartOn(exec.Command("true"), []int{1000}); err == nil {
		t.Error("a processor that is not there is taken")
	}
}
