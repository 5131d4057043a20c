//go:build unix

package store

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// A full table of open files says nothing of the location.
func TestOpenWithoutFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assay.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	_, write := Open(t.Context(), path)
	_, read := OpenToRead(t.Context(), path)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{write, read} {
		if !errors.Is(err, syscall.EMFILE) || IsWrongLocation(err) {
			t.Errorf("got %v, wrong location: %v; want %v", err, IsWrongLocation(err), syscall.EMFILE)
		}
	}
}
