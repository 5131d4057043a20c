//go:build unix

package process

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"assay/kit/wire"
)

// pipe makes a named pipe in a folder and returns a function that waits until
// somebody holds it, and one that waits until nobody does any more.
func pipe(t *testing.T, dir, name string) (held, free func()) {
	t.Helper()
	path := filepath.Join(dir, name)
	must(t, syscall.Mkfifo(path, 0o600))
	var reader *os.File
	held = func() {
		var err error
		if reader, err = os.Open(path); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { reader.Close() })
	}
	free = func() {
		if _, err := io.Copy(io.Discard, reader); err != nil {
			t.Error(err)
		}
	}
	return held, free
}

// family starts a worker that has a child, and waits until that runs.
func family(t *testing.T, name string) (w *Worker, childless func()) {
	t.Helper()
	dir := t.TempDir()
	linkSelf(t, filepath.Join(dir, "grandchild"))
	held, free := pipe(t, dir, "alive")
	ready, _ := pipe(t, dir, "ready")
	w = begin(t, name, Options{Dir: dir})
	held()
	ready()
	return w, free
}

// TestGroupEnds: with the worker end its children, however it ends.
func TestGroupEnds(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*Worker) error{
		"killed":       func(w *Worker) error { w.Kill(); return nil },
		"stopped":      func(w *Worker) error { _, err := w.Stop(testContext); return err },
		"end of input": func(w *Worker) error { return w.EndInput() },
		"paused":       func(w *Worker) error { defer w.Kill(); return w.Pause() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, childless := family(t, "family")
			if err := end(w); err != nil {
				t.Error(err)
			}
			childless()
		})
	}
	t.Run("crashed", func(t *testing.T) {
		t.Parallel()
		w, childless := family(t, "broken family")
		if err := w.Call(soon(t), wire.TypeStats, nil, nil); err == nil {
			t.Error("it answered")
		}
		childless()
	})
}

// TestDeserter: a grandchild that left the group and keeps the output open
// keeps nobody waiting.
func TestDeserter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	linkSelf(t, filepath.Join(dir, "leashed"))
	leash := filepath.Join(dir, "leash")
	must(t, syscall.Mkfifo(leash, 0o600))
	w := begin(t, "daemon", Options{Dir: dir})
	writer, err := os.OpenFile(leash, os.O_WRONLY, 0) // the deserter is there
	must(t, err)
	defer writer.Close()
	if closed, err := w.Stop(t.Context()); err != nil || closed.Nanos != 7 {
		t.Errorf("closed %+v, %v", closed, err)
	}
	if w.Alive() {
		t.Error("it lives")
	}
}
