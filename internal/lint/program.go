package lint

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// evaluator finds out what expressions of a program are made of. A variable, a field or a
// function is known by its position: packages that import each other have types of their
// own, and share their syntax.
type evaluator struct {
	fset       *token.FileSet
	infos      map[*token.File]*types.Info
	tests      map[*token.File]bool
	assigned   map[token.Pos][]assignment
	functions  map[token.Pos]*ast.FuncDecl
	parameters map[token.Pos]*ast.FuncDecl
	calls      map[token.Pos][]*ast.CallExpr // by the function that is called
	rounds     map[token.Pos]*ast.RangeStmt  // by variables of the loop
	methods    map[token.Pos][]*ast.CallExpr // by the variable whose method is called
	fields     map[token.Pos][]setField      // by the variable whose field is set
	entries    map[token.Pos][]ast.Expr      // by the variable of a map that gets one
	handed     map[token.Pos][]*ast.CallExpr // by the variable that is given to a function
	registered []registered
	defaults   []*ast.CallExpr // of viper's keys
	libraries  libraries
	// wanted are values of variables that an evaluation lacked: by each call of a function,
	// or in each round of a loop.
	wanted []values
	left   int // parts of the text that is evaluated
}

type assignment struct {
	tok token.Token
	rhs ast.Expr // nil: a later result of a call, or of a loop
}

type setField struct {
	name  string
	value ast.Expr
}

// registered is a name that a program gives a driver of database/sql by itself.
type registered struct {
	name    ast.Expr
	library string // package of the driver; empty: the file imports none, or several
}

// values holds the values of variables. What only the running program knows is nil.
type values map[token.Pos]ast.Expr

// with are more of them beside those that are known.
func (known values) with(more values) values {
	all := values{}
	maps.Copy(all, known)
	maps.Copy(all, more)
	return all
}

func newEvaluator(fset *token.FileSet, libraries libraries) *evaluator {
	return &evaluator{fset: fset, libraries: libraries, infos: map[*token.File]*types.Info{}, tests: map[*token.File]bool{}, assigned: map[token.Pos][]assignment{}, functions: map[token.Pos]*ast.FuncDecl{},
		parameters: map[token.Pos]*ast.FuncDecl{}, calls: map[token.Pos][]*ast.CallExpr{}, rounds: map[token.Pos]*ast.RangeStmt{},
		methods: map[token.Pos][]*ast.CallExpr{}, fields: map[token.Pos][]setField{}, entries: map[token.Pos][]ast.Expr{}, handed: map[token.Pos][]*ast.CallExpr{}}
}

// read reads a package. A file that another variant of the package had is known.
func (e *evaluator) read(info *types.Info, files []*ast.File) {
	var added []*ast.File
	for _, f := range files {
		if of := e.fset.File(f.FileStart); of != nil && e.infos[of] == nil {
			e.infos[of] = info
			e.tests[of] = strings.HasSuffix(of.Name(), "_test.go") || slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` })
			added = append(added, f)
		}
	}
	for _, f := range added {
		ast.Inspect(f, func(n ast.Node) bool {
			e.visit(f, n)
			return true
		})
	}
}

func (e *evaluator) visit(f *ast.File, n ast.Node) {
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
	case *ast.CompositeLit:
		for i, element := range n.Elts {
			if field, value := e.element(n, i, element); field.IsValid() {
				e.assigned[field] = append(e.assigned[field], assignment{token.ASSIGN, value})
			}
		}
	case *ast.RangeStmt:
		e.assign(n.Tok, []ast.Expr{n.Key, n.Value}, nil)
		for _, x := range []ast.Expr{n.Key, n.Value} {
			if variable := e.object(x); variable.IsValid() {
				e.rounds[variable] = n
			}
		}
	case *ast.UnaryExpr:
		if _, literal := n.X.(*ast.CompositeLit); n.Op == token.AND && !literal { // anyone may change it
			e.assign(token.ASSIGN, []ast.Expr{n.X}, nil)
		}
	case *ast.FuncDecl:
		e.declare(n)
	case *ast.CallExpr:
		e.noteCall(f, n)
	}
}

// declare notes a function, also one that a variable is defined as.
func (e *evaluator) declare(f *ast.FuncDecl) {
	e.functions[f.Name.Pos()] = f
	for _, name := range names(f.Type.Params) {
		e.parameters[name.Pos()] = f
	}
}

func (e *evaluator) noteCall(f *ast.File, call *ast.CallExpr) {
	if function := e.object(call.Fun); function.IsValid() {
		e.calls[function] = append(e.calls[function], call)
	}
	for _, arg := range call.Args {
		if variable := e.object(arg); variable.IsValid() {
			e.handed[variable] = append(e.handed[variable], call)
		}
	}
	if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
		if of := e.object(selector.X); of.IsValid() {
			e.methods[of] = append(e.methods[of], call)
		}
	}
	switch path, name := e.function(call); {
	case len(call.Args) != 2:
	case path == viper && name == "SetDefault":
		e.defaults = append(e.defaults, call)
	case path == "database/sql" && name == "Register":
		e.register(f, call.Args[0])
	}
}

// viper is a package that keeps what a program is configured with.
const viper = "github.com/spf13/viper"

// register notes a name that a file gives a driver.
func (e *evaluator) register(f *ast.File, name ast.Expr) {
	var found []string
	for _, imported := range f.Imports {
		if path, err := strconv.Unquote(imported.Path.Value); err == nil && e.libraries.of(path) != "" {
			found = append(found, e.libraries.of(path))
		}
	}
	slices.Sort(found)
	if found = slices.Compact(found); len(found) != 1 {
		found = []string{""}
	}
	e.registered = append(e.registered, registered{name, found[0]})
}

// element is a field that a literal of a struct sets, and its value.
func (e *evaluator) element(literal *ast.CompositeLit, i int, x ast.Expr) (token.Pos, ast.Expr) {
	if pair, ok := x.(*ast.KeyValueExpr); ok {
		if key, ok := pair.Key.(*ast.Ident); ok {
			if v, ok := e.used(key).(*types.Var); ok && v.IsField() {
				return v.Pos(), pair.Value
			}
		}
		return token.NoPos, nil
	}
	if t := e.typeOf(literal); t != nil {
		if of, ok := t.Underlying().(*types.Struct); ok && i < of.NumFields() {
			return of.Field(i).Pos(), x
		}
	}
	return token.NoPos, nil
}

func (e *evaluator) assign(tok token.Token, left, right []ast.Expr) {
	for i, l := range left {
		a := assignment{tok: tok}
		if len(left) == len(right) || i == 0 && len(right) == 1 { // the first result
			a.rhs = right[i]
		}
		object := e.object(l)
		if entry, ok := l.(*ast.IndexExpr); ok {
			of := e.object(entry.X)
			e.entries[of] = append(e.entries[of], &ast.KeyValueExpr{Key: entry.Index, Value: cmp.Or[ast.Expr](a.rhs, &ast.BadExpr{})})
		}
		if selector, ok := l.(*ast.SelectorExpr); ok && a.rhs != nil {
			if base := e.object(selector.X); base.IsValid() {
				e.fields[base] = append(e.fields[base], setField{selector.Sel.Name, a.rhs})
			}
		}
		if !object.IsValid() {
			continue
		}
		if name, ok := l.(*ast.Ident); ok && name.Pos() == object {
			if literal, ok := a.rhs.(*ast.FuncLit); ok {
				e.declare(&ast.FuncDecl{Name: name, Type: literal.Type, Body: literal.Body})
			}
		}
		e.assigned[object] = append(e.assigned[object], a)
	}
}

// info has the types of a place.
func (e *evaluator) info(n ast.Node) *types.Info {
	if info := e.infos[e.fset.File(n.Pos())]; info != nil {
		return info
	}
	return &types.Info{}
}

func (e *evaluator) typeOf(x ast.Expr) types.Type { return e.info(x).TypeOf(x) }

func (e *evaluator) used(x *ast.Ident) types.Object { return e.info(x).Uses[x] }

// object returns where the variable, the field or the function is declared that an expression
// names. A pool that a method DB returns is what has the method.
func (e *evaluator) object(x ast.Expr) token.Pos {
	switch x := x.(type) {
	case *ast.Ident:
		if object := e.info(x).Defs[x]; object != nil {
			return object.Pos()
		}
		if object := e.used(x); object != nil {
			if _, isPackage := object.(*types.PkgName); !isPackage {
				return object.Pos()
			}
		}
	case *ast.SelectorExpr:
		if object := e.used(x.Sel); object != nil {
			return object.Pos()
		}
	case *ast.ParenExpr:
		return e.object(x.X)
	case *ast.CallExpr:
		if selector, ok := x.Fun.(*ast.SelectorExpr); ok && selector.Sel.Name == "DB" && len(x.Args) == 0 {
			return e.object(selector.X)
		}
	}
	return token.NoPos
}

// isTest reports whether something stands in a file of tests, or of what helps them.
func (e *evaluator) isTest(n ast.Node) bool { return e.tests[e.fset.File(n.Pos())] }

// maxWays is how many ways to come to a place are looked at, and maxSteps how many calls
// and loops lie on each.
const (
	maxWays  = 64
	maxSteps = 4
)
