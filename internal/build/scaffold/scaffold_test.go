package scaffold

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkout is a folder with the library and the examples of this one.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "workers"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lib", "modernc", "apsw", "better-sqlite3", "rusqlite", "redb", "bbolt"} {
		from, err := filepath.Abs(filepath.Join("..", "..", "..", "workers", name))
		if err == nil {
			err = os.Symlink(from, filepath.Join(dir, "workers", name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A new worker has its own name where the example says who it is, and the links to
// the library. That it passes its tests is shown by the test of CONTRIBUTING.md.
func TestWrite(t *testing.T) {
	dir := checkout(t)
	for like, want := range map[string]map[string]string{
		"modernc":         {"go.mod": "module assay/workers/fresh\n", "main.go": `"fresh"`, "main_test.go": "gotest.Conformance"},
		"bbolt":           {"go.mod": "go.etcd.io/bbolt v", "main.go": `"fresh"`},
		Example("python"): {"main.py": `name = "fresh"`, "README.md": "# fresh", "worker": "interpreter", "assay_worker.py": "protocol", "build": "requirements.txt"},
		Example("node"):   {"main.js": `name: "fresh"`, "README.md": "# fresh", "worker": "interpreter", "worker.js": "protocol", "build": "npm $how"},
		Example("rust"):   {"main.rs": "Worker fresh drives", "Cargo.toml": `name = "worker-fresh"`, "Cargo.lock": `name = "worker-fresh"`, "assay.rs": "protocol", "build": "cargo"},
		"redb":            {"main.rs": `CRATE: &'static str = "redb"`, "Cargo.toml": `redb = "=`, "Cargo.lock": "name = \"redb\"\n"},
	} {
		folder, err := Write(dir, "fresh", like)
		if want := filepath.Join(dir, "workers", "fresh"); err != nil || folder != want {
			t.Fatalf("got %s, %v, want %s", folder, err, want)
		}
		for name, part := range want {
			text, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil || !strings.Contains(string(text), part) {
				t.Errorf("%s of a worker like %s is %q, %v; want %q in it", name, like, text, err, part)
			}
		}
		if _, err := os.Stat(filepath.Join(folder, "driver.yaml")); err == nil {
			t.Errorf("a worker like %s has what is known of that driver", like)
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
	}
}

// What is there is never changed.
func TestWriteRefuses(t *testing.T) {
	dir := checkout(t)
	for name, c := range map[string]struct{ name, like, want string }{
		"a worker that is there": {"apsw", "modernc", "file exists"},
		"after none":             {"fresh", "none", "no such file"},
	} {
		if _, err := Write(dir, c.name, c.like); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "workers", "fresh")); err == nil {
		t.Error("a folder is left of a worker that was refused")
	}
}

// A checkout is found from any folder in it.
func TestCheckout(t *testing.T) {
	dir := checkout(t)
	inside := filepath.Join(dir, "docs", "pictures")
	if err := os.MkdirAll(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{dir, inside} {
		if got, err := Checkout(from); err != nil || got != dir {
			t.Errorf("from %s: got %q, %v, want %s", from, got, err, dir)
		}
	}
	if got, err := Checkout(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not in a checkout of assay") {
		t.Errorf("outside: got %q, %v, want an error", got, err)
	}
}
