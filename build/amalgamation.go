package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// fetchAmalgamation finds the amalgamation in a module that the go.mod in dir
// requires.
func fetchAmalgamation(ctx context.Context, dir, module string) (amalgamation, error) {
	out, err := run(ctx, dir, []string{"GOWORK=off", "GOFLAGS=-mod=mod"}, "mod", "download", "-json", module)
	if err != nil {
		return amalgamation{}, err
	}
	var found struct{ Path, Version, Dir, Sum string }
	if err := json.Unmarshal(out, &found); err != nil {
		return amalgamation{}, fmt.Errorf("go mod download: %w", err)
	}
	a := amalgamation{module: found.Path + "@" + found.Version, sum: found.Sum}
	if a.source, a.header, err = findAmalgamation(found.Dir); err != nil {
		return amalgamation{}, fmt.Errorf("%s: %w", a.module, err)
	}
	a.version, err = sqliteVersion(a.header)
	return a, err
}

var errNoAmalgamation = errors.New("it holds no SQLite in C")

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
		err = errNoAmalgamation
	}
	return source, header, err
}

// sqliteVersion reads the version that the header defines.
func sqliteVersion(header string) (string, error) {
	text, err := os.ReadFile(header)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == "#define" && words[1] == "SQLITE_VERSION" {
			return strings.Trim(words[2], `"`), nil
		}
	}
	return "", fmt.Errorf("%s does not define SQLITE_VERSION", header)
}

// ofDriver finds the amalgamation of a driver written with cgo, with the flags
// that the driver compiles it with.
func (b *Builder) ofDriver(ctx context.Context, name string) (amalgamation, error) {
	d, err := b.Source.driver(name)
	if err != nil {
		return amalgamation{}, b.unknown(name, err)
	}
	if d.Module == "" || d.C || d.Prebuilt {
		return amalgamation{}, fmt.Errorf("%s is no driver written with cgo", name)
	}
	imports, _, err := readPackage(d.Dir)
	if err != nil {
		return amalgamation{}, err
	}
	imports = slices.DeleteFunc(imports, func(path string) bool { return path != d.Module && !strings.HasPrefix(path, d.Module+"/") })
	args := append([]string{"list", "-f", "{{range .CgoCFLAGS}}{{.}}\n{{end}}"}, imports...)
	out, err := run(ctx, d.Dir, []string{"GOWORK=off", "GOFLAGS=-mod=readonly", "CGO_ENABLED=1"}, args...)
	if err != nil {
		return amalgamation{}, err
	}
	a, err := fetchAmalgamation(ctx, d.Dir, d.Module)
	if errors.Is(err, errNoAmalgamation) {
		return a, fmt.Errorf("%s is no driver written with cgo: %w", name, err)
	}
	a.flags = slices.DeleteFunc(strings.Fields(string(out)), func(flag string) bool { return strings.HasPrefix(flag, "-I") })
	return a, err
}
