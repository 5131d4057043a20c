package child

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A test that starts this program again has it run the command that it names here.
func TestMain(m *testing.M) {
	if script := os.Getenv("CHILD_SCRIPT"); script != "" {
		_ = Run(exec.CommandContext(context.Background(), "sh", "-c", script))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// numbers waits for the process numbers that a script writes to a file.
func numbers(t *testing.T, file string, n int) (pids []int) {
	t.Helper()
	for len(pids) < n {
		if t.Context().Err() != nil {
			t.Fatal("the script wrote no process numbers")
		}
		time.Sleep(5 * time.Millisecond)
		text, _ := os.ReadFile(file)
		pids = nil
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// waitGone waits until no process of a number is left; one that waits to be reaped is none.
func waitGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		for t.Context().Err() == nil && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && strings.Contains(string(stat), ") Z ") {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

func TestGroupEndsWithTheContext(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- Run(exec.CommandContext(ctx, "sh", "-c", "sleep 1000 & echo $! $$ >"+file+"; wait"))
	}()
	pids := numbers(t, file, 2)
	cancel()
	if err := <-done; err == nil {
		t.Error("a command that was killed is no error")
	}
	waitGone(t, pids)
}

func TestChildEndsWithThisProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends it")
	}
	file := filepath.Join(t.TempDir(), "pids")
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "CHILD_SCRIPT=echo $$ >"+file+"; exec sleep 1000")
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	pids := numbers(t, file, 1)
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	waitGone(t, pids)
}
