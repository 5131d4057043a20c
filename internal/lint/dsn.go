package lint

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// unknown stands in a text for what only the running program knows.
const unknown = "\x00"

// evaluator finds out what strings of a package are made of.
type evaluator struct {
	info     *types.Info
	assigned map[types.Object][]assignment
}

type assignment struct {
	tok token.Token
	rhs ast.Expr // nil: of a call with several results, or of a loop
}

func newEvaluator(info *types.Info, files []*ast.File) *evaluator {
	e := &evaluator{info, map[types.Object][]assignment{}}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				e.assign(n.Tok, n.Lhs, n.Rhs)
			case *ast.ValueSpec:
				left := make([]ast.Expr, len(n.Names))
				for i, name := range n.Names {
					left[i] = name
				}
				if len(n.Values) > 0 {
					e.assign(token.DEFINE, left, n.Values)
				}
			case *ast.RangeStmt:
				e.assign(n.Tok, []ast.Expr{n.Key, n.Value}, nil)
			case *ast.UnaryExpr:
				if n.Op == token.AND { // anyone may change it
					e.assign(token.ASSIGN, []ast.Expr{n.X}, nil)
				}
			}
			return true
		})
	}
	return e
}

func (e *evaluator) assign(tok token.Token, left, right []ast.Expr) {
	for i, l := range left {
		object := e.object(l)
		if object == nil {
			continue
		}
		a := assignment{tok: tok}
		if len(left) == len(right) {
			a.rhs = right[i]
		}
		e.assigned[object] = append(e.assigned[object], a)
	}
}

// object is the variable or the field that an expression names.
func (e *evaluator) object(x ast.Expr) types.Object {
	switch x := x.(type) {
	case *ast.Ident:
		if object := e.info.Defs[x]; object != nil {
			return object
		}
		return e.info.Uses[x]
	case *ast.SelectorExpr:
		return e.info.Uses[x.Sel]
	case *ast.ParenExpr:
		return e.object(x.X)
	}
	return nil
}

// text is what a string is made of, with unknown for the rest.
func (e *evaluator) text(x ast.Expr) string { return e.within(x, 0) }

const maxDepth = 8

func (e *evaluator) within(x ast.Expr, depth int) string {
	if value := e.info.Types[x].Value; value != nil && value.Kind() == constant.String {
		return constant.StringVal(value)
	}
	if depth == maxDepth {
		return unknown
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return e.within(x.X, depth+1)
	case *ast.BinaryExpr:
		if x.Op == token.ADD {
			return e.within(x.X, depth+1) + e.within(x.Y, depth+1)
		}
	case *ast.CallExpr:
		if path, name := e.function(x); path == "fmt" && name == "Sprintf" && len(x.Args) > 0 {
			return e.format(x.Args, depth+1)
		}
	case *ast.Ident:
		return e.variable(x, depth+1)
	}
	return unknown
}

// variable is a local variable's text: of its only value, and of all that is
// added to it. What branches add is there, too.
func (e *evaluator) variable(x *ast.Ident, depth int) string {
	v, ok := e.info.Uses[x].(*types.Var)
	if !ok || v.IsField() || v.Pkg() == nil || v.Parent() == nil || v.Parent() == v.Pkg().Scope() {
		return unknown
	}
	text := ""
	for i, a := range e.assigned[v] {
		switch {
		case a.rhs == nil || i > 0 && a.tok != token.ADD_ASSIGN:
			return unknown
		case a.tok == token.ADD_ASSIGN && i == 0: // a parameter's value is before it
			text = unknown
		}
		text += e.within(a.rhs, depth)
	}
	if text == "" {
		return unknown
	}
	return text
}

// format is the text of fmt.Sprintf.
func (e *evaluator) format(args []ast.Expr, depth int) string {
	format, next := e.within(args[0], depth), 1
	var text strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			text.WriteByte(format[i])
			continue
		}
		for i++; i < len(format) && strings.IndexByte("+-# 0123456789.", format[i]) >= 0; i++ {
		}
		switch {
		case i == len(format):
			return unknown
		case format[i] == '%':
			text.WriteByte('%')
		case next < len(args) && strings.IndexByte("svd", format[i]) >= 0:
			text.WriteString(e.argument(args[next], depth))
			next++
		default:
			text.WriteString(unknown)
			next++
		}
	}
	return text.String()
}

func (e *evaluator) argument(x ast.Expr, depth int) string {
	if value := e.info.Types[x].Value; value != nil && value.Kind() == constant.Int {
		return value.ExactString()
	}
	return e.within(x, depth)
}

func (e *evaluator) number(x ast.Expr) (int64, bool) {
	value := e.info.Types[x].Value
	if value == nil || value.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(value)
}

// function is the package and the name of a function of another package that
// is called. It needs no types: a package that could not be loaded will do.
func (e *evaluator) function(call *ast.CallExpr) (path, name string) {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	ident, ok := selector.X.(*ast.Ident)
	if !ok {
		return "", ""
	}
	imported, ok := e.info.Uses[ident].(*types.PkgName)
	if !ok {
		return "", ""
	}
	return imported.Imported().Path(), selector.Sel.Name
}

// dsn is a DSN as far as the source shows it.
type dsn struct {
	text       string
	forms      []bool // may it begin with file: (true), may it not (false)
	parameters []string
	whole      bool   // nothing of its parameters is unknown
	memory     string // see inMemory
}

// parseDSN takes a DSN apart.
func parseDSN(text string) dsn {
	d := dsn{text: text, forms: []bool{strings.HasPrefix(text, "file:")}}
	path, query, found := strings.Cut(text, "?")
	if strings.HasPrefix(text, unknown) {
		d.forms = []bool{true, false}
	}
	if !found && strings.Contains(path, unknown) { // the unknown may have parameters
		_, query, _ = strings.Cut(path, "&")
		path = unknown
	}
	d.whole = found && !strings.Contains(query, unknown) || !strings.Contains(text, unknown)
	for parameter := range strings.SplitSeq(query, "&") {
		key, _, _ := strings.Cut(parameter, "=")
		if key != "" && !strings.Contains(key, unknown) {
			d.parameters = append(d.parameters, parameter)
		}
	}
	d.memory = d.inMemory(path)
	return d
}

// inMemory is the way in which the DSN asks for a database in memory, as facts
// list it; empty where it does not. Where the beginning is not known, it is one
// that no fact is about.
func (d dsn) inMemory(path string) string {
	shared := d.value("cache") == "shared"
	form := ""
	switch {
	case path == ":memory:" || path == "file::memory:":
		form = path
		if shared {
			form += "?cache=shared"
		}
	case d.certainly(false):
		return ""
	case d.value("mode") == "memory":
		form = "file:assay?mode=memory"
		if shared {
			form += "&cache=shared"
		}
	case d.value("vfs") == "memdb":
		form = "file:/assay?vfs=memdb"
	}
	if form != "" && len(d.forms) > 1 {
		return unknown
	}
	return form
}

// value returns a parameter's value as it stands in the DSN.
func (d dsn) value(key string) string {
	for _, parameter := range d.parameters {
		if name, value, _ := strings.Cut(parameter, "="); name == key {
			return value
		}
	}
	return ""
}
