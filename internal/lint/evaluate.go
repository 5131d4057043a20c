package lint

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// unknown stands in a text for what only the running program knows.
const unknown = "\x00"

// text returns what a string is made of, with unknown for the rest.
func (e *evaluator) text(x ast.Expr, known values) string {
	e.left = maxParts
	return e.within(x, known, 0)
}

// maxDepth is how deep the parts of a text lie, and maxParts how many it has: a field may have
// many values, made of other fields.
const (
	maxDepth = 12
	maxParts = 10000
)

func (e *evaluator) within(x ast.Expr, known values, depth int) string {
	if e.left--; x == nil || depth == maxDepth || e.left < 0 {
		return unknown
	}
	switch value := e.info(x).Types[x].Value; {
	case value != nil && value.Kind() == constant.String:
		return constant.StringVal(value)
	case value != nil && value.Kind() == constant.Int:
		return value.ExactString()
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return e.within(x.X, known, depth+1)
	case *ast.BasicLit: // what a variable had before
		if text, err := strconv.Unquote(x.Value); err == nil {
			return text
		}
	case *ast.BinaryExpr:
		if x.Op == token.ADD {
			return e.within(x.X, known, depth+1) + e.within(x.Y, known, depth+1)
		}
	case *ast.CallExpr:
		return e.called(x, known, depth+1)
	case *ast.StarExpr:
		return e.flag(x, known, depth+1)
	case *ast.Ident:
		return e.variable(x, known, depth+1)
	case *ast.SelectorExpr:
		return e.field(x, known, depth+1)
	case *ast.IndexExpr:
		if _, wanted := known[x.Pos()]; wanted {
			return e.within(known[x.Pos()], known, depth+1)
		}
		if elements, ok := e.elements(x.X, known, depth+1); ok && e.wanted == nil {
			for _, element := range elements {
				e.wanted = append(e.wanted, values{x.Pos(): element})
			}
		}
	}
	return unknown
}

// flag is the text that a flag has by default.
func (e *evaluator) flag(x *ast.StarExpr, known values, depth int) string {
	if call, ok := e.source(x.X, known).(*ast.CallExpr); ok {
		if path, name := e.function(call); strings.HasSuffix(path, "flag") && name == "String" && len(call.Args) == 3 {
			return e.within(call.Args[1], known, depth)
		}
	}
	return unknown
}

// source is the literal or the call that an expression is: what a pointer leads to, what a
// variable has that is known or has one value, or the expression itself.
func (e *evaluator) source(x ast.Expr, known values) ast.Expr {
	for range maxDepth {
		switch of := x.(type) {
		case *ast.ParenExpr:
			x = of.X
		case *ast.UnaryExpr:
			x = of.X
		case *ast.Ident, *ast.SelectorExpr:
			value, all := known[e.object(x)], e.assigned[e.object(x)]
			if value == nil && len(all) == 1 {
				value = all[0].rhs
			}
			if value == nil {
				return x
			}
			x = value
		default:
			return x
		}
	}
	return x
}

// called is the text that a call returns.
func (e *evaluator) called(call *ast.CallExpr, known values, depth int) string {
	path, name := e.function(call)
	switch {
	case path == "fmt" && name == "Sprintf" && len(call.Args) > 0:
		return e.format(call.Args, known, depth)
	case path == "strings" && name == "Join" && len(call.Args) == 2:
		return e.joined(call.Args[0], e.within(call.Args[1], known, depth), known, depth)
	case path == "strings" && rewrites[name] > 0 && rewrites[name] == len(call.Args):
		return e.rewritten(name, call.Args, known, depth)
	case path == "cmp" && name == "Or" && len(call.Args) > 0:
		return e.oneOf(call.Pos(), call.Args, known, depth)
	case path == viper && name == "GetString" && len(call.Args) == 1:
		return e.configured(call, known, depth)
	case (path == "path/filepath" || path == "path") && name == "Join":
		return e.joined(&ast.CompositeLit{Elts: call.Args}, "/", known, depth)
	case e.info(call).Types[call.Fun].IsType() && len(call.Args) == 1: // a conversion
		return e.within(call.Args[0], known, depth)
	}
	if selector, ok := call.Fun.(*ast.SelectorExpr); ok && path == "" && len(call.Args) == 0 {
		switch typeName(e.typeOf(selector.X)) + "." + selector.Sel.Name {
		case "net/url.Values.Encode":
			return e.query(selector.X, known, depth)
		case "net/url.URL.String":
			return e.address(selector.X, known, depth)
		}
	}
	if function := e.functions[e.object(call.Fun)]; function != nil && function.Body != nil {
		return e.returned(function, call, known, depth)
	}
	return unknown
}

// configured is the text that a key of viper has by default.
func (e *evaluator) configured(call *ast.CallExpr, known values, depth int) string {
	var all []ast.Expr
	key := e.within(call.Args[0], known, depth)
	for _, set := range e.defaults {
		if !strings.Contains(key, unknown) && strings.EqualFold(e.within(set.Args[0], known, depth), key) {
			all = append(all, set.Args[1])
		}
	}
	if len(all) == 0 {
		return unknown
	}
	return e.oneOf(call.Pos(), all, known, depth)
}

// rewrites are functions of strings that change what they are given first, with the number of
// their arguments.
var rewrites = map[string]int{"TrimPrefix": 2, "TrimSuffix": 2, "ReplaceAll": 3}

// rewritten is a text as such a function returns it, where all its arguments are known.
func (e *evaluator) rewritten(name string, args []ast.Expr, known values, depth int) string {
	all := make([]string, 3)
	for i, arg := range args {
		all[i] = e.within(arg, known, depth)
	}
	switch {
	case strings.Contains(all[1]+all[2], unknown):
		return unknown
	case name == "TrimPrefix":
		return strings.TrimPrefix(all[0], all[1])
	case name == "TrimSuffix":
		return strings.TrimSuffix(all[0], all[1])
	}
	return strings.ReplaceAll(all[0], all[1], all[2])
}

// joined is the text of all elements of a list.
func (e *evaluator) joined(list ast.Expr, between string, known values, depth int) string {
	elements, ok := e.elements(list, known, depth)
	if !ok {
		return unknown
	}
	texts := make([]string, len(elements))
	for i, element := range elements {
		texts[i] = e.within(element, known, depth)
	}
	return strings.Join(texts, between)
}

// returned is the text that a function of the program returns: one of its results.
func (e *evaluator) returned(function *ast.FuncDecl, call *ast.CallExpr, known values, depth int) string {
	results := e.results(function)
	if len(results) == 0 {
		return unknown
	}
	return e.oneOf(call.Pos(), e.notEmpty(results), known.with(passed(function, call)), depth)
}

// results returns what a function returns first; nil among them is what a named result has.
func (e *evaluator) results(function *ast.FuncDecl) (all []ast.Expr) {
	ast.Inspect(function.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				all = append(all, nil)
			} else {
				all = append(all, n.Results[0])
			}
		}
		return true
	})
	return all
}

// variable is a variable's text: of its only value, and of all that is added to it. What
// branches add is there, too.
func (e *evaluator) variable(x *ast.Ident, known values, depth int) string {
	v, ok := e.used(x).(*types.Var)
	if !ok || v.Pkg() == nil {
		return unknown
	}
	value, there := known[v.Pos()]
	text := e.within(value, known, depth)
	if _, sofar := value.(*ast.BasicLit); sofar && !value.Pos().IsValid() {
		return text
	}
	texts, added, inOrder := e.made(x, v.Pos())
	switch function := e.parameters[v.Pos()]; {
	case e.rounds[v.Pos()] != nil:
		if !there {
			e.want(e.round(e.rounds[v.Pos()], known))
		}
		return text
	case function != nil:
		if !there {
			e.want(e.callers(function))
		}
		inOrder = inOrder && len(texts) == 0
	case !there && len(texts) > 0:
		text = e.oneOf(v.Pos(), e.notEmpty(texts), known, depth)
	}
	if !inOrder {
		return unknown
	}
	for _, a := range added {
		if a.tok == token.ADD_ASSIGN {
			text += e.within(a.rhs, known, depth)
			continue
		}
		before := &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(text)} // dsn = dsn + "..."
		text = e.within(a.rhs, known.with(values{v.Pos(): before}), depth)
	}
	return text
}

// made are the values that a variable may have, of which nil is not known, and what is then
// added to it. It is out of order where a value follows something that is added. What tests
// set counts for nothing elsewhere.
func (e *evaluator) made(x *ast.Ident, variable token.Pos) (all []ast.Expr, added []assignment, inOrder bool) {
	inOrder = true
	for _, a := range e.assigned[variable] {
		switch {
		case a.rhs != nil && e.isTest(a.rhs) && !e.isTest(x):
		case a.tok == token.ADD_ASSIGN || a.rhs != nil && e.mentionsVariable(a.rhs, variable):
			added = append(added, a)
		default:
			all, inOrder = append(all, a.rhs), inOrder && len(added) == 0
		}
	}
	return all, added, inOrder
}

// mentionsVariable reports whether an expression has a variable in it.
func (e *evaluator) mentionsVariable(x ast.Expr, variable token.Pos) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		ident, ok := n.(*ast.Ident)
		found = found || ok && e.object(ident) == variable
		return !found
	})
	return found
}

// want notes what an evaluation lacks: first what it came to first.
func (e *evaluator) want(all []values) {
	if e.wanted == nil {
		e.wanted = all
	}
}

// field is the text of a field: of a known literal, or the only one that the source has for
// it, which is what it is by default. What tests set counts for nothing.
func (e *evaluator) field(x *ast.SelectorExpr, known values, depth int) string {
	if base := e.object(x.X); base.IsValid() {
		if value, there := known[base]; there {
			return e.fieldOf(value, e.object(x), known, depth)
		}
		if e.rounds[base] != nil {
			e.want(e.round(e.rounds[base], known))
			return unknown
		}
	}
	v, ok := e.used(x.Sel).(*types.Var)
	if !ok {
		return unknown
	}
	var texts []string
	var set []ast.Expr
	for _, a := range e.assigned[v.Pos()] {
		if a.rhs == nil || e.isTest(a.rhs) || a.tok == token.ADD_ASSIGN {
			continue
		}
		set = append(set, a.rhs)
		wanted := e.wanted
		if text := e.within(a.rhs, known, depth); text != "" && !strings.Contains(text, unknown) && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		e.wanted = wanted
	}
	switch {
	case len(texts) == 1:
		return texts[0]
	case len(set) == 1: // a parameter, perhaps
		return e.within(set[0], known, depth)
	}
	return unknown
}

// fieldOf is the text of a field in a literal.
func (e *evaluator) fieldOf(x ast.Expr, field token.Pos, known values, depth int) string {
	if literal, ok := x.(*ast.CompositeLit); ok {
		for i, element := range literal.Elts {
			if of, value := e.element(literal, i, element); of == field {
				return e.within(value, known, depth)
			}
		}
	}
	return unknown
}

// format is the text of fmt.Sprintf.
func (e *evaluator) format(args []ast.Expr, known values, depth int) string {
	format, next := e.within(args[0], known, depth), 1
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
			text.WriteString(e.within(args[next], known, depth))
			next++
		default:
			text.WriteString(unknown)
			next++
		}
	}
	return text.String()
}

// number is a constant, also one that a variable or a field has.
func (e *evaluator) number(x ast.Expr) (int64, bool) {
	n, err := strconv.ParseInt(e.text(x, nil), 10, 64)
	return n, err == nil
}

// function is the package and the name of a function of another package that
// is called. It needs no types: a package that could not be loaded will do.
func (e *evaluator) function(call *ast.CallExpr) (path, name string) {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if all := e.assigned[e.object(call.Fun)]; len(all) == 1 && !ok { // open := sql.Open
		selector, ok = all[0].rhs.(*ast.SelectorExpr)
	}
	if !ok {
		return "", ""
	}
	if path, ok = e.imported(selector.X); !ok {
		return "", ""
	}
	return path, selector.Sel.Name
}

// imported is the package that an expression names.
func (e *evaluator) imported(x ast.Expr) (path string, ok bool) {
	if ident, ok := x.(*ast.Ident); ok {
		if name, ok := e.used(ident).(*types.PkgName); ok {
			return name.Imported().Path(), true
		}
	}
	return "", false
}
