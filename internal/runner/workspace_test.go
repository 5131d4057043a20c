//go:build unix

package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func workspace(t *testing.T, dir, id string) *Workspace {
	t.Helper()
	w, err := NewWorkspace(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
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
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "run-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	own := workspace(t, dir, "own")
	same(t, "folders", entries(t, dir), []string{"mine", "run-file", "run-own", "run-used"})
	if _, err := own.folder(); err != nil {
		t.Error(err)
	}
	if err := own.Close(); err != nil {
		t.Error(err)
	}
	if err := used.Close(); err != nil {
		t.Error(err)
	}
	same(t, "folders after both", entries(t, dir), []string{"mine", "run-file"})
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
	_ = first.lock.Close() // as when the process is killed
	again := workspace(t, dir, "x")
	defer again.Close()
	same(t, "the folder", entries(t, again.Dir), []string{"lock"})
}

func TestWorkspaceThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewWorkspace(file, "x"); err == nil || !strings.Contains(err.Error(), "folder for databases") {
		t.Errorf("below a file: %v", err)
	}
}
