package lint

import (
	"go/ast"
	"go/token"
)

// handles tells which calls open the pools that a package's variables hold.
type handles struct {
	*checker
	opens []*open
}

// of returns the calls that may have opened a pool. Where they are not seen, these
// are all of the package; certain is false then, unless there is one only.
func (h handles) of(pool token.Pos) (all []*open, certain bool) {
	if all = h.opened(pool, 0); len(all) == 0 {
		return h.opens, len(h.opens) == 1 && !h.set(pool)
	}
	return all, true
}

// set reports whether the source gives a pool's variable something.
func (h handles) set(pool token.Pos) bool { return len(h.assigned[pool]) > 0 }

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
