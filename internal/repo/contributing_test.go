package repo_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/internal/build"
)

// TestContributing does what CONTRIBUTING.md says, as it is written, in a copy of the
// checkout that is built once.
func TestContributing(t *testing.T) {
	c := newCopy(t)
	t.Run("driver", func(t *testing.T) { addDriver(t, checkoutCopy{t, c.dir}) })
	t.Run("script", func(t *testing.T) { addScripts(t, checkoutCopy{t, c.dir}) })
}

// addDriver writes the worker of a new driver, makes its module, then refreshes, tests,
// checks and runs it. The driver is one that is at hand.
func addDriver(t *testing.T, c checkoutCopy) {
	section := c.section("## Add a driver")
	blocks := commandBlocks.FindAllStringSubmatch(section, -1)
	if len(blocks) != 3 {
		t.Fatalf("%d blocks of commands in CONTRIBUTING.md, want three: one makes the module, one tries it, one makes its facts", len(blocks))
	}
	version := c.sh(".", "go -C workers/modernc list -m -f '{{.Version}}' modernc.org/sqlite")
	filled := strings.NewReplacer("MODULE@VERSION", "modernc.org/sqlite@"+strings.TrimSpace(version), "NAME", "freshsqlite")
	c.sh(".", filled.Replace(blocks[0][1]))
	for _, line := range strings.Split(strings.TrimSpace(filled.Replace(blocks[1][1])), "\n") {
		if strings.Contains(line, "assay run") {
			line += " --only operation=point-read --budget 5s"
		}
		if line == "make deps" {
			c.depsChangeOnly("freshsqlite")
			continue
		}
		out := c.sh(".", line)
		if strings.Contains(line, "assay check") && !strings.Contains(out, "ok ") {
			t.Errorf("%s: got %q, want checks that are ok", line, out)
		}
		if strings.Contains(line, "assay run") && !strings.Contains(out, "freshsqlite") {
			t.Errorf("%s: got %q, want figures of freshsqlite", line, out)
		}
	}
	describeDriver(t, c, filled, section)
}

// describeDriver says what is known of the new driver in its own folder alone, as it is
// written: a profile is printed for it, and lint finds and judges what opens it.
func describeDriver(t *testing.T, c checkoutCopy, filled *strings.Replacer, section string) {
	_, text, _ := strings.Cut(section, "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	text = strings.NewReplacer("IMPORT/PATH", "example.com/freshsqlite", "its name in database/sql", "fresh").Replace(filled.Replace(text))
	c.write("workers/freshsqlite/driver.yaml", text)
	const facts = `{"driver": "freshsqlite", "module": "example.com/freshsqlite", "version": "v1.0.0", "engine": "3.54.1", "effects": {"applied": ["file:?_pragma=cache_size()"], "ignored": ["file:?_journal_mode"]}}`
	c.sh(".", "mkdir workers/freshsqlite/facts")
	c.write("workers/freshsqlite/facts/freshsqlite@v1.0.0.json", facts)
	if got := c.sh(".", "bin/assay emit --profile quick/web --for go-freshsqlite"); !strings.Contains(got, `_ "example.com/freshsqlite"`) || !strings.Contains(got, "_pragma=journal_mode(WAL)") {
		t.Errorf("emit prints %q, want the driver's package and its parameters", got)
	}
	for name, text := range map[string]string{
		"go.mod":             "module app\n\ngo 1.26\n\nrequire example.com/freshsqlite v1.0.0\n",
		"vendor/modules.txt": "# example.com/freshsqlite v1.0.0\n## explicit\nexample.com/freshsqlite\n",
		"vendor/example.com/freshsqlite/fresh.go": "package freshsqlite\n",
		"main.go": "package main\n\nimport (\n\t\"database/sql\"\n\n\t_ \"example.com/freshsqlite\"\n)\n\nfunc main() { sql.Open(\"fresh\", \"file:a.db?_journal_mode=WAL\") }\n",
	} {
		c.sh(".", "mkdir -p .data/app/vendor/example.com/freshsqlite")
		c.write(".data/app/"+name, text)
	}
	if out, _ := c.try(".data/app", "../../bin/assay lint"); !strings.Contains(out, "freshsqlite v1.0.0: ignores _journal_mode=WAL") {
		t.Errorf("lint says %q, want the parameter that the driver ignores", out)
	}
}

var commandBlocks = regexp.MustCompile("(?ms)^ *```text\n(.*?)^ *```")

// addScripts writes a worker in Python and one in Node.js, which pass their tests, changes
// the driver, checks again, and runs it beside mattn. In Python the other driver needs no
// package. The copy is built.
func addScripts(t *testing.T, c checkoutCopy) {
	blocks := commandBlocks.FindAllStringSubmatch(c.section("## Add a driver in Python or Node.js"), -1)
	if len(blocks) != 4 {
		t.Fatalf("%d blocks of commands in CONTRIBUTING.md, want four: write it, lock its packages in Python and in Node.js, try it", len(blocks))
	}
	for language, change := range map[string]func(name string){
		"python": func(name string) {
			text := strings.NewReplacer(`"python"`, `"`+name+`"`, "import operations\n", "", "    calls = operations.PlainSQL\n", "").Replace(c.read("workers/python/main.py"))
			c.write("workers/"+name+"/main.py", text)
			c.sh("workers/"+name, "rm build requirements.txt")
		},
		"node": func(name string) {
			text := strings.Replace(c.read("workers/"+name+"/main.js"), "facts: () => ({}),", `facts: () => ({ changed: "yes" }),`, 1)
			c.write("workers/"+name+"/main.js", text)
		},
	} {
		t.Run(language, func(t *testing.T) {
			name := "fresh-" + language
			filled := strings.NewReplacer("make build\n", "", "--language python", "--language "+language, "NAME", name)
			c := checkoutCopy{t, c.dir}
			if out, err := c.try(".", filled.Replace(blocks[0][1])); err != nil && (strings.Contains(out, "is not installed") || strings.Contains(out, build.ErrUnreachable.Error())) {
				t.Skip("nothing can be installed: ", out)
			} else if err != nil || strings.Contains(out, "FAIL") || !strings.Contains(out, "ok   hello names the target") {
				t.Fatalf("the worker as it was written: %v\n%s", err, out)
			}
			change(name)
			lines := strings.Replace(filled.Replace(blocks[3][1]), "run quick", "run quick --only operation=point-read --budget 5s", 1)
			out := c.sh(".", lines)
			if strings.Contains(out, "FAIL") || !strings.Contains(out, "ok   hello names the target") || !strings.Contains(out, "point-read") || !strings.Contains(out, name) {
				t.Errorf("got %q, want checks that are ok, and figures of %s", out, name)
			}
		})
	}
}

// depsChangeOnly demands that make deps leaves every go.mod and go.sum alone but
// those of a new worker, where nothing in kit has changed.
func (c checkoutCopy) depsChangeOnly(fresh string) {
	c.Helper()
	before := c.modules()
	c.sh(".", "make deps")
	after := c.modules()
	if len(before) < 20 || len(after) != len(before) {
		c.Errorf("%d files of modules before, %d after, want the same 20 or more", len(before), len(after))
	}
	for name, text := range before {
		if !strings.Contains(name, "/"+fresh+"/") && !bytes.Equal(after[name], text) {
			c.Errorf("make deps changed %s to\n%s", name, after[name])
		}
	}
}

// checkoutCopy is a copy of the checkout's files, without what git ignores.
type checkoutCopy struct {
	*testing.T
	dir string
}

func newCopy(t *testing.T) checkoutCopy {
	t.Helper()
	if testing.Short() {
		t.Skip("it compiles and resolves modules")
	}
	listed, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("no checkout of git:", err)
	}
	c := checkoutCopy{t, t.TempDir()}
	for _, name := range strings.Split(strings.TrimRight(string(listed), "\x00"), "\x00") {
		c.copy(name)
	}
	return c
}

// copy copies one file or symbolic link; a file that git still lists may be gone.
func (c checkoutCopy) copy(name string) {
	c.Helper()
	info, err := os.Lstat(name)
	if os.IsNotExist(err) {
		return
	}
	to := filepath.Join(c.dir, name)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err != nil {
		c.Fatal(err)
	}
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(name)
		if err == nil {
			err = os.Symlink(target, to)
		}
		if err != nil {
			c.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(to, data, info.Mode().Perm())
	}
	if err != nil {
		c.Fatal(err)
	}
}

// sh runs commands in a folder of the copy and returns what they print.
func (c checkoutCopy) sh(dir, commands string) string {
	c.Helper()
	out, err := c.try(dir, commands)
	if err != nil {
		c.Fatalf("%s: %v\n%s", commands, err, out)
	}
	return out
}

// try is sh, for commands that may fail; what they say on standard error is added
// then.
func (c checkoutCopy) try(dir, commands string) (string, error) {
	c.Helper()
	cmd := exec.CommandContext(c.Context(), "bash", "-euc", commands)
	cmd.Dir = filepath.Join(c.dir, dir)
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+filepath.Join(c.dir, ".data"), "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		out = append(out, stderr.Bytes()...)
	}
	return string(out), err
}

// section is the part of CONTRIBUTING.md under a heading.
func (c checkoutCopy) section(heading string) string {
	c.Helper()
	_, text, found := strings.Cut(c.read("CONTRIBUTING.md"), heading+"\n")
	if !found {
		c.Fatalf("CONTRIBUTING.md has no %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// modules are all go.mod and go.sum, by path.
func (c checkoutCopy) modules() map[string][]byte {
	c.Helper()
	all := map[string][]byte{}
	for _, pattern := range []string{"go.*", "kit/go.*", "workers/*/go.*"} {
		names, err := filepath.Glob(filepath.Join(c.dir, pattern))
		if err != nil {
			c.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				c.Fatal(err)
			}
			all[strings.TrimPrefix(name, c.dir)] = data
		}
	}
	return all
}

func (c checkoutCopy) read(name string) string {
	c.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.Fatal(err)
	}
	return string(data)
}

func (c checkoutCopy) write(name, text string) {
	c.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
		c.Fatal(err)
	}
}
