package lint

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// certainly reports whether the DSN begins with file:, or does not.
func (d dsn) certainly(uri bool) bool { return len(d.forms) == 1 && d.forms[0] == uri }

// mentions reports whether some string of the package has words in it, in any
// case.
func (c *checker) mentions(words string) bool {
	for _, f := range c.files {
		found := false
		ast.Inspect(f, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text := strings.Join(strings.Fields(strings.ToLower(literal.Value)), " ")
				found = found || strings.Contains(text, words)
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// readComments notes the rules that comments switch off.
func (c *checker) readComments() {
	for _, f := range c.files {
		for _, group := range f.Comments {
			for _, comment := range group.List {
				at := c.position(comment.Pos())
				c.silence(strings.TrimPrefix(comment.Text, "//"), at.Filename, at.Line)
			}
		}
	}
}

// find returns where in the source a parameter of a DSN stands. Its name and its value may
// stand apart.
func (c *checker) find(o *open, parameter string) token.Pos {
	key, value, _ := strings.Cut(parameter, "=")
	pragma, _, _ := strings.Cut(value, "(")
	parts := []string{parameter, key}
	if pragma != value { // of url.Values
		parts = []string{parameter, value, pragma}
	}
	for _, part := range parts {
		if at := c.place(o.arg, part, o.known); part != "" && at != c.given(o.arg, o.known).Pos() {
			return at
		}
	}
	return c.given(o.arg, o.known).Pos()
}

// given returns what a parameter of a function, or the variable of a loop, is given.
func (c *checker) given(x ast.Expr, known values) ast.Expr {
	for range maxDepth {
		ident, ok := x.(*ast.Ident)
		if !ok || known[c.object(ident)] == nil {
			break
		}
		x = known[c.object(ident)]
	}
	return x
}

// place returns where in the source a part of a text stands, in any case.
func (c *checker) place(x ast.Expr, part string, known values) token.Pos {
	part = strings.ToLower(strings.Split(part, unknown)[0])
	at, seen := c.given(x, known).Pos(), map[token.Pos]bool{}
	var look func(ast.Node, int)
	look = func(n ast.Node, depth int) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if i := strings.Index(strings.ToLower(n.Value), part); n.Kind == token.STRING && i >= 0 {
					at = n.Pos() + token.Pos(i)
				}
			case *ast.CallExpr: // one of several results
				if chosen, before := known[n.Pos()], at; chosen != nil && depth < maxDepth {
					look(chosen, depth+1)
					return at == before
				}
			case *ast.Ident:
				object := c.object(n)
				if depth == maxDepth || !object.IsValid() || seen[object] {
					return true
				}
				seen[object] = true
				if value := known[object]; value != nil {
					look(value, depth+1)
					if c.parameters[object] == nil {
						return true
					}
				}
				for _, call := range slices.Concat(c.methods[object], c.handed[object]) { // of url.Values
					if c.functions[c.object(call.Fun)] != nil {
						look(call.Fun, depth+1)
					}
					for _, arg := range call.Args {
						look(arg, depth+1)
					}
				}
				for _, entry := range c.entries[object] {
					look(entry, depth+1)
				}
				for _, set := range c.fields[object] { // of url.URL
					look(set.value, depth+1)
				}
				for _, a := range c.assigned[object] {
					if a.rhs != nil {
						look(a.rhs, depth+1)
					}
				}
				if function := c.functions[object]; function != nil && function.Body != nil {
					look(function.Body, depth+1)
				}
			}
			return true
		})
	}
	look(x, 0)
	return at
}
