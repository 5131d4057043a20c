package lint

import (
	"go/ast"
	"go/constant"
	"go/token"
	"slices"
)

// ways evaluates something in all ways in which a program may come to it: by the calls of
// a function whose parameter it needs, in the rounds of a loop whose variable it needs.
func ways[T any](e *evaluator, evaluate func(values) T) []T {
	left := maxWays
	return follow(e, values{}, maxSteps, &left, evaluate)
}

func follow[T any](e *evaluator, known values, steps int, left *int, evaluate func(values) T) (all []T) {
	e.wanted = nil
	result, wanted := evaluate(known), e.wanted
	if steps == 0 {
		return []T{result}
	}
	for _, more := range wanted {
		if *left--; *left < 0 {
			break
		}
		all = append(all, follow(e, known.with(more), steps-1, left, evaluate)...)
	}
	if len(all) == 0 {
		all = []T{result}
	}
	return all
}

// oneOf is the text of one of several expressions, each in a way of its own.
func (e *evaluator) oneOf(at token.Pos, all []ast.Expr, known values, depth int) string {
	if chosen, there := known[at]; there {
		return e.within(chosen, known, depth)
	}
	if len(all) == 1 {
		return e.within(all[0], known, depth)
	}
	var each []values
	for _, x := range all {
		each = append(each, values{at: x})
	}
	e.want(each)
	return unknown
}

// notEmpty are the expressions but for empty texts, unless there is nothing else.
func (e *evaluator) notEmpty(all []ast.Expr) []ast.Expr {
	some := slices.DeleteFunc(slices.Clone(all), func(x ast.Expr) bool {
		if x == nil {
			return false
		}
		value := e.info(x).Types[x].Value
		return value != nil && value.Kind() == constant.String && constant.StringVal(value) == ""
	})
	if len(some) == 0 {
		return all
	}
	return some
}

// callers are the values of a function's parameters in each call of it. Tests call what the
// program has for themselves.
func (e *evaluator) callers(function *ast.FuncDecl) (all []values) {
	for _, call := range e.calls[function.Name.Pos()] {
		if e.isTest(call) == e.isTest(function) {
			all = append(all, passed(function, call))
		}
	}
	return all
}

// passed are the values of parameters in a call.
func passed(function *ast.FuncDecl, call *ast.CallExpr) values {
	all, i := values{}, 0
	for _, field := range function.Type.Params.List {
		_, variadic := field.Type.(*ast.Ellipsis)
		for _, name := range field.Names {
			all[name.Pos()] = nil
			switch {
			case variadic && !call.Ellipsis.IsValid():
				all[name.Pos()] = &ast.CompositeLit{Elts: call.Args[min(i, len(call.Args)):]}
			case len(call.Args) > i:
				all[name.Pos()] = call.Args[i]
			}
			i++
		}
	}
	return all
}

// round are the values of a loop's variables in each round; none where they are not known.
func (e *evaluator) round(loop *ast.RangeStmt, known values) (all []values) {
	elements, ok := e.elements(loop.X, known, 0)
	if !ok {
		return nil
	}
	for _, element := range elements {
		one := values{}
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			one[e.object(loop.Key)], element = pair.Key, pair.Value
		}
		if variable := e.object(loop.Value); variable.IsValid() {
			one[variable] = element
		}
		all = append(all, one)
	}
	return all
}

// elements returns the elements of a slice or a map that the source has in full.
func (e *evaluator) elements(x ast.Expr, known values, depth int) ([]ast.Expr, bool) {
	if depth == maxDepth {
		return nil, false
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return e.elements(x.X, known, depth+1)
	case *ast.CompositeLit:
		return x.Elts, true
	case *ast.CallExpr: // append
		if name, ok := x.Fun.(*ast.Ident); ok && name.Name == "append" && len(x.Args) > 0 && !x.Ellipsis.IsValid() {
			before, ok := e.elements(x.Args[0], known, depth+1)
			return append(slices.Clone(before), x.Args[1:]...), ok
		}
	case *ast.Ident, *ast.SelectorExpr:
		object := e.object(x)
		if value, there := known[object]; there {
			return e.elements(value, known, depth+1)
		}
		if function := e.parameters[object]; function != nil {
			e.want(e.callers(function))
			return nil, false
		}
		var all []ast.Expr
		for i, a := range e.assigned[object] {
			if call, ok := a.rhs.(*ast.CallExpr); ok && len(call.Args) > 0 && e.object(call.Args[0]) == object { // list = append(list, ...)
				all = append(all, call.Args[1:]...)
				continue
			}
			first, ok := e.elements(a.rhs, known, depth+1)
			if i > 0 || !ok {
				return nil, false
			}
			all = slices.Clone(first)
		}
		return all, len(all) > 0
	}
	return nil, false
}
