package gate

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/build"

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

func put(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(text), 0o644))
}

// commit makes a repository of a folder.
func commit(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@example.test", "commit", "-qm", "x"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Skipf("git %v: %v %s", args, err, out)
		}
	}
}

// repository commits the older go.mod and writes the newer one.
func repository(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "app")
	write := func(name, text string) { put(t, filepath.Join(dir, name), text) }
	write("go.mod", was)
	write("same/a.go", "package same\n")
	write("edited/a.go", "package edited\n")
	write("../outside/a.go", "package outside\n")
	commit(t, dir)
	write("go.mod", strings.ReplaceAll(is, "./fork of c", `"./fork of c"`))
	write("edited/b.go", "package edited\n")
	return dir
}

func TestMoves(t *testing.T) {
	dir := repository(t)
	var drivers []build.Driver
	for _, name := range []string{"c", "b", "a", "new", "gone", "fork", "same", "edited", "outside"} {
		drivers = append(drivers, build.Driver{Name: name, Ecosystem: build.Go, Package: "example.test/" + name})
	}
	moves, err := Moves(t.Context(), dir, "HEAD", drivers)
	var got [][2]Requirement
	for _, move := range moves {
		got = append(got, [2]Requirement{move.Base, move.Head})
	}
	want := [][2]Requirement{
		{Requirement{Module: "example.test/a", Version: "v1.0.0", Line: 6}, Requirement{Module: "example.test/a", Version: "v1.1.0", Line: 6}},
		{Requirement{Module: "example.test/c", Version: "v1.0.0", Line: 8}, Requirement{Module: "example.test/c", Version: "v1.0.0", Line: 8, Folder: "./fork of c"}},
		{Requirement{Module: "example.test/edited", Version: "v1.0.0", Folder: "./edited", Line: 12}, Requirement{Module: "example.test/edited", Version: "v1.0.0", Folder: "./edited", Line: 12}},
		{Requirement{Module: "example.test/fork", Version: "v1.0.0", Fork: "example.test/mine@v1.0.0", Line: 10}, Requirement{Module: "example.test/fork", Version: "v1.1.0", Fork: "example.test/mine@v1.1.0", Line: 10}},
		{Requirement{Module: "example.test/outside", Version: "v1.0.0", Folder: "../outside", Line: 13}, Requirement{Module: "example.test/outside", Version: "v1.0.0", Folder: "../outside", Line: 13}},
	}
	for i := range want {
		want[i][0].File, want[i][1].File = "go.mod", "go.mod"
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got)\n%s", err, diff)
	}
	if got, err := pinOf(drivers[1], filesIn(dir)); got.Line != 7 || err != nil {
		t.Errorf("got %+v, %v of example.test/b, want line 7", got, err)
	}
	for _, ref := range []string{"", "-x", "--output=x", "nosuch"} {
		if _, err := Moves(t.Context(), dir, ref, drivers); err == nil {
			t.Errorf("revision %q is no error", ref)
		}
	}
	if _, err := Moves(t.Context(), t.TempDir(), "HEAD", drivers); err == nil {
		t.Error("a folder without go.mod is no error")
	}
}

// The lock files of other ecosystems are compared like go.mod; what locks a version counts before
// what asks for one.
func TestMovesOfLockFiles(t *testing.T) {
	python := build.Driver{Name: "apsw", Ecosystem: build.PyPI, Package: "apsw"}
	node := build.Driver{Name: "better-sqlite3", Ecosystem: build.NPM, Package: "better-sqlite3"}
	rust := build.Driver{Name: "rusqlite", Ecosystem: build.Cargo, Package: "rusqlite"}
	for _, c := range []struct {
		driver          build.Driver
		file, was, is   string
		base, head      string
		line            int
		besides, beside string // another file, which stays
	}{
		{python, "requirements.txt", "django==5.1\napsw==3.46.0.0\n", "django==5.2\napsw==3.50.0.0\n", "3.46.0.0", "3.50.0.0", 2, "", ""},
		{python, "uv.lock", "[[package]]\nname = \"apsw\"\nversion = \"3.46.0.0\"\n", "[[package]]\nname = \"apsw\"\nversion = \"3.50.0.0\"\n", "3.46.0.0", "3.50.0.0", 2,
			"pyproject.toml", "dependencies = [\"apsw==3.40.0\"]\n"},
		{python, "poetry.lock", "[[package]]\nname = \"apsw\"\nversion = \"3.46.0.0\"\n", "[[package]]\nname = \"apsw\"\nversion = \"3.46.0.0\"\n", "", "", 0, "", ""},
		{python, "pyproject.toml", "dependencies = [\"apsw==3.46.0\"]\n", "dependencies = [\"apsw==3.50.0\"]\n", "3.46.0", "3.50.0", 1, "", ""},
		{node, "package-lock.json", `{"packages": {"node_modules/better-sqlite3": {"version": "11.5.0"}}}`, `{"packages": {"node_modules/better-sqlite3": {"version": "12.0.0"}}}`,
			"11.5.0", "12.0.0", 1, "package.json", `{"dependencies": {"better-sqlite3": "11.0.0"}}`},
		{node, "package.json", `{"dependencies": {"better-sqlite3": "11.5.0"}}`, `{"dependencies": {"better-sqlite3": "12.0.0"}}`, "11.5.0", "12.0.0", 1, "", ""},
		{rust, "Cargo.lock", "[[package]]\nname = \"rusqlite\"\nversion = \"0.31.0\"\n", "[[package]]\nname = \"rusqlite\"\nversion = \"0.32.0\"\n", "0.31.0", "0.32.0", 2, "", ""},
		{rust, "Cargo.toml", "[dependencies]\nrusqlite = { version = \"=0.31.0\" }\n", "[dependencies]\nrusqlite = { version = \"=0.32.0\" }\n", "0.31.0", "0.32.0", 2, "", ""},
		{python, "pyproject.toml", "# apsw>=1\ndependencies = [\n  \"flask>=2\",\n  \"apsw>=3.46,<4\",\n]\n", "# apsw>=2\ndependencies = [\n  \"flask>=3\",\n  \"apsw>=3.50,<4\",\n]\n", "apsw>=3.46,<4", "apsw>=3.50,<4", 4, "", ""},
		{python, "pyproject.toml", "dependencies = [\"flask>=2\", \"apsw>=3.46\"]\n", "dependencies = [\"flask>=3\", \"apsw>=3.46\"]\n", "", "", 0, "", ""},
		{python, "requirements.txt", "apsw[all]>=3.46  # via x\n", "apsw[all]>=3.46  # via y\n", "", "", 0, "", ""},
		{rust, "Cargo.toml", "[dependencies]\nrusqlite = { version = \">=0.38\", features = [\"a\"] }\n", "[dependencies]\nrusqlite = { version = \">=0.38\", features = [\"b\"] }\n", "", "", 0, "", ""},
		{rust, "Cargo.toml", "[dependencies]\nrusqlite = { version = \">=0.38\", features = [\"a\"] }\n", "[dependencies]\nrusqlite = { version = \">=0.39\", features = [\"a\"] }\n", `rusqlite = { version = ">=0.38"`, `rusqlite = { version = ">=0.39"`, 2, "", ""},
		{python, "requirements.txt", "apsw==3.46.0; python_version<'3.9'\napsw==3.47.0; python_version>='3.9'\n", "apsw==3.46.0; python_version<'3.9'\napsw==3.50.0; python_version>='3.9'\n", "3.46.0 and 3.47.0", "3.46.0 and 3.50.0", 1, "", ""},
		{python, "base.txt", "apsw==3.46.0\n", "apsw==3.50.0\n", "3.46.0", "3.50.0", 1, "requirements.txt", "-r base.txt\n"},
		{python, "requirements.txt", "apsw\n", "apsw==3.50.0\n", "apsw", "3.50.0", 1, "", ""},
		{python, "requirements.txt", "apsw @ https://example.org/1\n", "apsw @ https://example.org/2\n", "apsw @ https://example.org/1", "apsw @ https://example.org/2", 1, "", ""},
		{python, "poetry.lock", "name = \"apsw\"\nversion = \"3.46.0\"\n\n[package.source]\nresolved_reference = \"a\"\n", "name = \"apsw\"\nversion = \"3.46.0\"\n\n[package.source]\nresolved_reference = \"b\"\n", `3.46.0 of "a"`, `3.46.0 of "b"`, 1, "", ""},
		{python, "poetry.lock", "name = \"apsw\"\nversion = \"3.46.0\"\n[[package]]\nresolved_reference = \"a\"\n", "name = \"apsw\"\nversion = \"3.46.0\"\n[[package]]\nresolved_reference = \"b\"\n", "", "", 0, "", ""},
		{rust, "Cargo.lock", "name = \"rusqlite\"\nversion = \"0.31.0\"\nsource = \"git+a\"\n", "name = \"rusqlite\"\nversion = \"0.31.0\"\nsource = \"git+b\"\n", `0.31.0 of "git+a"`, `0.31.0 of "git+b"`, 1, "", ""},
		{rust, "Cargo.lock", "\nname = \"rusqlite\"\nversion = \"0.31.0\"\nname = \"rusqlite\"\nversion = \"0.32.0\"\n", "\nname = \"rusqlite\"\nversion = \"0.31.0\"\nname = \"rusqlite\"\nversion = \"0.33.0\"\n", "0.31.0 and 0.32.0", "0.31.0 and 0.33.0", 2, "", ""},
		{rust, "Cargo.toml", "[dependencies.rusqlite]\nversion = \"0.31\"\n", "[dependencies.rusqlite]\nversion = \"0.32\"\n", `rusqlite] version = "0.31"`, `rusqlite] version = "0.32"`, 1, "", ""},
		{rust, "Cargo.toml", "[dependencies]\nrusqlite = { git = \"x\", rev = \"a\" }\n", "[dependencies]\nrusqlite = { git = \"x\", rev = \"b\" }\n", `rusqlite = { git = "x", rev = "a" }`, `rusqlite = { git = "x", rev = "b" }`, 2, "", ""},
		{node, "package-lock.json", `{"packages": {"node_modules/better-sqlite3": {"version": "1.0.0", "resolved": "git+a"}}}`, `{"packages": {"node_modules/better-sqlite3": {"version": "1.0.0", "resolved": "git+b"}}}`, `1.0.0 of "git+a"`, `1.0.0 of "git+b"`, 1, "", ""},
		{node, "yarn.lock", "better-sqlite3@^11.0.0:\n  version \"11.5.0\"\n", "\"better-sqlite3@npm:^11.0.0\":\n  version: 11.6.0\n", "11.5.0", "11.6.0", 1, "package.json", `{"dependencies": {"better-sqlite3": "^11.0.0"}}`},
		{node, "pnpm-lock.yaml", "  /better-sqlite3/11.5.0:\n", "  '@x/better-sqlite3@1.0.0':\n  better-sqlite3@11.6.0(y@1.0.0):\n", "11.5.0", "11.6.0", 2, "", ""},
		{node, "bun.lock", "\"better-sqlite3\": [\"better-sqlite3@11.5.0\", \"\"],\n", "\"better-sqlite3\": [\"better-sqlite3@11.6.0\", \"\"],\n", "11.5.0", "11.6.0", 1, "", ""},
		{python, "requirements.txt", "apsw>=3.46\nflask==1.0\n", "apsw>=3.46\nflask==2.0\n", "", "", 0, "", ""},
		{node, "package.json", "{\"dependencies\": {\n\"better-sqlite3\": \"^11.5.0\"}}", "{\"dependencies\": {\n\"better-sqlite3\": \"^12.0.0\"}}", `better-sqlite3": "^11.5.0"`, `better-sqlite3": "^12.0.0"`, 2, "", ""},
	} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, c.file), c.was)
		if c.besides != "" {
			put(t, filepath.Join(dir, c.besides), c.beside)
		}
		commit(t, dir)
		put(t, filepath.Join(dir, c.file), c.is)
		moves, err := Moves(t.Context(), dir, "HEAD", []build.Driver{python, node, rust})
		if err != nil || len(moves) != min(1, len(c.base)) {
			t.Errorf("%s: got %+v, %v", c.file, moves, err)
			continue
		}
		for _, got := range moves {
			if got.Driver != c.driver || got.Base.Version != c.base || got.Head.Version != c.head || got.Head.File != c.file || got.Head.Line != c.line {
				t.Errorf("%s: got %+v, want %s from %s to %s in line %d", c.file, got, c.driver.Name, c.base, c.head, c.line)
			}
		}
	}
}
