package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"assay/internal/lint/facts"
	"assay/kit/sqlite"
)

// pools holds what a package does with its pools.
type pools struct {
	single  bool // some pool is limited to one connection
	unsure  bool // a limit is no constant
	hooks   bool // something runs on each new connection
	maximum int64
	limits  map[token.Pos]limit
	pragmas []pragmaCall
}

type limit struct {
	open, idle     int64
	openSet, idler bool
	at             token.Pos
}

type pragmaCall struct {
	arg   ast.Expr
	known values
	text  string
	pool  token.Pos
	of    types.Type // of the expression that the method is called on
}

// hookNames are functions and fields through which programs run statements on
// every new connection.
var hookNames = []string{"ConnectHook", "RegisterConnectionHook", "OpenConnector", "PrepareConn"}

func (c *checker) findPools(files []*ast.File) pools {
	p := pools{limits: map[token.Pos]limit{}}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				own := c.functions[c.object(n)] // a function of the program's own only has the name
				p.hooks = p.hooks || slices.Contains(hookNames, n.Name) && (own == nil || own.Recv != nil)
			case *ast.CallExpr:
				path, name := c.function(n)
				p.hooks = p.hooks || path == "database/sql" && name == "OpenDB"
				c.poolCall(&p, n)
			}
			return true
		})
	}
	return p
}

func (c *checker) poolCall(p *pools, call *ast.CallExpr) {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	pool := c.object(selector.X)
	l := p.limits[pool]
	switch selector.Sel.Name {
	case "SetMaxOpenConns":
		n, constant := c.number(call.Args[0])
		l.open, l.openSet, l.at = n, constant, call.Pos()
		p.single = p.single || constant && n == 1
		p.unsure = p.unsure || !constant
		p.maximum = max(p.maximum, n)
	case "SetMaxIdleConns":
		n, constant := c.number(call.Args[0])
		l.idle, l.idler = n, true
		if !constant {
			l.idle = 1 << 30
		}
	case "Exec", "ExecContext", "MustExec":
		if c.isPool(selector.X) && pool.IsValid() { // not what another function gives
			arg := call.Args[0]
			if selector.Sel.Name == "ExecContext" && len(call.Args) > 1 {
				arg = call.Args[1]
			}
			p.pragmas = append(p.pragmas, ways(c.evaluator, func(known values) pragmaCall {
				return pragmaCall{arg, known, c.text(arg, known), pool, c.typeOf(selector.X)}
			})...)
		}
		return
	default:
		return
	}
	if pool.IsValid() {
		p.limits[pool] = l
	}
}

const gormDB = "gorm.io/gorm.DB"

// isPool reports whether an expression is a pool of connections.
func (c *checker) isPool(x ast.Expr) bool {
	return slices.Contains([]string{"database/sql.DB", "github.com/jmoiron/sqlx.DB", gormDB}, typeName(c.typeOf(x)))
}

// typeName is the path and the name of a type, of what a pointer leads to, or of the first
// result of a call; empty where it has none.
func typeName(t types.Type) string {
	if results, ok := t.(*types.Tuple); ok && results.Len() > 0 {
		t = results.At(0).Type()
	}
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	return named.Obj().Pkg().Path() + "." + named.Obj().Name()
}

// oneConnection says how a program limits its pool to one connection. A DB of gorm has no
// method for that: its pool has.
func oneConnection(pool types.Type) string {
	if typeName(pool) == gormDB {
		return "call SetMaxOpenConns(1) on the *sql.DB that the method DB returns"
	}
	return "call SetMaxOpenConns(1)"
}

// checkPragmas looks at PRAGMAs that belong to a connection, in packages that
// open SQLite: of a pool that another package makes, nobody can tell here how
// many connections it has. Where one pool of the package has one connection
// only, nobody can tell which.
func (c *checker) checkPragmas(opens []*open) {
	if len(opens) == 0 || c.pools.single || c.pools.hooks {
		return
	}
	handles := handles{c, opens}
	for _, call := range c.pools.pragmas {
		for statement := range strings.SplitSeq(call.text, ";") {
			name, value, ok := parsePragma(statement)
			if !ok || !ofConnection(name, value) {
				continue
			}
			c.checkPragma(call, handles, name, value)
		}
	}
}

func (c *checker) checkPragma(call pragmaCall, handles handles, name, value string) {
	made, seen := handles.of(call.pool)
	if slices.ContainsFunc(made, func(o *open) bool { return c.alsoByDSN(o, name, value) }) {
		return
	}
	at := c.place(call.arg, name, call.known)
	if c.pools.unsure {
		c.note(at, made[0].driver, "PRAGMA "+name, "only the running program knows how many connections its pool has")
		return
	}
	advice := "set it in the DSN, or " + oneConnection(call.of)
	if around := c.Facts.Judges(made[0].driver.Name, made[0].driver.Version, ""); len(made) == 1 && len(around) > 0 {
		advice = c.advice(made[0], facts.Option{Meaning: name}, value, around)
	}
	others := "keep the default"
	if !seen || slices.ContainsFunc(made, func(o *open) bool { return !o.dsn.whole }) {
		others = "have it only where their DSN sets it, and the DSN is not seen here in full"
	}
	c.report(at, PoolPragma, "PRAGMA %s reaches one connection of the pool; the others, and all that are opened later, %s; %s", name, others, advice)
}

// alsoByDSN reports whether connections have the setting without the PRAGMA.
func (c *checker) alsoByDSN(o *open, name, value string) bool {
	has := func(f facts.Facts) bool {
		read, valid := facts.Option{Meaning: name}.Reads(value)
		return o.sets(name, f) || valid && read == f.Defaults[name]
	}
	around := c.Facts.Judges(o.driver.Name, o.driver.Version, "")
	if others := c.Facts.Versions(o.driver.Name); len(around) == 0 && (len(others) == 0 || slices.ContainsFunc(others, has)) {
		c.Unmeasured = append(c.Unmeasured, o.driver.String())
	}
	return slices.ContainsFunc(around, has)
}

// parsePragma reads a PRAGMA that sets something.
func parsePragma(statement string) (name, value string, ok bool) {
	fields := strings.Fields(statement)
	if len(fields) < 2 || !strings.EqualFold(fields[0], "pragma") {
		return "", "", false
	}
	rest := strings.Join(fields[1:], " ")
	i := strings.IndexAny(rest, "=(")
	if i < 0 {
		return "", "", false
	}
	name = strings.ToLower(strings.TrimSpace(rest[:i]))
	if _, after, qualified := strings.Cut(name, "."); qualified {
		name = after
	}
	value = strings.Trim(strings.TrimSpace(rest[i+1:]), " ()'\"")
	return name, value, value != "" && !strings.Contains(name, unknown)
}

// ofConnection reports whether a PRAGMA is forgotten with its connection.
func ofConnection(name, value string) bool {
	if name == "journal_mode" { // WAL stays in the file
		return !strings.EqualFold(value, "wal") && !strings.Contains(value, unknown)
	}
	setting, known := sqlite.Lookup(name)
	return name == "case_sensitive_like" || known && setting.Pragma && !setting.OfFile && name != "analysis_limit" // that is for the ANALYZE behind it
}

// checkIdle looks at pools that keep fewer connections than they open.
func (c *checker) checkIdle() {
	for _, l := range c.pools.limits {
		kept := int64(2) // of database/sql
		if l.idler {
			kept = l.idle
		}
		if !l.openSet || l.open <= max(kept, 0) || l.open < 2 {
			continue
		}
		c.report(l.at, IdleBelow, "the pool opens up to %d connections and keeps %d: under load it closes and opens them all the time, and each has to read the schema again; call SetMaxIdleConns(%d)",
			l.open, max(kept, 0), l.open)
	}
}

// maxCache is the sum of the caches of a pool's connections that is worth a word.
const maxCache = 1 << 30

func (c *checker) checkCache(o *open, f facts.Facts) {
	for _, parameter := range o.dsn.parameters {
		s, value, known := facts.Parse(o.dsn.forms[0], parameter)
		effect, _ := f.Effect(s)
		n, err := strconv.ParseInt(value, 10, 64)
		if !known || s.Meaning != "cache_size" || effect != facts.Applied || err != nil {
			continue
		}
		bytes := n * 4096 // the size of a page
		if n < 0 {
			bytes = -n << 10
		}
		if c.pools.maximum > 1 && bytes*c.pools.maximum > maxCache {
			c.report(c.find(o, parameter), CacheSum, "%s is %d MB for each of up to %d connections: %d MB in all",
				parameter, bytes>>20, c.pools.maximum, bytes*c.pools.maximum>>20)
		}
	}
}

// handles tells which calls open the pools that a package's variables hold.
type handles struct {
	*checker
	opens []*open
}

// of returns the calls that may have opened a pool. Where they are not seen, these
// are all of the package; certain is false then, unless there is one only.
func (h handles) of(pool token.Pos) (all []*open, certain bool) {
	if all = h.opened(pool, 0); len(all) == 0 {
		return h.opens, len(h.opens) == 1 && len(h.assigned[pool]) == 0
	}
	return all, true
}

// opened are the calls whose result a variable or a field holds; none where one is not seen.
func (h handles) opened(pool token.Pos, depth int) (all []*open) {
	for _, a := range h.assigned[pool] {
		var made []*open
		switch rhs := a.rhs.(type) {
		case *ast.CallExpr:
			made = h.by(rhs, map[*ast.FuncDecl]bool{})
		case *ast.Ident, *ast.SelectorExpr:
			if variable := h.object(rhs); depth < maxSteps && variable.IsValid() && variable != pool {
				made = h.opened(variable, depth+1)
			}
		}
		if len(made) == 0 {
			return nil
		}
		all = append(all, made...)
	}
	return all
}

// by returns the calls that open SQLite when a call is made: itself, or those in a
// function of the package that it calls. Functions that were read are left out.
func (h handles) by(call *ast.CallExpr, read map[*ast.FuncDecl]bool) (all []*open) {
	for _, o := range h.opens {
		if o.call == call {
			all = append(all, o)
		}
	}
	if len(all) > 0 {
		return all
	}
	called := h.functions[h.object(call.Fun)]
	if called == nil || called.Body == nil || read[called] {
		return nil
	}
	read[called] = true
	ast.Inspect(called.Body, func(n ast.Node) bool {
		if inner, ok := n.(*ast.CallExpr); ok {
			all = append(all, h.by(inner, read)...)
		}
		return true
	})
	return all
}
