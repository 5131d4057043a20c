package file

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The go command waits for a FIFO and reads a device to its end: a folder with one is
// refused before it runs.
func TestCheckGo(t *testing.T) {
	module := func(t *testing.T) string {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"app/go.mod":        "module example.test/app\n\ngo 1.26\n\nreplace example.test/lib => ../lib\n",
			"app/a.go":          "package app\n",
			"app/deep/b.go":     "package deep\n",
			"app/testdata/x":    "",
			"app/.git/x":        "",
			"lib/go.mod":        "module example.test/lib\n\nreplace example.test/app => ../app\n",
			"work/go.work":      "go 1.26\n\nuse ./one\n\nuse ../lib\n",
			"work/one/go.mod":   "module example.test/one\n",
			"outside/c.go":      "package c\n",
			"outside/broken.go": "",
		} {
			path := filepath.Join(dir, name)
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must(t, os.WriteFile(path, []byte(text), 0o644))
		}
		return dir
	}
	for _, c := range []struct {
		from, odd string
		refused   bool
	}{
		{"app", "app/x.go", true},
		{"app/deep", "app/x.s", true},
		{"app", "app/deep/x_test.go", true},
		{"app", "app/go.mod", true},
		{"app", "app/go.sum", true},
		{"app", "app/vendor/modules.txt", true},
		{"app", "lib/x.h", true},
		{"work/one", "work/go.work", true},
		{"work/one", "lib/deep/x.go", true},
		{"app", "app/x.txt", false},
		{"app", "app/control", false},
		{"app", "app/testdata/x.go", false},
		{"app", "app/.git/x.go", false},
		{"app", "outside/x.go", false},
		{"outside", "outside/x.go", false}, // it is no module: nothing is read
	} {
		for kind, place := range map[string]func(path string) error{
			"FIFO":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"device": func(path string) error { return os.Symlink("/dev/zero", path) },
			"folder": func(path string) error { return os.Mkdir(path, 0o700) },
			"link":   func(path string) error { return os.Symlink("nowhere", path) },
		} {
			dir := module(t)
			odd := filepath.Join(dir, c.odd)
			must(t, os.MkdirAll(filepath.Dir(odd), 0o755))
			must(t, os.RemoveAll(odd))
			must(t, place(odd))
			want := c.refused && (kind == "FIFO" || kind == "device")
			err := CheckGo(filepath.Join(dir, c.from))
			if (err != nil) != want || want && !strings.Contains(err.Error(), "is not a regular file") {
				t.Errorf("%s from %s, a %s: got %v, want an error: %v", c.odd, c.from, kind, err, want)
			}
		}
	}
}

// Links hide nothing of a module, and spell no folder that is read again.
func TestCheckGoOfLinks(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	must(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "real/go.mod"), []byte("module m.test\n\nreplace (\n\ta.test => ./l1\n\tb.test => ./l2\n)\n"), 0o600))
	for link, to := range map[string]string{"root": "real", "real/l1": ".", "real/l2": "."} {
		must(t, os.Symlink(to, filepath.Join(dir, link)))
	}
	must(t, CheckGo(root))
	must(t, syscall.Mkfifo(filepath.Join(dir, "real/x.go"), 0o600))
	if err := CheckGo(root); err == nil {
		t.Error("got no error of a FIFO behind a link to the module")
	}
}

// So is a folder with a file that the go command would take all memory for.
func TestCheckGoSizes(t *testing.T) {
	for name, c := range map[string]struct {
		size    int64
		refused bool
	}{"go.mod": {MaxModule + 1, true}, "go.work": {10 << 30, true}, "x.go": {10 << 30, true}, "go.sum": {10 << 30, true}, "y.go": {1 << 20, false}, "x.txt": {10 << 30, false}} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.test/app\n"), 0o600))
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		must(t, os.Truncate(filepath.Join(dir, name), c.size))
		if err := CheckGo(dir); (err != nil) != c.refused || c.refused && !strings.Contains(err.Error(), "which is the most that is read") {
			t.Errorf("%s of %d bytes: got %v, want an error: %v", name, c.size, err, c.refused)
		}
	}
}
