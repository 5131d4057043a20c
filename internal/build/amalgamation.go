package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay/kit/sqlite"
)

// amalgamation is SQLite as one C file, in a module that Go has fetched and
// whose checksum it has verified.
type amalgamation struct {
	module  string // path@version
	sum     string // of the module, as go.sum has it
	source  string // path of the C file
	header  string // path of its header
	version string // of SQLite
	flags   []string
}

// amalgamationFiles are the names that it has in drivers' modules, with its
// header's.
var amalgamationFiles = map[string]string{"sqlite3.c": "sqlite3.h", "sqlite3-binding.c": "sqlite3-binding.h"}

// download holds what the go command says of a module that it has fetched.
type download struct{ Path, Version, Dir, Info, Sum, Error string }

// offline, among variables, has the go command use what was fetched before.
const offline = "GOPROXY=off"

// errNotFetched says that the go command could not give a module.
var errNotFetched = errors.New("fetch module")

// fetch has the go command fetch the module that the go.mod in dir requires,
// unless its cache has it, and hold it against the go.sum there.
func fetch(ctx context.Context, dir, module string, env ...string) (download, error) {
	args := []string{"mod", "download", "-json", module}
	out, err := run(ctx, dir, append([]string{"GOWORK=off", "GOFLAGS=-mod=mod"}, env...), args...)
	var found download
	unread := json.Unmarshal(out, &found)
	switch {
	case found.Error != "": // it says nothing on standard error then
		return download{}, fmt.Errorf("%w: %s", errNotFetched, withHint(args, found.Error))
	case err != nil:
		return download{}, err
	case unread != nil:
		return download{}, fmt.Errorf("go mod download: %w", unread)
	}
	return found, nil
}

// amalgamation finds SQLite in what was fetched.
func (d download) amalgamation() (amalgamation, error) {
	a := amalgamation{module: d.Path + "@" + d.Version, sum: d.Sum}
	var err error
	if a.source, a.header, err = findAmalgamation(d.Dir); err != nil {
		return amalgamation{}, fmt.Errorf("%s: %w", a.module, err)
	}
	text, err := os.ReadFile(a.header)
	if err != nil {
		return amalgamation{}, err
	}
	if a.version = define(text, "SQLITE_VERSION"); a.version == "" {
		return amalgamation{}, fmt.Errorf("%s does not define SQLITE_VERSION", a.header)
	}
	return a, nil
}

// knownOptions refuses compile options of which the source has no name.
func knownOptions(a amalgamation, options []string) error {
	if len(options) == 0 {
		return nil
	}
	text, err := os.ReadFile(a.source)
	if err != nil {
		return err
	}
	for _, option := range sqlite.CompileOptions(options) {
		name, _, _ := strings.Cut(option, "=")
		if !regexp.MustCompile(`\bSQLITE_` + name + `\b`).Match(text) {
			return &SpecError{fmt.Errorf("SQLite %s of %s has no compile option %s: correct its name, or leave it out", a.version, a.module, name)}
		}
	}
	return nil
}

func findAmalgamation(root string) (source, header string, err error) {
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || source != "" {
			return err
		}
		beside, ok := amalgamationFiles[entry.Name()]
		if !ok {
			return nil
		}
		for _, dir := range []string{filepath.Dir(name), root} {
			if _, err := os.Stat(filepath.Join(dir, beside)); err == nil && source == "" {
				source, header = name, filepath.Join(dir, beside)
			}
		}
		return nil
	})
	if err == nil && source == "" {
		err = errors.New("it holds no SQLite in C")
	}
	return source, header, err
}

// define returns the first word of what a header defines a name as.
func define(header []byte, name string) string {
	for line := range strings.Lines(string(header)) {
		words := strings.Fields(line)
		if len(words) >= 3 && words[0] == "#define" && words[1] == name {
			return strings.Trim(words[2], `"`)
		}
	}
	return ""
}

// sqlite finds the amalgamation that a worker in C pins.
func (d Driver) sqlite(ctx context.Context, env ...string) (amalgamation, error) {
	found, err := fetch(ctx, d.Dir, d.Module, env...)
	if err != nil {
		return amalgamation{}, err
	}
	return found.amalgamation()
}

// ofDriver finds the amalgamation of a driver written with cgo, with the flags
// that the driver compiles it with.
func (s Source) ofDriver(ctx context.Context, name string, tools toolchain, env ...string) (amalgamation, error) {
	d, err := s.driver(name)
	if err != nil || d.Module == "" || d.C || d.Script {
		return amalgamation{}, s.notWithCgo(ctx, name)
	}
	found, err := fetch(ctx, d.Dir, d.Module, env...)
	if err != nil {
		return amalgamation{}, err
	}
	env = slices.Concat(tools.environment("readonly"), []string{"CGO_ENABLED=1"}, env)
	with, err := cgoPackages(ctx, d, d.Dir, env)
	if err != nil {
		return amalgamation{}, err
	}
	if len(with) == 0 {
		return amalgamation{}, s.notWithCgo(ctx, name)
	}
	out, err := run(ctx, d.Dir, env, append([]string{"list", "-f", "{{range .CgoCFLAGS}}{{.}}\n{{end}}"}, with...)...)
	if err != nil {
		return amalgamation{}, err
	}
	a, err := found.amalgamation()
	a.flags = slices.DeleteFunc(strings.Fields(string(out)), func(flag string) bool { return strings.HasPrefix(flag, "-I") })
	return a, err
}

func (s Source) notWithCgo(ctx context.Context, name string) error {
	return &SpecError{fmt.Errorf("after @ comes a %s, which %s is not", s.cgoDrivers(ctx), name)}
}
