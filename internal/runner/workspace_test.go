//go:build unix

package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func workspace(t *testing.T, dir, id string) *Workspace {
	t.Helper()
	w, err := NewWorkspace(dir, id)
	must(t, err)
	return w
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	all, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, entry := range all {
		names = append(names, entry.Name())
	}
	return names
}

// What a killed run left behind goes when the next one starts; what another
// run uses stays, and so does what is none of ours.
func TestSweep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there")
	used := workspace(t, dir, "used")
	for _, path := range []string{"run-killed/instance-1/data.db", "run-empty/lock", "mine/data.db"} {
		must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, path), []byte("x"), 0o600))
	}
	must(t, os.WriteFile(filepath.Join(dir, "run-file"), nil, 0o600))
	own := workspace(t, dir, "own")
	same(t, "folders", entries(t, dir), []string{"mine", "run-file", "run-own", "run-used", "sweeping.lock"})
	if _, err := own.folder(); err != nil {
		t.Error(err)
	}
	must(t, own.Close())
	must(t, used.Close())
	same(t, "folders after both", entries(t, dir), []string{"mine", "run-file", "sweeping.lock"})
}

// A resumed run has its folder again, empty, unless it is going on.
func TestWorkspaceOfOneRunTwice(t *testing.T) {
	dir := t.TempDir()
	first := workspace(t, dir, "x")
	if _, err := NewWorkspace(dir, "x"); err == nil || !strings.Contains(err.Error(), "run-x is in use by another assay") {
		t.Errorf("a second workspace of the same run: %v", err)
	}
	if _, err := first.folder(); err != nil {
		t.Fatal(err)
	}
	must(t, first.Close())
	again := workspace(t, dir, "x")
	defer again.Close()
	same(t, "the folder", entries(t, again.Dir), []string{"lock"})
}

func TestWorkspaceThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	if _, err := NewWorkspace(file, "x"); err == nil || !strings.Contains(err.Error(), "folder for databases") {
		t.Errorf("below a file: %v", err)
	}
}

// Only one run at a time measures on a machine, whatever its cache folder is, and in a cache
// folder where there is no lock of the machine; the next one says that it waits, and goes on
// when the first has ended.
func TestTurns(t *testing.T) {
	shared, elsewhere, lock := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "lock")
	for name, c := range map[string]struct{ lock, dir string }{
		"one machine, two cache folders": {lock, elsewhere},
		"one cache folder":               {"", shared},
		"no lock can be made":            {filepath.Join(shared, "none", "lock"), shared},
	} {
		open := func(dir, id string, waiting func(Event)) *Runner {
			return &Runner{config: Config{Machine: Machine{Work: openWorkspace(t, dir, id), HostLock: c.lock, Progress: waiting}}}
		}
		first := open(shared, "20261120-153000-0001", func(Event) { t.Errorf("%s: the first one waits", name) })
		turn, err := first.takeTurn(t.Context())
		must(t, err)
		cancelled, cancel := context.WithCancel(t.Context())
		second := open(c.dir, "20261120-153000-0002", func(Event) { cancel() })
		if _, err := second.takeTurn(cancelled); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: while another measures, a cancelled run gets %v, want that it was cancelled", name, err)
		}
		waited := false
		second.config.Progress = func(e Event) {
			waited = waited || e.Phase == Waiting
			if err := turn.Close(); err != nil {
				t.Error(err)
			}
		}
		next, err := second.takeTurn(t.Context())
		if err != nil || !waited {
			t.Fatalf("%s: waited: %v, error %v; want that it waits until the first one ends", name, waited, err)
		}
		must(t, errors.Join(next.Close(), first.config.Work.Close(), second.config.Work.Close()))
	}
}

func openWorkspace(t *testing.T, dir, id string) *Workspace {
	t.Helper()
	w, err := NewWorkspace(dir, id)
	must(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// A workspace that is gone, or of which nothing can be written, is no fault of
// a cell.
func TestWorkspaceCheck(t *testing.T) {
	w := openWorkspace(t, t.TempDir(), "20261120-153000-0001")
	if err := w.check(); err != nil {
		t.Errorf("check: %v", err)
	}
	must(t, os.RemoveAll(w.Dir))
	if err := w.check(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("check of a folder that is gone: %v, want that it does not exist", err)
	}
}
