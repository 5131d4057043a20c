package file

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSame(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	must(t, os.WriteFile("there", nil, 0o644))
	must(t, os.WriteFile("other", nil, 0o644))
	must(t, os.Mkdir("folder", 0o755))
	must(t, os.Link("there", "hard"))
	for link, target := range map[string]string{"link": "there", "near": "folder", "ahead": "missing", "further": "ahead", "loop": "loop"} {
		must(t, os.Symlink(target, link))
	}
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"there", "./folder/../there", true},
		{"there", filepath.Join(dir, "there"), true},
		{"there", "link", true},
		{"there", "hard", true},
		{"there", "other", false},
		{"there", "missing", false},
		{"missing", "./missing", true},
		{"missing", filepath.Join(dir, "missing"), true},
		{"missing", "ahead", true},
		{"missing", "further", true},
		{"near/missing", "folder/missing", true},
		{"missing", "folder/missing", false},
		{"loop", "missing", false},
	} {
		if got := Same(test.a, test.b); got != test.want {
			t.Errorf("Same(%q, %q): got %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

// SQLite names the files beside a database after the database itself, and not after a link
// to it.
func TestOfDatabase(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.WriteFile("real.db", nil, 0o644))
	must(t, os.Symlink("real.db", "link.db"))
	for _, name := range []string{"real.db", "link.db", "real.db-wal", "real.db-shm", "real.db-journal"} {
		if !slices.ContainsFunc(OfDatabase("link.db"), func(path string) bool { return Same(path, name) }) {
			t.Errorf("%s: got %q, want it among them", name, OfDatabase("link.db"))
		}
	}
}
