package hostlock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// All users of a machine can take turns by the file that the first one made; nobody is led
// elsewhere by a link of its name.
func TestLockFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	before := syscall.Umask(0o077)
	file, err := openLock(path)
	syscall.Umask(before)
	must(t, err)
	info, err := file.Stat()
	must(t, err)
	must(t, file.Close())
	if got := info.Mode().Perm(); got != 0o666 {
		t.Errorf("got the mode %o, want 666", got)
	}
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(path, link))
	if file, err := openLock(link); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("got %v, %v; want that a link is not followed", file, err)
	}
	fifo := filepath.Join(t.TempDir(), "fifo")
	must(t, syscall.Mkfifo(fifo, 0o666))
	if file, err := openLock(fifo); err == nil {
		t.Errorf("got %v; want that a FIFO is refused", file)
	}
}

// rounds is a context that ends when it was asked so often.
type rounds struct {
	context.Context
	end  func()
	left int
}

func (r *rounds) Done() <-chan struct{} {
	if r.left--; r.left == 0 {
		r.end()
	}
	return r.Context.Done()
}

// Who waits for its turn says so once, and stops waiting at the end of its context.
func TestWaitsForItsTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Take(t.Context(), path, func() { t.Error("the first one waits") })
	must(t, err)
	ctx, end := context.WithCancel(t.Context())
	told := 0
	if turn, err := Take(&rounds{ctx, end, 3}, path, func() { told++ }); !errors.Is(err, context.Canceled) || told != 1 {
		t.Errorf("got %v, %v, told %d times; want the end of its context, told once", turn, err, told)
	}
	must(t, first.Close())
	second, err := Take(t.Context(), path, func() { t.Error("the turn has ended, and the next one waits") })
	must(t, err)
	must(t, second.Close())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
