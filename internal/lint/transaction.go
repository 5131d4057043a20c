package lint

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// transaction is one that a function begins on a pool, and what it does first.
type transaction struct {
	begin       ast.Node
	pool        token.Pos
	read, write token.Pos // the first of each; a read behind the first write is none
}

// What begins a transaction, and what reads and writes in one: methods of database/sql, sqlx
// and gorm.
var (
	begins = []string{"Begin", "BeginTx", "Beginx", "BeginTxx", "MustBegin", "MustBeginTx"}
	reads  = []string{"Query", "QueryContext", "QueryRow", "QueryRowContext", "Queryx", "QueryRowx", "NamedQuery", "Get", "GetContext", "Select", "SelectContext",
		"First", "Take", "Last", "Find", "Count", "Pluck", "Scan"}
	writes = []string{"Exec", "ExecContext", "MustExec", "MustExecContext", "NamedExec", "NamedExecContext", "Create", "Save", "Update", "Updates", "Delete"}
)

// checkTransactions looks at transactions that read before they write. One that began deferred
// takes the lock for writing when it writes: too late, where another connection has written
// since it read.
func (c *checker) checkTransactions(opens []*open) {
	if len(opens) == 0 {
		opens = c.elsewhere
	}
	if len(opens) == 0 || c.pools.single {
		return
	}
	handles := handles{c, opens}
	for _, f := range c.files {
		if c.isTest(f) {
			continue
		}
		r := tracer{checker: c}
		for _, decl := range f.Decls {
			r.walk(decl, map[token.Pos]tracked{}, 0)
		}
		for _, t := range r.all {
			made, _ := handles.of(t.pool)
			if t.write.IsValid() && t.read.IsValid() && len(made) > 0 && !slices.ContainsFunc(made, c.notDeferred) {
				line := func(at token.Pos) int { return c.position(at).Line }
				c.report(t.begin.Pos(), DeferredWrite, "%s begins transactions deferred, and this one reads (line %d) before it writes (line %d): where another connection has written meanwhile, it fails at once, whatever busy_timeout says; write _txlock=immediate in the DSN of a pool that writes",
					made[0].driver.Name, line(t.read), line(t.write))
			}
		}
	}
}

// notDeferred reports whether transactions of a pool may begin otherwise than deferred, or
// meet no other connection.
func (c *checker) notDeferred(o *open) bool {
	lock := strings.ToLower(o.dsn.value("_txlock"))
	return !o.pool || !o.dsn.whole || o.dsn.memory != "" || lock != "" && lock != "deferred" && !o.inName(c.Facts.Judges(o.driver.Name, o.driver.Version, ""))
}

// tracked is a variable through which a transaction reads and writes: of its own, of a
// statement that it prepared, or of what was made of it.
type tracked struct {
	*transaction
	prepared *ast.CallExpr // nil: none
}

// tracer follows transactions through functions of the program.
type tracer struct {
	*checker
	all []*transaction
}

// walk looks at what a piece of source does with tracked variables, in its order.
func (r *tracer) walk(n ast.Node, of map[token.Pos]tracked, depth int) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			r.assigned(n, of)
		case *ast.CallExpr:
			r.called(n, of, depth)
		}
		return true
	})
}

// begin is a transaction that begins there.
func (r *tracer) begin(n ast.Node, pool token.Pos) tracked {
	t := &transaction{begin: n, pool: pool}
	r.all = append(r.all, t)
	return tracked{transaction: t}
}

// assigned looks at a variable that gets a transaction, or something that is made of one.
func (r *tracer) assigned(n *ast.AssignStmt, of map[token.Pos]tracked) {
	variable := r.object(n.Lhs[0])
	call, ok := n.Rhs[0].(*ast.CallExpr)
	if !ok || !variable.IsValid() {
		return
	}
	selector, method := call.Fun.(*ast.SelectorExpr)
	if method && slices.Contains(begins, selector.Sel.Name) && r.isPool(selector.X) {
		if _, again := of[variable]; !again && !readsOnly(call) {
			of[variable] = r.begin(call, r.object(selector.X))
		}
		return
	}
	if t, there := of[r.object(root(call.Fun))]; method && there && t.prepared == nil && strings.HasPrefix(selector.Sel.Name, "Prepare") {
		of[variable] = tracked{t.transaction, call}
		return
	}
	for _, arg := range call.Args { // queries.WithTx(tx)
		if t, there := of[r.object(arg)]; there && r.functions[r.object(call.Fun)] != nil && len(n.Lhs) == 1 {
			of[variable] = t
		}
	}
}

// called looks at a call that a transaction makes, or is given to.
func (r *tracer) called(call *ast.CallExpr, of map[token.Pos]tracked, depth int) {
	selector, method := call.Fun.(*ast.SelectorExpr)
	if method && selector.Sel.Name == "Transaction" && len(call.Args) > 0 && r.isPool(selector.X) { // of gorm
		if literal, ok := call.Args[0].(*ast.FuncLit); ok && len(names(literal.Type.Params)) > 0 {
			of[names(literal.Type.Params)[0].Pos()] = r.begin(call, r.object(selector.X))
		}
	}
	inside := map[token.Pos]tracked{}
	function := r.functions[r.object(call.Fun)]
	if function != nil {
		for parameter, arg := range passed(function, call) {
			if t, there := of[r.object(arg)]; there {
				inside[parameter] = t
			}
		}
	}
	var t tracked
	if method {
		t = of[r.object(root(selector.X))]
	}
	switch {
	case depth == maxSteps:
	case function != nil && function.Body != nil && (len(inside) > 0 || t.transaction != nil):
		if t.transaction != nil && function.Recv != nil {
			for _, name := range names(function.Recv) {
				inside[name.Pos()] = t
			}
		}
		r.walk(function.Body, inside, depth+1)
	case t.transaction != nil:
		r.step(t, selector.Sel.Name, call)
	default:
		r.handed(call, of, depth)
	}
}

// handed follows a transaction that a function gives to one of its parameters: to a function
// in each call of it.
func (r *tracer) handed(call *ast.CallExpr, of map[token.Pos]tracked, depth int) {
	parameter := r.object(call.Fun)
	outer := r.parameters[parameter]
	if outer == nil {
		return
	}
	for _, caller := range r.calls[outer.Name.Pos()] {
		literal, ok := passed(outer, caller)[parameter].(*ast.FuncLit)
		if !ok || r.isTest(caller) {
			continue
		}
		inside := map[token.Pos]tracked{}
		for i, name := range names(literal.Type.Params) {
			if i < len(call.Args) {
				if t, there := of[r.object(call.Args[i])]; there {
					inside[name.Pos()] = r.begin(caller, t.pool)
				}
			}
		}
		if len(inside) > 0 {
			r.walk(literal.Body, inside, depth+1)
		}
	}
}

// names returns the names of parameters.
func names(of *ast.FieldList) (all []*ast.Ident) {
	for _, field := range of.List {
		all = append(all, field.Names...)
	}
	return all
}

// readsOnly reports whether a transaction is begun with options that say so.
func readsOnly(call *ast.CallExpr) (found bool) {
	ast.Inspect(call, func(n ast.Node) bool {
		pair, ok := n.(*ast.KeyValueExpr)
		if ok {
			key, _ := pair.Key.(*ast.Ident)
			found = found || key != nil && key.Name == "ReadOnly"
		}
		return !found
	})
	return found
}

// root returns what a chain of calls begins with: tx, of tx.Model(x).Where(y).
func root(x ast.Expr) ast.Expr {
	for {
		switch of := x.(type) {
		case *ast.CallExpr:
			x = of.Fun
		case *ast.SelectorExpr:
			x = of.X
		default:
			return x
		}
	}
}

// step notes what a transaction does first: it reads, or it writes.
func (c *checker) step(t tracked, method string, call *ast.CallExpr) {
	at := call.Pos()
	call = cmp.Or(t.prepared, call)
	text := ""
	for _, arg := range call.Args[:min(2, len(call.Args))] { // behind a context
		text += strings.ToLower(c.text(arg, nil)) + " "
	}
	changes := slices.ContainsFunc([]string{"insert ", "update ", "delete ", "replace "}, func(word string) bool { return strings.Contains(text, word) })
	switch {
	case t.write.IsValid():
	case slices.Contains(writes, method) || slices.Contains(reads, method) && changes:
		t.write = at
	case slices.Contains(reads, method) && !t.read.IsValid():
		t.read = at
	}
}
