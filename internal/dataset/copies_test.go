package dataset

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// newCopies is a set of copies in folders of the test.
func newCopies(t *testing.T, limit int64) *Copies {
	t.Helper()
	root := t.TempDir()
	return &Copies{Limit: limit, Folder: func() (string, error) { return os.MkdirTemp(root, "copy-") }}
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, content, 0o644))
}

func take(t *testing.T, c *Copies, source Source) *Copy {
	t.Helper()
	copied, err := c.Take(source)
	must(t, err)
	return copied
}

func give(t *testing.T, c *Copies, copied *Copy) {
	t.Helper()
	must(t, c.Give(copied))
}

// folder is a store of three files, one of them with a hole.
func folder(t *testing.T) *Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store")
	writeFile(t, filepath.Join(path, "MANIFEST"), []byte("one"))
	writeFile(t, filepath.Join(path, "sub", "table"), bytes.Repeat([]byte("table"), 50_000))
	holes := filepath.Join(path, "holes")
	writeFile(t, holes, []byte("begin"))
	must(t, os.Truncate(holes, 10*chunk))
	return &Store{Path: path}
}

// Whatever an instance did to a copy, the next one gets the source's bytes, in
// the same folder and with nothing beside them.
func TestCopiesAreRestored(t *testing.T) {
	settle := func() { time.Sleep(2 * clockStep) }
	for name, change := range map[string]func(dir, data string) error{
		"nothing": func(string, string) error { return nil },
		"bytes in the middle": func(_, data string) error {
			file, err := os.OpenFile(filepath.Join(data, "sub", "table"), os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer file.Close()
			_, err = file.WriteAt([]byte("other"), chunk+7)
			return err
		},
		"bytes, and the time set back": func(_, data string) error {
			path := filepath.Join(data, "MANIFEST")
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte("two"), 0); err != nil {
				return err
			}
			return os.Chtimes(path, info.ModTime(), info.ModTime())
		},
		"bytes in a hole": func(_, data string) error {
			file, err := os.OpenFile(filepath.Join(data, "holes"), os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer file.Close()
			_, err = file.WriteAt([]byte("x"), 5*chunk)
			return err
		},
		"longer":  func(_, data string) error { return os.Truncate(filepath.Join(data, "sub", "table"), 1<<20) },
		"shorter": func(_, data string) error { return os.Truncate(filepath.Join(data, "sub", "table"), 3) },
		"removed": func(_, data string) error { return os.RemoveAll(filepath.Join(data, "sub")) },
		"added": func(_, data string) error {
			return os.WriteFile(filepath.Join(data, "sub", "log"), []byte("log"), 0o600)
		},
		"beside it": func(dir, _ string) error {
			return os.WriteFile(filepath.Join(dir, "data.db-wal"), []byte("wal"), 0o600)
		},
		"replaced": func(_, data string) error {
			return os.Rename(filepath.Join(data, "MANIFEST"), filepath.Join(data, "holes"))
		},
		"a folder for a file": func(_, data string) error {
			if err := os.Remove(filepath.Join(data, "MANIFEST")); err != nil {
				return err
			}
			return os.Mkdir(filepath.Join(data, "MANIFEST"), 0o755)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, copies := folder(t), newCopies(t, 1<<30)
			want, err := folderSum(source.Path)
			must(t, err)
			first := take(t, copies, source)
			settle()
			give(t, copies, first)
			second := take(t, copies, source) // compared, and known to be equal
			if second != first {
				t.Fatal("the copy that was given back is not handed out again")
			}
			must(t, change(second.Dir, second.Path()))
			give(t, copies, second)
			third := take(t, copies, source)
			if got, err := folderSum(third.Path()); err != nil || got != want {
				t.Errorf("the copy has the digest %.12s, %v, want %.12s", got, err, want)
			}
			if entries, err := os.ReadDir(third.Dir); err != nil || len(entries) != 1 {
				t.Errorf("beside the copy lie %v, %v, want nothing", entries, err)
			}
		})
	}
}

// A copy that nobody touched is not read again, and one that was written to
// just after it was compared is.
func TestCopiesKnowWhatWasTouched(t *testing.T) {
	source, copies := folder(t), newCopies(t, 1<<30)
	c := take(t, copies, source)
	file := filepath.Join(c.Path(), "MANIFEST")
	for range 20 {
		writeFile(t, file, []byte("two")) // of the same size, and within the steps of the file system's clock
		give(t, copies, c)
		c = take(t, copies, source)
		if got, err := os.ReadFile(file); err != nil || string(got) != "one" {
			t.Fatalf("the copy has %q, %v, want %q", got, err, "one")
		}
	}
	time.Sleep(2 * clockStep)
	give(t, copies, c)
	c = take(t, copies, source)
	known := c.stamps[file]
	if now, err := stampOf(file); err != nil || known != now {
		t.Errorf("a file that is equal has the stamp %+v, %v, known is %+v", now, err, known)
	}
}

// Instances at the same time have copies of their own; idle copies take no more
// than the limit.
func TestCopiesAreApart(t *testing.T) {
	source := folder(t)
	size, err := sizeOf(take(t, newCopies(t, 0), source).Dir) // its holes may be smaller than the source's
	must(t, err)
	copies := newCopies(t, 2*size)
	all := map[string]*Copy{}
	for range 4 {
		c := take(t, copies, source)
		all[c.Dir] = c
	}
	if len(all) != 4 {
		t.Fatalf("4 instances have %d folders", len(all))
	}
	for _, c := range all {
		give(t, copies, c)
	}
	left := 0
	for dir := range all {
		if _, err := os.Stat(dir); err == nil {
			left++
		}
	}
	if left != 2 || copies.bytes > copies.Limit {
		t.Errorf("%d idle copies of %d bytes are left, want 2 with a limit of %d", left, copies.bytes, copies.Limit)
	}
	other := folder(t)
	if c := take(t, copies, other); all[c.Dir] != nil {
		t.Error("a copy of one store was handed out for another")
	}
}
