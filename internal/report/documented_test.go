package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/internal/analysis"
)

// Every warning that the code can give is in the table of kinds, which the reference is
// made from, and nothing else is.
func TestWarningsAreKinds(t *testing.T) {
	given := slices.Compact(slices.Sorted(slices.Values(givenWarnings(t, ".."))))
	if kinds := slices.Sorted(maps.Keys(analysis.Kinds)); !slices.Equal(given, kinds) {
		t.Errorf("the code can give %q, the table of kinds has %q", given, kinds)
	}
}

// isEmpty reports whether an expression is the empty string.
func isEmpty(e ast.Expr) bool {
	literal, is := e.(*ast.BasicLit)
	return is && literal.Value == `""`
}

// givenWarnings are the codes of warnings in Go source: in calls of warn and newWarning, and in
// literals that have evidence.
func givenWarnings(t *testing.T, root string) (codes []string) {
	t.Helper()
	files := sources(t, root)
	constants := map[string]string{}
	inspect(files, func(n ast.Node) {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == len(spec.Names) {
			for i, value := range spec.Values {
				constants[spec.Names[i].Name] = textOf(value, nil)
			}
		}
	})
	inspect(files, func(n ast.Node) {
		code, advice := warningIn(n)
		text := textOf(code, constants)
		if text == "" {
			return // no warning, or one that is handed on
		}
		codes = append(codes, text)
		if advice == nil || isEmpty(advice) {
			t.Errorf("the warning %s has no advice", text)
		}
	})
	return codes
}

func sources(t *testing.T, root string) (files []*ast.File) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		files = append(files, file)
		return err
	})
	must(t, err)
	return files
}

func inspect(files []*ast.File, look func(ast.Node)) {
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			look(n)
			return true
		})
	}
}

// warningIn are a warning's code and advice, nil where the node is none.
func warningIn(n ast.Node) (code, advice ast.Expr) {
	if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 3 { // code, severity, advice, evidence
		switch f := call.Fun.(type) {
		case *ast.SelectorExpr:
			if f.Sel.Name == "warn" {
				return call.Args[0], call.Args[2]
			}
		case *ast.Ident:
			if f.Name == "newWarning" {
				return call.Args[0], call.Args[2]
			}
		}
	}
	literal, ok := n.(*ast.CompositeLit)
	if !ok {
		return nil, nil
	}
	parts := map[string]ast.Expr{}
	for _, e := range literal.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok {
				parts[key.Name] = pair.Value
			}
		}
	}
	if parts["Evidence"] == nil {
		return nil, nil
	}
	return parts["Code"], parts["Advice"]
}

// textOf is the text of a string, or of a constant that is one; empty where it
// is neither.
func textOf(e ast.Expr, constants map[string]string) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.Ident:
		return constants[e.Name]
	}
	return ""
}
