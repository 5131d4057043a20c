package file

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

func TestWriteRegular(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.txt")
	must(t, Write(path, []byte("one")))
	info, err := os.Stat(path)
	must(t, err)
	if got := info.Mode().Perm() &^ 0o644; got != 0 {
		t.Errorf("mode of a new file: got %v, want at most 0644", info.Mode())
	}
	must(t, os.Chmod(path, 0o600))
	must(t, Write(path, []byte("two")))
	if got := read(t, path); got != "two" {
		t.Errorf("content: got %q, want two", got)
	}
	if info, err = os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of a replaced file: got %v, %v, want 0600 as before", info.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("files left: got %v, want report.txt only", entries)
	}
}

// Links that somebody planted under names that a temporary file might have
// lead nowhere.
func TestWriteFollowsNoPlantedLink(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	must(t, os.WriteFile(victim, []byte("mine"), 0o644))
	path := filepath.Join(dir, "report.txt")
	for _, name := range []string{"report.txt.part", "report.txt.tmp", ".report.txt"} {
		must(t, os.Symlink(victim, filepath.Join(dir, name)))
	}
	must(t, Write(path, []byte("new")))
	if got := read(t, victim); got != "mine" {
		t.Errorf("the target of a planted link: got %q, want it untouched", got)
	}
}

func TestWriteThroughLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	must(t, os.WriteFile(target, []byte("a longer text"), 0o644))
	must(t, os.Symlink("target", link))
	must(t, Write(link, []byte("new")))
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link: got %v, %v, want it to stay a link", info.Mode(), err)
	}
	if got := read(t, target); got != "new" {
		t.Errorf("the link's target: got %q, want new", got)
	}
}

func TestWriteToFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	must(t, syscall.Mkfifo(path, 0o600))
	got := make(chan string, 1)
	go func() {
		data, _ := os.ReadFile(path)
		got <- string(data)
	}()
	must(t, Write(path, []byte("through")))
	if text := <-got; text != "through" {
		t.Errorf("read from the FIFO: got %q, want through", text)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		t.Errorf("the FIFO: got %v, %v, want it to stay a FIFO", info.Mode(), err)
	}
}

func TestWriteToFolder(t *testing.T) {
	if err := Write(t.TempDir(), nil); err == nil {
		t.Error("got no error, want one for a folder")
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plan.yaml")
	must(t, os.WriteFile(path, []byte("12345"), 0o644))
	if data, err := Read(path, 5); err != nil || !bytes.Equal(data, []byte("12345")) {
		t.Errorf("got %q, %v, want 12345", data, err)
	}
	if _, err := Read(path, 4); err == nil || !strings.Contains(err.Error(), "more than 4 bytes") {
		t.Errorf("got %v, want an error about more than 4 bytes", err)
	}
	fifo := filepath.Join(dir, "fifo")
	must(t, syscall.Mkfifo(fifo, 0o600))
	for _, odd := range []string{fifo, "/dev/zero", dir} {
		if _, err := Read(odd, 4); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: got %v, want an error: not a regular file", odd, err)
		}
		if err := CheckRegular(odd); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("check of %s: got %v, want an error: not a regular file", odd, err)
		}
	}
}

// A refusal names the file that the user gave, and no temporary one.
func TestWriteNamesTheFileInItsError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "such", "folder.yaml")
	err := Write(path, []byte("one"))
	if err == nil || !strings.Contains(err.Error(), path+": no such file") {
		t.Errorf("got %v, want an error with %q", err, path+": no such file")
	}
}

func TestCheckCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	if err := CheckCache(dir); err != nil {
		t.Errorf("none yet: got %v, want no error", err)
	}
	must(t, os.Mkdir(dir, 0o700))
	for mode, want := range map[os.FileMode]string{0o700: "", 0o755: "", 0o775: "", 0o777: "can be written to by everybody", 0o777 | os.ModeSticky: "can be written to by everybody"} {
		must(t, os.Chmod(dir, mode))
		if err := CheckCache(dir); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", mode, err, want)
		}
	}
	must(t, os.Chmod(dir, 0o755))
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	must(t, os.Chown(dir, 65534, 65534))
	if err := CheckCache(dir); err == nil || !strings.Contains(err.Error(), "belongs to another user (65534)") {
		t.Errorf("another's: got %v, want it refused", err)
	}
}
