package emit_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/internal/emit"
)

// program runs SQL on two connections of a form. The programs are in
// testdata/read.
type program struct {
	ecosystem string
	version   string   // of the library, where several are tried
	missing   string   // why it cannot run; empty: it can
	command   []string // run in a folder with the form; PROFILE stands for the profile's name
	form      string   // the file that the form is written to
}

func (p program) needed(t *testing.T) {
	if p.missing != "" {
		t.Skip(p.missing + " (scripts/tools installs it)")
	}
}

// answers writes the form into a folder and returns an answer to each step.
func (p program) answers(t *testing.T, dir, profile string, form emit.Form, steps []step) []string {
	t.Helper()
	if p.form != "" {
		p.write(t, dir, form.Text)
	}
	arguments := slices.Clone(p.command)
	if last := len(arguments) - 1; arguments[last] == "PROFILE" {
		arguments[last] = profile
	}
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Dir, command.Stdin = dir, strings.NewReader(input(steps))
	command.Env = append(os.Environ(), "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1")
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil || len(lines) != len(steps) {
		t.Fatalf("%v: %d answers to %d questions\n%s%s", err, len(lines), len(steps), out, complaints.String())
	}
	return lines
}

// write writes the form; one of Rails is two files, each behind its name.
func (p program) write(t *testing.T, dir, text string) {
	t.Helper()
	files := map[string]string{p.form: text}
	if p.ecosystem == "rails" {
		config, initializer, _ := strings.Cut(text, "# file: config/initializers/sqlite_profile.rb\n")
		files = map[string]string{"database.yml": config, "sqlite_profile.rb": initializer}
	}
	for name, text := range files {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	if p.form == "database.mjs" {
		program, err := os.ReadFile("testdata/read/read.mjs")
		must(t, err)
		_ = os.WriteFile(filepath.Join(dir, "read.mjs"), program, 0o644)
		_ = os.Symlink(filepath.Join(tools(), "node_modules"), filepath.Join(dir, "node_modules"))
	}
}

// tools is where scripts/tools installs libraries.
func tools() string {
	cache, _ := os.UserCacheDir()
	return filepath.Join(cache, "assay", "tools")
}

// programs are all ways to run a form here, or one that says what is missing.
func programs(t *testing.T, ecosystem string) []program {
	switch ecosystem {
	case "rails":
		return []program{ruby(t)}
	case "node", "node-sqlite", "sqlite3-node":
		return []program{node(ecosystem)}
	case "rusqlite":
		return []program{rust(t)}
	}
	if strings.HasPrefix(ecosystem, "go-") {
		return []program{goProgram(t, ecosystem)}
	}
	return python(t, ecosystem)
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	must(t, err)
	return path
}

// Rails 8 waits in Ruby, where PRAGMA busy_timeout reads 0.
func ruby(t *testing.T) program {
	p := program{ecosystem: "rails", form: "database.yml", command: []string{"ruby", absolute(t, "testdata/read/read.rb")}}
	probe := exec.Command("ruby", "-e", `require "active_record"; require "sqlite3"; exit ActiveRecord::VERSION::MAJOR < 8`)
	if probe.Run() != nil {
		p.missing = "no ruby with ActiveRecord 6 or 7 and sqlite3"
	}
	return p
}

func node(ecosystem string) program {
	p := program{ecosystem: ecosystem, form: "database.mjs", command: []string{"node", "read.mjs"}}
	library := map[string]string{"node": "better-sqlite3", "sqlite3-node": "sqlite3"}[ecosystem]
	if ecosystem == "node-sqlite" {
		library, p.command = "node:sqlite", []string{filepath.Join(tools(), "node24", "node_modules", "node", "bin", "node"), "--no-warnings", "read.mjs"}
	}
	probe := exec.Command(p.command[0], "-e", `require("`+library+`")`)
	probe.Dir = tools()
	if probe.Run() != nil {
		p.missing = "no node with " + library
	}
	return p
}

// rust builds one program with the forms of all checks, with the versions that the worker is
// built with. What cargo makes of them lasts beside the tools.
func rust(t *testing.T) program {
	p := program{ecosystem: "rusqlite"}
	if exec.Command("cargo", "--version").Run() != nil || exec.Command("cc", "--version").Run() != nil {
		p.missing = "no cargo with a C compiler"
		return p
	}
	dir := t.TempDir()
	for _, name := range []string{"Cargo.toml", "Cargo.lock"} {
		copyFile(t, filepath.Join("..", "..", "workers", "rusqlite", name), filepath.Join(dir, name), nil)
	}
	var modules, forms string
	for i, c := range checks {
		form, err := ecosystems.For("rusqlite", named(c.profile))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("p%d.rs", i)), []byte(form.Text), 0o644))
		modules += fmt.Sprintf("#[allow(dead_code)]\nmod p%d;\n", i)
		forms += fmt.Sprintf("%q => p%d::open,\n", c.profile, i)
	}
	copyFile(t, filepath.Join("testdata", "read", "read.rs"), filepath.Join(dir, "main.rs"), strings.NewReplacer("// MODULES", modules, "// FORMS", forms).Replace)
	target := filepath.Join(tools(), "cargo")
	build := exec.Command("cargo", "build", "--quiet", "--locked", "--target-dir", target)
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cargo build: %v\n%s", err, out)
	}
	p.command = []string{filepath.Join(dir, "read"), "PROFILE"}
	must(t, os.Rename(filepath.Join(target, "debug", "compiled"), p.command[0]))
	return p
}

// python finds the interpreters that have the library, one of each version.
func python(t *testing.T, ecosystem string) []program {
	library := map[string]string{"python": "sqlite3", "django": "django", "sqlalchemy": "sqlalchemy", "apsw": "apsw"}[ecosystem]
	found := map[string]program{}
	for _, interpreter := range []string{"python3", "/usr/bin/python3", filepath.Join(tools(), "python", "bin", "python3")} {
		probe := exec.Command(interpreter, "-c", "import sys, "+library+" as l; print(sys.executable, getattr(l, '__version__', sys.version.split()[0]))")
		told, err := probe.Output()
		if err != nil {
			continue
		}
		interpreter, version, _ := strings.Cut(strings.TrimSpace(string(told)), " ") // not a script that starts it
		name := " " + version
		found[name] = program{ecosystem: ecosystem, version: name, form: "database.py",
			command: []string{interpreter, absolute(t, "testdata/read/read.py"), ecosystem}}
	}
	if len(found) == 0 {
		return []program{{ecosystem: ecosystem, missing: "no python3 with " + library}}
	}
	var all []program
	for _, name := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[name])
	}
	return all
}

// goProgram builds one program with the forms of all checks, with the
// versions that the driver's worker is built with.
func goProgram(t *testing.T, ecosystem string) program {
	p := program{ecosystem: ecosystem}
	if _, err := exec.LookPath("gcc"); err != nil && slices.Contains([]string{"go-mattn", "go-crawshaw", "go-eatonphil"}, ecosystem) {
		p.missing = "no gcc"
		return p
	}
	dir := t.TempDir()
	worker := filepath.Join("..", "..", "workers", strings.TrimPrefix(ecosystem, "go-"))
	copyFile(t, filepath.Join(worker, "go.sum"), filepath.Join(dir, "go.sum"), nil)
	copyFile(t, filepath.Join(worker, "go.mod"), filepath.Join(dir, "go.mod"), func(text string) string {
		var kept strings.Builder
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "module ") {
				line = "module forms\n"
			}
			if !strings.Contains(line, "assay/kit") {
				kept.WriteString(line)
			}
		}
		return kept.String()
	})
	source := strings.TrimPrefix(ecosystem, "go-") + ".go.txt"
	if _, err := os.Stat(filepath.Join("testdata", "read", source)); err != nil {
		source = "sql.go.txt" // of database/sql
	}
	imports, forms, pools := goForms(t, ecosystem, dir)
	copyFile(t, filepath.Join("testdata", "read", source), filepath.Join(dir, "main.go"),
		strings.NewReplacer("IMPORTS", imports, "FORMS", forms, "POOLS", pools).Replace)
	build := exec.Command("go", "build", "-o", "read", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	p.command = []string{filepath.Join(dir, "read"), "PROFILE"}
	return p
}

// goForms writes each form into a package of its own.
func goForms(t *testing.T, ecosystem, dir string) (imports, forms, pools string) {
	for i, c := range checks {
		form, err := ecosystems.For(ecosystem, named(c.profile))
		must(t, err)
		name := fmt.Sprintf("p%d", i)
		must(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name, "database.go"), []byte(form.Text), 0o644))
		imports += fmt.Sprintf("%s \"forms/%s\"\n", name, name)
		one, both := name+".Open", name+".OpenPools"
		if strings.Contains(form.Text, "type Pool struct") { // each form has a type of its own
			one, both = "opener("+one+")", "poolsOpener("+both+")"
		}
		forms += fmt.Sprintf("%q: %s,\n", c.profile, one)
		if strings.Contains(form.Text, "func OpenPools(") {
			pools += fmt.Sprintf("%q: %s,\n", c.profile, both)
		}
	}
	return imports, forms, pools
}

func copyFile(t *testing.T, from, to string, change func(string) string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil && change != nil {
		text = []byte(change(string(text)))
	}
	if err == nil {
		err = os.WriteFile(to, text, 0o644)
	}
	must(t, err)
}

// lockedOut is what drivers say of a database that another connection changes.
var lockedOut = regexp.MustCompile(`(?i)database is locked|SQLITE_BUSY`)

// pools checks that the pools of a form are those that assay measures: as many
// readers as asked for, and one writer, which has the lock as soon as a transaction
// begins.
func (p program) pools(t *testing.T) {
	command := exec.Command(p.command[0], "web", "pools")
	command.Dir = t.TempDir()
	out, err := command.CombinedOutput()
	if got := string(out); err != nil || !strings.HasPrefix(got, "3 1 ") || !lockedOut.MatchString(got) {
		t.Errorf("got %q and error %v, want 3 readers, 1 writer, and a database that is locked", got, err)
	}
}
