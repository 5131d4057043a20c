package lint

import "go/ast"

// Driver is a driver at a version.
type Driver struct {
	Name    string // of assay's worker
	Version string // as go.mod resolves it; empty where that is no version: a folder, or a fork
}

// library is a package that drivers are reached through.
type library struct {
	driver  string // worker
	module  string
	sqlName string // registered with database/sql; empty: it has an API of its own
}

// libraries are the packages of drivers, by import path.
var libraries = map[string]library{
	"github.com/mattn/go-sqlite3":          {"mattn", "github.com/mattn/go-sqlite3", "sqlite3"},
	"modernc.org/sqlite":                   {"modernc", "modernc.org/sqlite", "sqlite"},
	"github.com/glebarez/go-sqlite":        {"glebarez", "github.com/glebarez/go-sqlite", "sqlite"},
	"github.com/ncruces/go-sqlite3/driver": {"ncruces", "github.com/ncruces/go-sqlite3", "sqlite3"},
	"zombiezen.com/go/sqlite":              {"zombiezen", "zombiezen.com/go/sqlite", ""},
	"crawshaw.io/sqlite":                   {"crawshaw", "crawshaw.io/sqlite", ""},
	"github.com/eatonphil/gosqlite":        {"eatonphil", "github.com/eatonphil/gosqlite", ""},
}

type opener struct {
	name int    // argument with the driver's name of database/sql; -1: none
	dsn  int    // argument with the DSN
	path string // package of the driver, where no argument names it
	pool bool
}

// openers are known by package and name.
var openers = map[[2]string]opener{
	{"database/sql", "Open"}:                           {name: 0, dsn: 1, pool: true},
	{"github.com/jmoiron/sqlx", "Open"}:                {name: 0, dsn: 1, pool: true},
	{"github.com/jmoiron/sqlx", "MustOpen"}:            {name: 0, dsn: 1, pool: true},
	{"github.com/jmoiron/sqlx", "Connect"}:             {name: 0, dsn: 1, pool: true},
	{"github.com/jmoiron/sqlx", "MustConnect"}:         {name: 0, dsn: 1, pool: true},
	{"github.com/jmoiron/sqlx", "ConnectContext"}:      {name: 1, dsn: 2, pool: true},
	{"entgo.io/ent/dialect/sql", "Open"}:               {name: 0, dsn: 1, pool: true},
	{"gorm.io/driver/sqlite", "Open"}:                  {name: -1, dsn: 0, path: "github.com/mattn/go-sqlite3", pool: true},
	{"github.com/glebarez/sqlite", "Open"}:             {name: -1, dsn: 0, path: "github.com/glebarez/go-sqlite", pool: true},
	{"github.com/ncruces/go-sqlite3/gormlite", "Open"}: {name: -1, dsn: 0, path: "github.com/ncruces/go-sqlite3/driver", pool: true},
	{"github.com/ncruces/go-sqlite3/driver", "Open"}:   {name: -1, dsn: 0, path: "github.com/ncruces/go-sqlite3/driver", pool: true},
	{"zombiezen.com/go/sqlite", "OpenConn"}:            {name: -1, dsn: 0, path: "zombiezen.com/go/sqlite"},
	{"zombiezen.com/go/sqlite/sqlitex", "NewPool"}:     {name: -1, dsn: 0, path: "zombiezen.com/go/sqlite"},
	{"zombiezen.com/go/sqlite/sqlitex", "Open"}:        {name: -1, dsn: 0, path: "zombiezen.com/go/sqlite"},
	{"crawshaw.io/sqlite", "OpenConn"}:                 {name: -1, dsn: 0, path: "crawshaw.io/sqlite"},
	{"crawshaw.io/sqlite/sqlitex", "Open"}:             {name: -1, dsn: 0, path: "crawshaw.io/sqlite"},
	{"github.com/eatonphil/gosqlite", "Open"}:          {name: -1, dsn: 0, path: "github.com/eatonphil/gosqlite"},
}

// open is a call that opens a database of SQLite.
type open struct {
	call   *ast.CallExpr
	arg    ast.Expr // the DSN
	dsn    dsn
	driver Driver
	pool   bool
}

// opens finds all calls of a package that open SQLite. It also reports whether
// the package opens anything else.
func (c *checker) opens(files []*ast.File) (found []*open, others bool) {
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			path, name := c.function(call)
			opener, ok := openers[[2]string{path, name}]
			if !ok || len(call.Args) <= opener.dsn {
				return true
			}
			driver, known := c.driver(call, opener)
			if !known {
				others = true
				return true
			}
			arg := call.Args[opener.dsn]
			found = append(found, &open{call, arg, parseDSN(c.text(arg)), driver, opener.pool})
			return true
		})
	}
	return found, others
}

func (c *checker) driver(call *ast.CallExpr, o opener) (Driver, bool) {
	if o.name < 0 {
		return c.resolve(c.pass.Pkg.Path(), o.path)
	}
	name := c.text(call.Args[o.name])
	for path, l := range libraries {
		if l.sqlName == name && l.sqlName != "" {
			if driver, ok := c.resolve(c.pass.Pkg.Path(), path); ok {
				return driver, true
			}
		}
	}
	return Driver{}, false
}
