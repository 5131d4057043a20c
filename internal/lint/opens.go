package lint

import (
	"go/ast"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/internal/build/catalog"
	"assay/internal/lint/facts"
)

// Driver is a worker's driver at the version that go.mod resolves; empty where that is none: a
// folder, or a fork.
type Driver = facts.Release

// library is a package that drivers are reached through.
type library struct {
	driver string // worker
	catalog.Go
}

// libraries are the packages of drivers, by import path, and openers the functions that take a
// DSN first, by package and name, with the package of the driver.
type libraries struct {
	all     map[string]library
	openers map[[2]string]string
}

func librariesOf(drivers []catalog.Driver) libraries {
	ls := libraries{map[string]library{}, map[[2]string]string{}}
	for _, d := range drivers {
		if d.Go == nil {
			continue
		}
		ls.all[d.Go.Package] = library{d.Name, *d.Go}
		for _, function := range d.Go.Open {
			dot := strings.LastIndexByte(function, '.')
			ls.openers[[2]string{function[:dot], function[dot+1:]}] = d.Go.Package
		}
	}
	return ls
}

// paths are the import paths.
func (ls libraries) paths() []string { return slices.Sorted(maps.Keys(ls.all)) }

// of is the package of libraries that a package belongs to, such as one for gorm.
func (ls libraries) of(path string) string {
	if _, there := ls.all[path]; there {
		return path
	}
	for at, o := range ls.openers {
		if at[0] == path {
			return o
		}
	}
	for _, l := range ls.all {
		if l.Module == path {
			return l.Package
		}
	}
	return ""
}

// opensByName are functions that open a database by the name of a driver of database/sql
// and a DSN behind it, also those of packages that nobody listed here.
var opensByName = regexp.MustCompile(`^(Must)?(Open|Connect|NewEngine)`)

// named are packages whose functions take the name of a driver first, whatever it is.
var named = []string{"database/sql", "github.com/jmoiron/sqlx", "entgo.io/ent/dialect/sql", "xorm.io/xorm", "github.com/go-xorm/xorm", "github.com/jinzhu/gorm", "github.com/pocketbase/dbx"}

// open is a call that opens a database of SQLite.
type open struct {
	call   *ast.CallExpr
	arg    ast.Expr // the DSN
	known  values   // of variables in it
	dsn    dsn
	driver Driver
	pool   bool
	mixed  bool // the call opens databases in memory and others
}

// opens finds all calls of a package that open SQLite, each with every DSN that the program
// gives it. It also reports whether the package opens anything else.
func (c *checker) opens(files []*ast.File) (found []*open, others bool) {
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			path, name := c.function(call)
			library, direct := c.libraries.openers[[2]string{path, name}]
			if dialect := c.dialect(call.Args[0]); path == "gorm.io/gorm" && dialect != "" { // gorm.Open(sqlite.Dialector{...})
				library, direct = dialect, true
			}
			switch {
			case path == "database/sql" && name == "OpenDB" && !c.isTest(call) && c.reaches():
				c.note(call.Pos(), Driver{}, "sql.OpenDB", "what its connector sets is not followed")
			case direct:
				for _, o := range ways(c.evaluator, func(known values) *open { return c.openedBy(call, call.Args[0], library, known) }) {
					found, others = c.keepOpen(found, o, others)
				}
			case path != "" && opensByName.MatchString(name) && c.functions[c.object(call.Fun)] == nil:
				for _, o := range ways(c.evaluator, func(known values) *open { return c.openedByName(path, call, known) }) {
					found, others = c.keepOpen(found, o, others)
				}
			}
			return true
		})
	}
	return found, others
}

// keepOpen keeps an open of SQLite. An open of a driver that only the running program knows may
// be one.
func (c *checker) keepOpen(found []*open, o *open, others bool) ([]*open, bool) {
	switch {
	case o == nil:
		return found, others
	case o.driver.Name == "":
		return found, true
	case slices.ContainsFunc(found, func(other *open) bool {
		return other.call == o.call && other.arg == o.arg && other.dsn.text == o.dsn.text
	}):
		return found, others
	}
	for _, other := range found {
		if other.call == o.call && (other.dsn.memory == "") != (o.dsn.memory == "") {
			o.mixed, other.mixed = true, true
		}
	}
	return append(found, o), others
}

// dialect is the package of the driver of a literal such as sqlite.Dialector; empty where it
// is none.
func (c *checker) dialect(x ast.Expr) string {
	literal, ok := c.source(x, nil).(*ast.CompositeLit)
	if !ok {
		return ""
	}
	selector, ok := literal.Type.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	path, _ := c.imported(selector.X)
	return c.libraries.openers[[2]string{path, "Open"}]
}

// openedBy is an open by a function that takes a DSN, or a literal with a field of that name
// and perhaps one with the name of another driver.
func (c *checker) openedBy(call *ast.CallExpr, arg ast.Expr, library string, known values) *open {
	if literal, ok := c.source(arg, known).(*ast.CompositeLit); ok && len(c.fields[c.object(arg)]) == 0 { // nothing is changed later
		for _, element := range literal.Elts {
			pair, ok := element.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			switch key, _ := pair.Key.(*ast.Ident); {
			case key != nil && key.Name == "DSN":
				arg = pair.Value
			case key != nil && key.Name == "DriverName":
				library, _ = c.library(c.text(pair.Value, known), known)
			}
		}
	}
	driver, ok := c.resolve(c.pkg, library)
	if !ok {
		return nil
	}
	return &open{call: call, arg: arg, known: known, dsn: parseDSN(c.text(arg, known)), driver: driver, pool: c.libraries.all[library].SQL != ""}
}

// openedByName is an open by a function that takes the name of a driver and a DSN; nil where
// it is none, without a driver where it opens something else.
func (c *checker) openedByName(path string, call *ast.CallExpr, known values) *open {
	for i, arg := range call.Args[:len(call.Args)-1] {
		if t := c.typeOf(arg); t != nil && !types.AssignableTo(t, types.Typ[types.String]) && t != types.Typ[types.Invalid] {
			continue
		}
		name := c.text(arg, known)
		library, ok := c.library(name, known)
		if !ok {
			continue
		}
		if driver, ok := c.resolve(c.pkg, library); ok {
			return &open{call: call, arg: call.Args[i+1], known: known, dsn: parseDSN(c.text(call.Args[i+1], known)), driver: driver, pool: true}
		}
		if !c.isTest(call) && c.reaches() {
			c.note(call.Pos(), Driver{}, strconv.Quote(name), "which driver has this name is not known")
		}
		return &open{}
	}
	if !slices.Contains(named, path) {
		return nil
	}
	first := 0
	if len(call.Args) > 2 { // behind a context
		first = 1
	}
	if c.text(call.Args[first], known) == unknown && c.wanted == nil && !c.isTest(call) && c.reaches() {
		c.note(call.Pos(), Driver{}, "the name of the driver", onlyRunning)
	}
	return &open{}
}

const onlyRunning = "only the running program knows it"

// library is the package of the driver that has a name of database/sql.
func (c *checker) library(name string, known values) (string, bool) {
	for _, r := range c.registered {
		if c.text(r.name, known) == name {
			return r.library, true
		}
	}
	found := false
	for _, path := range c.libraries.paths() {
		if l := c.libraries.all[path]; l.SQL == name && name != "" {
			found = true
			if _, ok := c.resolve(c.pkg, path); ok {
				return path, true
			}
		}
	}
	return "", found
}

// reaches reports whether the package's program has a driver of SQLite.
func (c *checker) reaches() bool {
	return slices.ContainsFunc(c.libraries.paths(), func(path string) bool {
		_, ok := c.resolve(c.pkg, path)
		return ok
	})
}
