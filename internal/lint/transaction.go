package lint

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// transaction is one that a function begins on a pool, and what it does first.
type transaction struct {
	begin       ast.Node
	pool        token.Pos
	read, write token.Pos
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
	handles := c.findHandles(opens)
	for _, f := range c.files {
		if c.isTest(f) {
			continue
		}
		for _, t := range c.transactions(f) {
			made, _ := handles.of(t.pool)
			if t.write.IsValid() && t.read.IsValid() && t.read < t.write && len(made) > 0 && !slices.ContainsFunc(made, notDeferred) {
				line := func(at token.Pos) int { return c.position(at).Line }
				c.report(t.begin.Pos(), DeferredWrite, "%s begins transactions deferred, and this one reads (line %d) before it writes (line %d): where another connection has written meanwhile, it fails at once, whatever busy_timeout says; write _txlock=immediate in the DSN of a pool that writes",
					made[0].driver.Name, line(t.read), line(t.write))
			}
		}
	}
}

// notDeferred reports whether transactions of a pool may begin otherwise than deferred, or
// meet no other connection.
func notDeferred(o *open) bool {
	lock := strings.ToLower(o.dsn.value("_txlock"))
	return !o.pool || !o.dsn.whole || o.dsn.memory != "" || lock != "" && lock != "deferred"
}

// transactions finds those that a file begins, in the order of their beginning.
func (c *checker) transactions(f *ast.File) (all []*transaction) {
	found := map[token.Pos]*transaction{}
	begin := func(variable token.Pos, n ast.Node, pool ast.Expr) {
		if variable.IsValid() && found[variable] == nil {
			found[variable] = &transaction{begin: n, pool: c.object(pool)}
			all = append(all, found[variable])
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if call, pool := c.begun(n.Rhs[0]); call != nil && !readsOnly(call) {
				begin(c.object(n.Lhs[0]), call, pool)
			}
		case *ast.CallExpr:
			selector, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if variable := transactionOf(n); selector.Sel.Name == "Transaction" && c.isPool(selector.X) {
				begin(variable, n, selector.X)
			}
			c.step(found[c.object(root(selector.X))], selector.Sel.Name, n)
		}
		return true
	})
	return all
}

// begun is a call that begins a transaction on a pool, and the pool.
func (c *checker) begun(x ast.Expr) (*ast.CallExpr, ast.Expr) {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return nil, nil
	}
	if selector, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(begins, selector.Sel.Name) && c.isPool(selector.X) {
		return call, selector.X
	}
	return nil, nil
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

// transactionOf is the parameter of a function that gorm runs in a transaction.
func transactionOf(call *ast.CallExpr) token.Pos {
	if len(call.Args) > 0 {
		if function, ok := call.Args[0].(*ast.FuncLit); ok {
			for _, field := range function.Type.Params.List {
				for _, name := range field.Names {
					return name.Pos()
				}
			}
		}
	}
	return token.NoPos
}

// root is what a chain of calls begins with: tx, of tx.Model(x).Where(y).
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

// step notes that a transaction reads or writes first there.
func (c *checker) step(t *transaction, method string, call *ast.CallExpr) {
	if t == nil {
		return
	}
	text := ""
	for _, arg := range call.Args[:min(2, len(call.Args))] { // behind a context
		text += strings.ToLower(c.text(arg, nil))
	}
	changes := slices.ContainsFunc([]string{"insert ", "update ", "delete ", "replace "}, func(word string) bool { return strings.Contains(text, word) })
	switch {
	case slices.Contains(writes, method) || slices.Contains(reads, method) && changes:
		if !t.write.IsValid() {
			t.write = call.Pos()
		}
	case slices.Contains(reads, method) && !t.read.IsValid():
		t.read = call.Pos()
	}
}
