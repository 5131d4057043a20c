//go:build unix

package runner

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"assay"
)

// fewFiles leaves this process so many files that it can still open.
func fewFiles(t *testing.T, left int) (more func()) {
	t.Helper()
	var before syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
	low := before
	low.Cur = 100
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low))
	var opened []*os.File
	for {
		file, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		opened = append(opened, file)
	}
	for ; left > 0; left-- {
		opened[len(opened)-1].Close()
		opened = opened[:len(opened)-1]
	}
	return func() {
		for _, file := range opened {
			file.Close()
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	}
}

// Where this process may open no more files, no driver is to blame: the run ends,
// and can be resumed.
func TestTooManyOpenFiles(t *testing.T) {
	b := newBench(t, header+read)
	r, err := Prepare(t.Context(), b.Config)
	must(t, err)
	refused := 0
	for left := range 12 {
		more := fewFiles(t, left)
		in, err := r.start(t.Context(), r.groups[0].members[0], 1, connections{readers: 1, idle: 1})
		more()
		if err == nil {
			in.kill()
			continue
		}
		refused++
		var environment *EnvironmentError
		if !errors.As(err, &environment) || !strings.Contains(err.Error(), "too many open files; raise the limit of open files (ulimit -n)") {
			t.Errorf("with %d files left: got %v, want that the run cannot go on, and what to do", left, err)
		}
	}
	if refused == 0 {
		t.Error("every start had enough files, want some that had not")
	}
}

// Too many clients for the files that a worker may open fail their own cell. Fewer
// clients of the same worker, and other workers, are measured.
func TestTooManyClientsOfAWorker(t *testing.T) {
	b := newBench(t, strings.Replace(header, "second", fewFilesName, 1)+
		strings.Replace(read, "{sql:", "{clients: [1, 64], sql:", 1))
	b.Launches = 1
	b.run(t)
	got := map[string]string{}
	for _, trial := range b.trials {
		cell := fmt.Sprint(trial.Cell.Driver, " ", trial.Cell.Clients)
		if got[cell] = string(trial.Outcome); trial.Outcome != assay.OK {
			got[cell] += " " + trial.Reason
		}
	}
	crowded := fewFilesName + " 64"
	if !strings.HasPrefix(got[crowded], "failed open: connection ") {
		t.Errorf("%s: got %q, want that it failed to open a connection", crowded, got[crowded])
	}
	for _, cell := range []string{fewFilesName + " 1", "honest 1", "honest 64"} {
		if got[cell] != "ok" {
			t.Errorf("%s: got %q, want ok", cell, got[cell])
		}
	}
}

// A worker that may open no more files has that outcome, with what to do.
func TestTooManyOpenFilesOfAWorker(t *testing.T) {
	trial := assay.Trial{Outcome: assay.OK}
	must(t, end(&trial, fail("open", errors.New("unable to open database file: too many open files"))))
	if trial.Outcome != assay.Failed || !strings.Contains(trial.Reason, "raise the limit of open files (ulimit -n)") {
		t.Errorf("got %s (%s), want that it failed, and what to do", trial.Outcome, trial.Reason)
	}
}

// What the environment does ends the run, and is no outcome of a cell: resumed,
// everything is still to be measured.
func TestCacheThatIsGone(t *testing.T) {
	b := newBench(t, header+insert)
	r, err := Prepare(t.Context(), b.Config)
	must(t, err)
	must(t, os.RemoveAll(b.Data.Dir))
	var gone *EnvironmentError
	if err := r.Run(t.Context()); !errors.As(err, &gone) || !strings.Contains(err.Error(), "resume it with --resume") {
		t.Errorf("got %v, want that the run cannot go on and can be resumed", err)
	}
	if len(b.trials) > 0 {
		t.Errorf("cells have an outcome: %+v", b.trials)
	}
}

// A cell that fails because the disk is full has no outcome; the run ends.
func TestDiskThatIsFull(t *testing.T) {
	b := newBench(t, strings.Replace(header, "second", "full", 1)+read)
	r, err := Prepare(t.Context(), b.Config)
	must(t, err)
	var full *EnvironmentError
	if err := r.Run(t.Context()); !errors.As(err, &full) || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("got %v, want that the disk is full", err)
	}
	for _, trial := range b.of("full") {
		t.Errorf("the cell has an outcome: %+v", trial)
	}
}
