package lint

import (
	"go/ast"
	"go/token"
)

// handles tells which calls open the pools that a package's variables hold.
type handles struct {
	*checker
	opens []*open
	calls map[token.Pos][]*ast.CallExpr // whose result a variable or a field is
}

func (c *checker) findHandles(opens []*open) handles {
	h := handles{c, opens, map[token.Pos][]*ast.CallExpr{}}
	for _, f := range c.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if len(n.Values) == 1 {
					h.keep(n.Names[0], n.Values[0])
				}
			case *ast.AssignStmt:
				if len(n.Rhs) == 1 {
					h.keep(n.Lhs[0], n.Rhs[0])
				}
			}
			return true
		})
	}
	return h
}

// keep notes that a variable holds a result; nil where that is none of a call.
func (h handles) keep(variable, value ast.Expr) {
	if object := h.object(variable); object.IsValid() {
		call, _ := value.(*ast.CallExpr)
		h.calls[object] = append(h.calls[object], call)
	}
}

// of returns the calls that may have opened a pool. Where they are not seen, these
// are all of the package; certain is false then, unless there is one only.
func (h handles) of(pool token.Pos) (all []*open, certain bool) {
	calls := h.calls[pool]
	for _, call := range calls {
		opened := h.by(call, map[*ast.FuncDecl]bool{})
		if len(opened) == 0 {
			return h.opens, false
		}
		all = append(all, opened...)
	}
	if len(calls) == 0 {
		return h.opens, len(h.opens) == 1
	}
	return all, true
}

// by returns the calls that open SQLite when a call is made: itself, or those in a
// function of the package that it calls. Functions that were read are left out.
func (h handles) by(call *ast.CallExpr, read map[*ast.FuncDecl]bool) (all []*open) {
	if call == nil {
		return nil
	}
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
