package lint

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"assay/internal/sys/file"
)

// loader reads the types of packages from their sources. It compiles nothing:
// a driver takes minutes to compile, and of most packages that a program
// imports nothing has to be known but their names.
type loader struct {
	*program
	fset   *token.FileSet
	parsed map[string]*ast.File
	wrong  map[string]error          // syntax, by file
	done   map[string]*types.Package // by ID of the package
}

func newLoader(p *program) *loader {
	return &loader{p, token.NewFileSet(), map[string]*ast.File{}, map[string]error{}, map[string]*types.Package{}}
}

// known are the packages beside the module's own whose types the rules look
// at, and what those are made of.
var known = []string{"database/sql", "database/sql/driver", "context", "time", "net/url", "github.com/jmoiron/sqlx", "gorm.io/gorm", "entgo.io/ent/dialect"}

// sourcePackage is a package whose source is looked at, with its types as far as those are.
type sourcePackage struct {
	path  string
	files []*ast.File
	info  *types.Info
	wrong error // of its syntax
}

// packages returns the packages that are looked at.
func (l *loader) packages() ([]*sourcePackage, error) {
	var all []*sourcePackage
	for _, root := range l.roots {
		if strings.HasSuffix(root.path, ".test") || len(root.files) == 0 {
			continue
		}
		files, err := l.files(root)
		if err != nil {
			return nil, err
		}
		read := &sourcePackage{path: root.path, files: files, info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{},
			Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}}
		for _, name := range root.files {
			if read.wrong == nil {
				read.wrong = l.wrong[name]
			}
		}
		l.check(root, files, read.info)
		all = append(all, read)
	}
	return all, nil
}

// maxSource is the size above which a file of Go is not read.
const maxSource = 64 << 20

// files parses a package. Files with wrong syntax are read as far as possible.
func (l *loader) files(of *listed) ([]*ast.File, error) {
	var all []*ast.File
	for _, name := range of.files {
		if l.parsed[name] == nil {
			text, err := file.Read(name, maxSource)
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", name, err)
			}
			f, err := parser.ParseFile(l.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
			l.parsed[name], l.wrong[name] = f, err
		}
		all = append(all, l.parsed[name])
	}
	return all, nil
}

// check finds out types. What is unknown is an error to the type checker,
// which goes on without.
func (l *loader) check(of *listed, files []*ast.File, info *types.Info) *types.Package {
	config := types.Config{Importer: imports{l, of}, FakeImportC: true, IgnoreFuncBodies: info == nil, Error: func(error) {}}
	checked, _ := config.Check(of.path, l.fset, files, info)
	return checked
}

// imports imports for one package.
type imports struct {
	*loader
	of *listed
}

func (i imports) Import(name string) (*types.Package, error) {
	dep := i.imported(i.of, name)
	switch {
	case name == "unsafe":
		return types.Unsafe, nil
	case dep == nil:
		return nil, errors.New("not imported")
	case i.done[dep.ImportPath] != nil:
		return i.done[dep.ImportPath], nil
	case slices.Contains(known, name) || dep.own():
		files, err := i.files(dep)
		if err != nil {
			return nil, err
		}
		i.done[dep.ImportPath] = i.check(dep, files, nil)
		return i.done[dep.ImportPath], nil
	}
	short := dep.Name
	if short == "" { // it was never downloaded
		short = path.Base(name)
	}
	stub := types.NewPackage(name, short)
	stub.MarkComplete()
	i.done[dep.ImportPath] = stub
	return stub, nil
}
