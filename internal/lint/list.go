package lint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/internal/lint/facts"
	"assay/internal/sys/child"
	"assay/internal/sys/file"

	"golang.org/x/mod/modfile"
)

// listed is a package as the go command lists it.
type listed struct {
	ImportPath, Name, Dir, ForTest             string
	GoFiles, CgoFiles, IgnoredGoFiles, Imports []string
	ImportMap                                  map[string]string
	DepOnly                                    bool // no pattern names it
	Module                                     *moduleInfo
	Error                                      *struct{ Pos, Err string }

	path  string // ImportPath without the test that it is built for
	files []string
}

type moduleInfo struct {
	Path, Version, GoMod string
	Main                 bool
	Replace              *moduleInfo
}

// own reports whether the package is one of the modules that are worked on.
func (l *listed) own() bool { return l.Module != nil && l.Module.Main }

// program is the packages of a module with all that they are made of.
type program struct {
	libraries libraries
	byID      map[string]*listed
	byPath    map[string]*listed
	all       []*listed // what is imported comes first
	roots     []*listed
}

// imported is the package that an import of a package means; nil where it is not there.
func (p *program) imported(of *listed, name string) *listed {
	return p.byID[cmp.Or(of.ImportMap[name], name)]
}

// loadProgram asks the go command what packages are made of.
func loadProgram(ctx context.Context, dir string, patterns []string, table *facts.Table) (*program, error) {
	if err := file.CheckGo(dir); err != nil {
		return nil, err
	}
	const fields = "-json=ImportPath,Name,Dir,ForTest,GoFiles,CgoFiles,IgnoredGoFiles,Imports,ImportMap,DepOnly,Module,Error"
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-e", "-deps", "-test", fields, "--"}, patterns...)...)
	var out, problems bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &problems
	if err := child.Run(cmd); err != nil {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("load packages: go list: %w: %s", err, bytes.TrimSpace(problems.Bytes())))
	}
	p := &program{libraries: librariesOf(table.Drivers), byID: map[string]*listed{}, byPath: map[string]*listed{}}
	files := 0
	for in := json.NewDecoder(&out); in.More(); {
		l := &listed{}
		if err := in.Decode(l); err != nil {
			return nil, fmt.Errorf("load packages: %w", err)
		}
		l.prepare()
		p.byID[l.ImportPath], p.byPath[l.path] = l, l
		p.all = append(p.all, l)
		if !l.DepOnly {
			p.roots, files = append(p.roots, l), files+len(l.files)
		}
	}
	if files > 0 {
		return p, nil
	}
	for _, root := range p.roots {
		if root.Error != nil {
			return nil, nothing(dir, root.path, root.Error.Err)
		}
	}
	return nil, fmt.Errorf("no packages match %s", strings.Join(patterns, " "))
}

func (l *listed) prepare() {
	l.path, _, _ = strings.Cut(l.ImportPath, " ")
	for _, name := range slices.Concat(l.GoFiles, l.CgoFiles) {
		l.files = append(l.files, filepath.Join(l.Dir, name))
	}
	if l.Error == nil {
		return
	}
	l.Error.Err = strings.TrimSpace(l.Error.Err)
	name, _, _ := strings.Cut(l.Error.Pos, ":")
	if broken := filepath.Join(l.Dir, filepath.Base(name)); name != "" && strings.HasSuffix(name, ".go") && !slices.Contains(l.files, broken) {
		if _, err := os.Stat(broken); err == nil { // it is read as far as possible
			l.files = append(l.files, broken)
		}
	}
}

// nothing says that a pattern matches no package. The go command takes a folder
// without ./ before it for a package of the standard library.
func nothing(dir, pattern, problem string) error {
	if !strings.Contains(problem, "is not in std") {
		return fmt.Errorf("no packages match: %s", problem)
	}
	if info, err := os.Stat(filepath.Join(dir, pattern)); err == nil && info.IsDir() {
		return fmt.Errorf("no packages match %s: write ./%s for the folder, or ./%s/... with those below it", pattern, pattern, pattern)
	}
	return fmt.Errorf("no packages match %s: write ./FOLDER for a folder of the module, ./... for all of them", pattern)
}

// see notes where the program uses SQLite, and what of it is not there.
func (p *program) see(result *Result) {
	first := ""
	for _, l := range p.all {
		if len(l.files) == 0 && l.Error != nil && !strings.Contains(l.Error.Err, "build constraints exclude") {
			result.Missing++
			problem, _, _ := strings.Cut(l.Error.Err, "\n")
			first = cmp.Or(first, l.path+": "+problem)
		}
	}
	if result.Missing > 0 {
		result.Broken = append(result.Broken, fmt.Sprintf("imported packages that are not there: %d, such as %s; go mod download fetches modules", result.Missing, first))
	}
	for _, root := range p.roots {
		if root.ForTest != "" || strings.HasSuffix(root.path, ".test") {
			continue
		}
		for _, path := range root.Imports {
			if p.forSQLite(path) {
				result.unjudged(root.path, path, "")
			}
		}
		for _, name := range root.IgnoredGoFiles {
			paths := excludedImports(root.Dir, name)
			if i := slices.IndexFunc(paths, p.forSQLite); i >= 0 {
				result.unjudged(root.path, paths[i], " in "+name+", which build constraints leave out (GOFLAGS=-tags=TAG has it read)")
			}
		}
	}
}

// unjudged notes that a package imports another for SQLite.
func (r *Result) unjudged(pkg, imported, where string) {
	r.Seen++
	if r.Judged == 0 {
		r.Broken = append(r.Broken, fmt.Sprintf("%s imports %s%s, and no call that opens SQLite was judged", pkg, imported, where))
	}
}

// excludedImports are what a file imports that only lacks tags to be a part of the build.
func excludedImports(dir, name string) (paths []string) {
	text, err := file.Read(filepath.Join(dir, name), maxSource)
	if err != nil || strings.HasSuffix(name, "_test.go") {
		return nil
	}
	with := build.Default
	for line := range strings.Lines(string(text)) {
		expr, err := constraint.Parse(strings.TrimSpace(line))
		if err != nil {
			continue
		}
		expr.Eval(func(tag string) bool {
			if !notByTags.MatchString(tag) && !strings.Contains(expr.String(), "!"+tag) {
				with.BuildTags = append(with.BuildTags, tag)
			}
			return true
		})
	}
	if built, err := with.MatchFile(dir, name); err != nil || !built {
		return nil
	}
	f, _ := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	for _, i := range f.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		paths = append(paths, path)
	}
	return paths
}

// notByTags are tags that nobody sets to build a program: platforms, and those that keep a file out.
var notByTags = regexp.MustCompile(`^(ignore|tools|unix|aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|windows|` +
	`386|amd64|arm|arm64|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm|go1\..*)$`)

// forSQLite reports whether a package is for SQLite, also one that no experiment is about, and not
// one of the modules that are worked on.
func (p *program) forSQLite(path string) bool {
	l := p.byPath[path]
	own := l != nil && l.own() || l == nil && slices.ContainsFunc(p.roots, func(r *listed) bool {
		return r.own() && strings.HasPrefix(path+"/", r.Module.Path+"/")
	})
	return !own && ofSQLite.MatchString(path)
}

var ofSQLite = regexp.MustCompile(`(?i)sqlite|sqlcipher|libsql`)

// version is the driver that the program has, with the version that was chosen.
func (p *program) version(path string) (Driver, bool) {
	l := p.byPath[path]
	if l == nil {
		return Driver{}, false
	}
	d := Driver{Name: p.libraries.all[path].driver}
	switch module := l.Module; {
	case module == nil: // it was never downloaded
		d.Version = p.required(p.libraries.all[path].Module)
	case module.Replace == nil:
		d.Version = module.Version
	case module.Replace.Path == p.libraries.all[path].Module:
		d.Version = module.Replace.Version
	}
	return d, true
}

// required is the version of a module in go.mod; empty where it is replaced.
func (p *program) required(module string) string {
	for _, root := range p.roots {
		if root.Module == nil || root.Module.GoMod == "" {
			continue
		}
		data, err := file.Read(root.Module.GoMod, file.MaxModule)
		if err != nil {
			return ""
		}
		mod, err := modfile.Parse(root.Module.GoMod, data, nil)
		if err != nil || slices.ContainsFunc(mod.Replace, func(r *modfile.Replace) bool { return r.Old.Path == module }) {
			return ""
		}
		for _, r := range mod.Require {
			if r.Mod.Path == module {
				return r.Mod.Version
			}
		}
	}
	return ""
}

// resolve finds out whether a package reaches a driver: it imports it, or a
// program of these packages imports both, or, last, any of the packages does.
func (p *program) resolve(pkg, library string) (Driver, bool) {
	driver, there := p.version(library)
	if !there {
		return Driver{}, false
	}
	for _, other := range p.libraries.paths() {
		if other == library || p.libraries.all[other].SQL != p.libraries.all[library].SQL || p.byPath[other] == nil {
			continue
		}
		// Two drivers of one name: only a package that imports one of them tells.
		if !p.reaches(pkg, library) || p.reaches(pkg, other) {
			return Driver{}, false
		}
	}
	return driver, true
}

// reaches reports whether a package imports another, by itself or through others.
func (p *program) reaches(pkg, library string) bool {
	seen := map[*listed]bool{nil: true}
	var look func(l *listed) bool
	look = func(l *listed) bool {
		if seen[l] {
			return false
		}
		seen[l] = true
		return l.path == library || slices.ContainsFunc(l.Imports, func(name string) bool { return look(p.imported(l, name)) })
	}
	return look(p.byPath[pkg])
}
