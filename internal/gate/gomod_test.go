package gate

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const (
	was = `module app

go 1.26

require (
	example.test/a v1.0.0
	example.test/b v1.0.0
	example.test/c v1.0.0
	example.test/gone v1.0.0
)
`
	is = `module app

go 1.26

require (
	example.test/a v1.1.0
	example.test/b v1.0.0
	example.test/c v1.0.0
	example.test/new v1.0.0
)

replace example.test/c => ./fork of c
`
)

// repository commits the older go.mod and writes the newer one.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(was)
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@example.test", "commit", "-qm", "x"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Skipf("git %v: %v %s", args, err, out)
		}
	}
	write(strings.ReplaceAll(is, "./fork of c", `"./fork of c"`))
	return dir
}

func TestMoves(t *testing.T) {
	dir := repository(t)
	modules := []string{"example.test/c", "example.test/b", "example.test/a", "example.test/new", "example.test/gone", ""}
	got, err := Moves(t.Context(), dir, "HEAD", modules)
	want := []Move{
		{Requirement{Module: "example.test/a", Version: "v1.0.0", Line: 6}, Requirement{Module: "example.test/a", Version: "v1.1.0", Line: 6}},
		{Requirement{Module: "example.test/c", Version: "v1.0.0", Line: 8}, Requirement{Module: "example.test/c", Version: "v1.0.0", Line: 8, Folder: "./fork of c"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if got := Line(dir, "example.test/b"); got != 7 {
		t.Errorf("got line %d of example.test/b, want 7", got)
	}
	for _, ref := range []string{"", "-x", "--output=x", "nosuch"} {
		if _, err := Moves(t.Context(), dir, ref, modules); err == nil {
			t.Errorf("revision %q is no error", ref)
		}
	}
	if _, err := Moves(t.Context(), t.TempDir(), "HEAD", modules); err == nil {
		t.Error("a folder without go.mod is no error")
	}
}
