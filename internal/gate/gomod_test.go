package gate

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	was = `module app

go 1.26

require (
	example.test/a v1.0.0
	example.test/b v1.0.0
	example.test/c v1.0.0
	example.test/gone v1.0.0
	example.test/fork v1.0.0
	example.test/same v1.0.0
	example.test/edited v1.0.0
	example.test/outside v1.0.0
)

replace example.test/fork => example.test/mine v1.0.0

replace (
	example.test/same => ./same
	example.test/edited => ./edited
	example.test/outside => ../outside
)
`
	is = `module app

go 1.26

require (
	example.test/a v1.1.0
	example.test/b v1.0.0
	example.test/c v1.0.0
	example.test/new v1.0.0
	example.test/fork v1.1.0
	example.test/same v1.0.0
	example.test/edited v1.0.0
	example.test/outside v1.0.0
)

replace example.test/c => ./fork of c

replace example.test/fork => example.test/mine v1.1.0

replace (
	example.test/same => ./same
	example.test/edited => ./edited
	example.test/outside => ../outside
)
`
)

// repository commits the older go.mod and writes the newer one.
func repository(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "app")
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", was)
	write("same/a.go", "package same\n")
	write("edited/a.go", "package edited\n")
	write("../outside/a.go", "package outside\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@example.test", "commit", "-qm", "x"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Skipf("git %v: %v %s", args, err, out)
		}
	}
	write("go.mod", strings.ReplaceAll(is, "./fork of c", `"./fork of c"`))
	write("edited/b.go", "package edited\n")
	return dir
}

func TestMoves(t *testing.T) {
	dir := repository(t)
	modules := []string{"example.test/c", "example.test/b", "example.test/a", "example.test/new", "example.test/gone", "",
		"example.test/fork", "example.test/same", "example.test/edited", "example.test/outside"}
	got, err := Moves(t.Context(), dir, "HEAD", modules)
	want := []Move{
		{Requirement{Module: "example.test/a", Version: "v1.0.0", Line: 6}, Requirement{Module: "example.test/a", Version: "v1.1.0", Line: 6}},
		{Requirement{Module: "example.test/c", Version: "v1.0.0", Line: 8}, Requirement{Module: "example.test/c", Version: "v1.0.0", Line: 8, Folder: "./fork of c"}},
		{Requirement{Module: "example.test/edited", Version: "v1.0.0", Folder: "./edited", Line: 12}, Requirement{Module: "example.test/edited", Version: "v1.0.0", Folder: "./edited", Line: 12}},
		{Requirement{Module: "example.test/fork", Version: "v1.0.0", Fork: "example.test/mine@v1.0.0", Line: 10}, Requirement{Module: "example.test/fork", Version: "v1.1.0", Fork: "example.test/mine@v1.1.0", Line: 10}},
		{Requirement{Module: "example.test/outside", Version: "v1.0.0", Folder: "../outside", Line: 13}, Requirement{Module: "example.test/outside", Version: "v1.0.0", Folder: "../outside", Line: 13}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got)\n%s", err, diff)
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
