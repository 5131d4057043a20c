package scratch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// parentFolder, in the environment, makes this program one that is killed while
// it has a folder there.
const parentFolder = "ASSAY_TEST_SCRATCH"

func TestMain(m *testing.M) {
	if parent := os.Getenv(parentFolder); parent != "" {
		if _, err := New(parent, "work-"); err != nil {
			panic(err)
		}
		process, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = process.Kill()
		}
		panic(err)
	}
	os.Exit(m.Run())
}

func folders(t *testing.T, parent string) []string {
	t.Helper()
	entries, err := os.ReadDir(parent)
	must(t, err)
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names
}

// A folder stays as long as its process, which may be killed.
func TestSweep(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "not", "there")
	going, err := New(parent, "work-")
	must(t, err)
	program, err := os.Executable()
	must(t, err)
	killed := exec.Command(program)
	killed.Env = append(os.Environ(), parentFolder+"="+parent)
	if out, err := killed.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("got %v, want that it was killed\n%s", err, out)
	}
	must(t, os.Mkdir(filepath.Join(parent, "mine"), 0o755))
	if got := folders(t, parent); len(got) != 3 {
		t.Fatalf("before: got %q, want those of two processes, and mine", got)
	}
	next, err := New(parent, "work-")
	must(t, err)
	want := []string{"mine", filepath.Base(going.Path), filepath.Base(next.Path)}
	slices.Sort(want)
	if got := folders(t, parent); !slices.Equal(got, want) {
		t.Errorf("after: got %q, want %q", got, want)
	}
	for _, f := range []*Folder{going, next} {
		if err := f.Remove(); err != nil {
			t.Error(err)
		}
	}
	if got := folders(t, parent); !slices.Equal(got, []string{"mine"}) {
		t.Errorf("in the end: got %q, want mine alone", got)
	}
}

// Many that make folders at the same time take none for one that was left behind.
func TestAtTheSameTime(t *testing.T) {
	parent := t.TempDir()
	made := make(chan *Folder, 50)
	for range cap(made) {
		go func() {
			folder, err := New(parent, "work-")
			if err != nil {
				t.Error(err)
			}
			made <- folder
		}()
	}
	for range cap(made) {
		if folder := <-made; folder != nil {
			if _, err := os.Stat(folder.Path); err != nil {
				t.Errorf("a folder that is in use: %v", err)
			}
			defer folder.Remove()
		}
	}
}

func TestNamed(t *testing.T) {
	parent := t.TempDir()
	first, err := Named(parent, "run-", "a")
	must(t, err)
	if _, err := Named(parent, "run-", "a"); err == nil || !strings.Contains(err.Error(), "run-a is in use by another assay") {
		t.Errorf("a second time: got %v, want that it is in use", err)
	}
	must(t, os.WriteFile(filepath.Join(first.Path, "data"), nil, 0o600))
	if err := first.lock.Close(); err != nil { // as when its process is killed
		t.Fatal(err)
	}
	again, err := Named(parent, "run-", "a")
	must(t, err)
	if _, err := os.Stat(filepath.Join(again.Path, "data")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was in it before: got %v, want that it is gone", err)
	}
	must(t, again.Remove())
}

// Who sweeps while another removes its folder takes nothing away from it, and puts
// nothing into it.
func TestRemoveWhileOthersSweep(t *testing.T) {
	parent := t.TempDir()
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for range 100 {
				f, err := New(parent, "work-")
				must(t, err)
				for _, name := range []string{"a", "z"} { // before and behind the lock
					must(t, os.WriteFile(filepath.Join(f.Path, name), nil, 0o600))
				}
				must(t, f.Remove())
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
