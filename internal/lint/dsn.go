package lint

import (
	"go/ast"
	"go/token"
	"strings"
)

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
	var form, only, more string
	if d.value("cache") == "shared" {
		only, more = "?cache=shared", "&cache=shared"
	}
	switch {
	case path == ":memory:" || path == "file::memory:":
		form = path + only
	case d.certainly(false):
		return ""
	case d.value("mode") == "memory", d.value("vfs") == "memdb" && strings.IndexAny(path, `/\%`+unknown) != len("file:"): // only such a name is shared
		form = "file:assay?mode=memory" + more
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

// query is the text of the parameters in url.Values: those of its literal, and those that
// Add, Set and an index give it, also in functions that it comes from or is given to.
func (e *evaluator) query(x ast.Expr, known values, depth int) string {
	variable := e.object(x)
	value, there := known[variable]
	switch {
	case depth == maxDepth:
		return unknown
	case there && value != nil:
		return e.query(value, known, depth+1)
	case e.parameters[variable] != nil:
		e.want(e.callers(e.parameters[variable]))
		return unknown
	}
	var all []string
	switch x := e.source(x, known).(type) {
	case *ast.CompositeLit:
		all = e.parametersOf(x.Elts, known, depth)
	case *ast.CallExpr:
		name, _ := x.Fun.(*ast.Ident)
		function := e.functions[e.object(x.Fun)]
		switch {
		case name != nil && name.Name == "make":
		case function != nil && function.Body != nil && len(e.results(function)) == 1 && e.results(function)[0] != nil:
			all = append(all, e.query(e.results(function)[0], known.with(passed(function, x)), depth+1))
		default:
			all = append(all, unknown)
		}
	default: // the unknown may have more
		all = append(all, unknown)
	}
	return strings.Join(append(all, e.added(variable, known, depth)...), "&")
}

// added are the parameters that url.Values get behind their beginning.
func (e *evaluator) added(variable token.Pos, known values, depth int) []string {
	if depth == maxDepth || !variable.IsValid() {
		return nil
	}
	all := e.parametersOf(e.entries[variable], known, depth)
	for _, call := range e.methods[variable] {
		name := call.Fun.(*ast.SelectorExpr).Sel.Name
		if (name == "Add" || name == "Set") && len(call.Args) == 2 {
			all = append(all, e.within(call.Args[0], known, depth)+"="+e.within(call.Args[1], known, depth))
		}
	}
	for _, call := range e.handed[variable] {
		function := e.functions[e.object(call.Fun)]
		if function == nil {
			all = append(all, unknown)
			continue
		}
		for parameter, arg := range passed(function, call) {
			if e.object(arg) == variable {
				all = append(all, e.added(parameter, known.with(passed(function, call)), depth+1)...)
			}
		}
	}
	return all
}

// parametersOf are the parameters in elements of a literal of url.Values.
func (e *evaluator) parametersOf(elements []ast.Expr, known values, depth int) (all []string) {
	for _, element := range elements {
		pair, _ := element.(*ast.KeyValueExpr)
		if pair == nil {
			return []string{unknown}
		}
		list, ok := e.elements(pair.Value, known, depth)
		if !ok {
			all = append(all, unknown)
		}
		for _, value := range list {
			all = append(all, e.within(pair.Key, known, depth)+"="+e.within(value, known, depth))
		}
	}
	return all
}

// address is the text of a url.URL that the source makes.
func (e *evaluator) address(x ast.Expr, known values, depth int) string {
	made, ok := e.source(x, known).(*ast.CompositeLit)
	if !ok {
		return unknown
	}
	parts := map[string]string{}
	for _, element := range made.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok {
				parts[key.Name] = e.within(pair.Value, known, depth)
			}
		}
	}
	for _, set := range e.fields[e.object(x)] {
		parts[set.name] = e.within(set.value, known, depth)
	}
	text := parts["Host"] + parts["Path"] + parts["Opaque"]
	if parts["Scheme"] != "" {
		text = parts["Scheme"] + ":" + text
	}
	if parts["RawQuery"] != "" {
		text += "?" + parts["RawQuery"]
	}
	return text
}
