package lint

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"runtime"
	"slices"
	"strings"

	"assay/internal/sys/file"

	"golang.org/x/tools/go/packages"
)

// loader reads the types of packages from their sources. It compiles nothing:
// a driver takes minutes to compile, and of most packages that a program
// imports nothing has to be known but their names.
type loader struct {
	fset   *token.FileSet
	parsed map[string]*ast.File
	wrong  map[string]error          // syntax, by file
	done   map[string]*types.Package // by ID of the package
}

func newLoader() *loader {
	return &loader{token.NewFileSet(), map[string]*ast.File{}, map[string]error{}, map[string]*types.Package{}}
}

// known are the packages beside the module's own whose types the rules look
// at, and what those are made of.
var known = []string{"database/sql", "database/sql/driver", "context", "time", "net/url", "github.com/jmoiron/sqlx", "gorm.io/gorm", "entgo.io/ent/dialect"}

// packages returns packages with their types, as far as those are looked at.
func (l *loader) packages(roots []*packages.Package) ([]*packages.Package, error) {
	var all []*packages.Package
	for _, root := range roots {
		if strings.HasSuffix(root.PkgPath, ".test") || len(root.GoFiles) == 0 {
			continue
		}
		read := *root
		read.Fset, read.TypesSizes = l.fset, types.SizesFor("gc", runtime.GOARCH)
		read.TypesInfo = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{}, Scopes: map[ast.Node]*types.Scope{},
			Instances: map[*ast.Ident]types.Instance{}, FileVersions: map[*ast.File]string{}}
		var err error
		if read.Syntax, err = l.files(root); err != nil {
			return nil, err
		}
		read.Errors = nil // of packages that it imports, or embeds: nothing to do with settings
		for _, name := range root.GoFiles {
			if err := l.wrong[name]; err != nil {
				read.Errors = append(read.Errors, packages.Error{Pos: name, Msg: err.Error(), Kind: packages.ParseError})
			}
		}
		read.Types = l.check(root, read.Syntax, read.TypesInfo)
		all = append(all, &read)
	}
	return all, nil
}

// maxSource is the size above which a file of Go is not read.
const maxSource = 64 << 20

// files parses a package. Files with wrong syntax are read as far as possible.
func (l *loader) files(pkg *packages.Package) ([]*ast.File, error) {
	var all []*ast.File
	for _, name := range pkg.GoFiles {
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
func (l *loader) check(pkg *packages.Package, files []*ast.File, info *types.Info) *types.Package {
	config := types.Config{Importer: imports{l, pkg}, FakeImportC: true, IgnoreFuncBodies: info == nil, Error: func(error) {}}
	checked, _ := config.Check(pkg.PkgPath, l.fset, files, info)
	return checked
}

// imports imports for one package.
type imports struct {
	*loader
	pkg *packages.Package
}

func (i imports) Import(name string) (*types.Package, error) {
	dep := i.pkg.Imports[name]
	switch {
	case name == "unsafe":
		return types.Unsafe, nil
	case dep == nil:
		return nil, errors.New("not imported")
	case i.done[dep.ID] != nil:
		return i.done[dep.ID], nil
	case slices.Contains(known, name) || dep.Module != nil && dep.Module.Main:
		files, err := i.files(dep)
		if err != nil {
			return nil, err
		}
		i.done[dep.ID] = i.check(dep, files, nil)
		return i.done[dep.ID], nil
	}
	short := dep.Name
	if short == "" { // it was never downloaded
		short = path.Base(name)
	}
	stub := types.NewPackage(name, short)
	stub.MarkComplete()
	i.done[dep.ID] = stub
	return stub, nil
}
