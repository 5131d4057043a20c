package build

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assay/internal/build/catalog"
	"assay/internal/sys/file"
)

// Driver is a worker that the source holds.
type Driver struct {
	Name     string // of its folder
	Dir      string
	Module   string // the driver library; empty where the worker has none, or is prebuilt
	Version  string // of Module, as the worker's go.mod pins it
	About    string // one sentence, from the worker's package comment or README
	Prebuilt bool   // has an executable file named worker instead of a go.mod
	C        bool   // is written in C: Module is where it has SQLite from
	Script   bool   // has an executable file named worker that loads SQLite as a library: Module is where it has that from
	Installs bool   // has an executable file named build, which installs what a script needs
	Store    bool   // is of a key-value store, and runs no SQL
	Server   bool   // is of a PostgreSQL server
	DuckDB   bool   // is of DuckDB
	// Ecosystem is where the driver's library is published as Package, in versions of which
	// its lock file has Pinned; empty: the driver has no versions.
	Ecosystem       Ecosystem
	Package, Pinned string
	Caution         string // what to know before choosing it; * leaves it out then
}

// IsGo reports whether the driver is a Go library.
func (d Driver) IsGo() bool { return d.Module != "" && !d.C && !d.Script && !d.Prebuilt }

var errNoWorker = errors.New("neither go.mod nor an executable file named worker")

// Drivers returns what the source holds, sorted by name. Where some cannot be
// read, the others are returned together with an error.
func (s Source) Drivers() ([]Driver, error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir, "workers"))
	if err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	var drivers []Driver
	var problems []error
	for _, entry := range entries {
		if !namePattern.MatchString(entry.Name()) {
			continue
		}
		d, err := s.driver(entry.Name())
		switch {
		case err == nil:
			drivers = append(drivers, d)
		case !errors.Is(err, errNoWorker):
			problems = append(problems, err)
		}
	}
	return drivers, errors.Join(problems...)
}

func (s Source) driver(name string) (Driver, error) {
	known, err := catalog.Of(filepath.Join(s.Dir, "workers", name))
	if err != nil {
		return Driver{}, err
	}
	d := Driver{Name: name, Dir: known.Dir, Caution: known.Caution}
	data, err := file.Read(filepath.Join(d.Dir, "go.mod"), file.MaxModule)
	if err != nil {
		return d.prebuilt()
	}
	mod, err := parseGoMod(data)
	if err != nil {
		return Driver{}, fmt.Errorf("workers/%s/go.mod: %w", name, err)
	}
	if err := d.kind(); err != nil {
		return Driver{}, fmt.Errorf("workers/%s: %w", name, err)
	}
	if d.C || d.Script {
		return d.ofModule(mod)
	}
	if err := d.ofPackage(mod); err != nil {
		return Driver{}, fmt.Errorf("workers/%s: %w", name, err)
	}
	return d, nil
}

// kind finds out whether a folder without Go files has C files, or an executable file named
// worker.
func (d *Driver) kind() error {
	goFiles, err := filepath.Glob(filepath.Join(d.Dir, "*.go"))
	if err != nil || len(goFiles) > 0 {
		return err
	}
	c, err := filepath.Glob(filepath.Join(d.Dir, "*.c"))
	d.C, d.Script = len(c) > 0, isExecutable(filepath.Join(d.Dir, "worker"))
	return err
}

// ofPackage takes the driver that the Go files of a worker import.
func (d *Driver) ofPackage(mod goMod) error {
	imports, comment, err := readPackage(d.Dir)
	if err != nil {
		return err
	}
	d.Module, err = driverModule(mod, imports)
	d.Version = mod.requires[d.Module]
	d.Store = slices.Contains(imports, "assay/kit/kvdb")
	d.Server = slices.Contains(imports, "assay/kit/postgres")
	d.DuckDB = slices.Contains(imports, "assay/kit/duckdb")
	d.About = cmp.Or(new(doc.Package).Synopsis(comment), title(readme(d.Dir)))
	if d.Module != "" {
		d.Ecosystem, d.Package, d.Pinned = Go, d.Module, d.Version
	}
	return err
}

// ofModule takes the one module that a worker in C requires.
func (d Driver) ofModule(mod goMod) (Driver, error) {
	if len(mod.requires) != 1 {
		return Driver{}, fmt.Errorf("workers/%s/go.mod requires %d modules: a worker that is not in Go requires the one that holds SQLite", d.Name, len(mod.requires))
	}
	for d.Module, d.Version = range mod.requires {
	}
	d.ofReadme()
	return d, nil
}

// ofReadme takes what a folder without Go files says of its driver.
func (d *Driver) ofReadme() {
	if d.Installs = !d.C && isExecutable(filepath.Join(d.Dir, installer)); d.Installs {
		d.library()
	}
	d.About = title(readme(d.Dir))
}

func (d Driver) prebuilt() (Driver, error) {
	if !isExecutable(filepath.Join(d.Dir, "worker")) {
		return Driver{}, fmt.Errorf("workers/%s: %w", d.Name, errNoWorker)
	}
	d.Prebuilt = true
	d.ofReadme()
	main, _ := os.ReadFile(filepath.Join(d.Dir, "main.rs")) // what is not in Rust has none
	d.Store = strings.Contains(string(main), "assay::store")
	return d, nil
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// readPackage returns what the Go files of a folder import, sorted, and the
// package comment.
func readPackage(dir string) (imports []string, comment string, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, "", err
	}
	seen := map[string]bool{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return nil, "", err
		}
		addImports(seen, f)
		comment = cmp.Or(comment, f.Doc.Text())
	}
	return slices.Sorted(maps.Keys(seen)), comment, nil
}

func addImports(seen map[string]bool, f *ast.File) {
	for _, spec := range f.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			seen[path] = true
		}
	}
}

// driverModule returns the one required module, other than kit, that the
// imports come from; empty where there is none. The imports decide, because
// "// indirect" comments are right only after go mod tidy.
func driverModule(mod goMod, imports []string) (string, error) {
	found := map[string]bool{}
	for _, path := range imports {
		if module := mod.provider(path); module != "" && module != kitModule {
			found[module] = true
		}
	}
	modules := slices.Sorted(maps.Keys(found))
	if len(modules) > 1 {
		return "", fmt.Errorf("imports %s: a worker imports one driver only", strings.Join(modules, " and "))
	}
	return strings.Join(modules, ""), nil
}

// readme is the text of a folder's README; empty where there is none.
func readme(dir string) string {
	names, _ := filepath.Glob(filepath.Join(dir, "README*"))
	if len(names) == 0 {
		return ""
	}
	data, _ := os.ReadFile(names[0]) // nothing is known of one that cannot be read
	return string(data)
}

// title is the first line of a README.
func title(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "# ")); line != "" {
			return line
		}
	}
	return ""
}
