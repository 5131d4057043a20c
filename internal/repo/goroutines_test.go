package repo_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// unguarded are the functions that start goroutines without a guard, and why a
// panic there ends nothing that would be left behind.
var unguarded = map[string]string{
	"cmd/assay/main.go main":                 "the command recovers by itself",
	"cmd/assay/load.go loadProcesses":        "it waits for the end of the input, in a process of its own",
	"internal/serve/browser/browser.go note": "only tests have it",
	"internal/crash/run.go start":            "it waits for a process",
	"kit/process/process.go Start":           "reading is guarded, and the other goroutine waits for the process",
	"kit/process/pause.go watch":             "it adds up numbers",
	"kit/postgres/cluster/cluster.go Make":   "the script is its caller's, who guards it",
	"kit/postgres/cluster/cluster.go start":  "it waits for a process",
}

// A panic in a goroutine ends the program before it stops what it started, unless
// it is brought to the one that waits. So each goroutine of assay is guarded, or
// has its reason here.
func TestGoroutinesAreGuarded(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sources(t) {
		ours := strings.HasPrefix(s.name, "internal/") || strings.HasPrefix(s.name, "cmd/") || strings.HasPrefix(s.name, "kit/process/") || strings.HasPrefix(s.name, "kit/postgres/")
		if !ours || s.test() {
			continue
		}
		text, err := os.ReadFile(s.name)
		must(t, err)
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, s.name, text, 0)
		must(t, err)
		for _, declared := range parsed.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if !ok || !starts(function) {
				continue
			}
			body := string(text[files.Position(function.Pos()).Offset:files.Position(function.End()).Offset])
			name := s.name + " " + function.Name.Name
			_, known := unguarded[name]
			seen[name] = true
			guarded := strings.Contains(body, "guard.Error(") || strings.Contains(body, "aught.Do(") || strings.Contains(body, "caught(")
			if !known && !guarded {
				t.Errorf("%s starts a goroutine without a guard: use package guard, or say in internal/repo/goroutines_test.go why not", name)
			}
		}
	}
	for name := range unguarded {
		if !seen[name] {
			t.Errorf("%s starts no goroutine any more: take it out of the list", name)
		}
	}
}

// starts reports whether a function starts goroutines: by go, or by the method Go
// of a group.
func starts(function *ast.FuncDecl) (found bool) {
	ast.Inspect(function, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			method, ok := n.Fun.(*ast.SelectorExpr)
			found = found || ok && method.Sel.Name == "Go"
		}
		return true
	})
	return found
}
