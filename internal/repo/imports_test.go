package repo_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// imports says which folders' packages the packages of a folder may import. Packages below
// a folder are parts of it, and may import each other. A folder that is not in it holds no
// packages of ours. No two folders need each other.
var imports = map[string][]string{
	"advisories": {"root"},
	"analysis":   {"kit", "root", "stat", "sys"},
	"audit":      {"analysis", "doc", "kit", "published", "report", "root", "stat", "sys"},
	"build":      {"kit", "root", "sys"},
	"cmd":        {"advisories", "analysis", "audit", "build", "crash", "dataset", "doc", "doctor", "draft", "emit", "gate", "history", "kit", "lab", "lint", "plan", "plans", "published", "report", "root", "runner", "serve", "stat", "store", "sys", "tune"},
	"crash":      {"analysis", "doc", "kit", "root", "sys"},
	"dataset":    {"kit", "plan", "root", "sys"},
	"doc":        {"analysis", "stat", "sys"},
	"doctor":     {"dataset", "doc", "kit", "plan", "sys"},
	"draft":      {"build", "dataset", "kit", "plan", "root", "sys", "traffic"},
	"emit":       {"build", "kit", "lint", "root", "sys"},
	"gate":       {"advisories", "analysis", "build", "dataset", "doc", "lab", "lint", "plan", "report", "root", "stat", "store", "sys"},
	"history":    {"analysis", "doc", "root", "stat", "sys"},
	"kit":        {},
	"lab":        {"analysis", "build", "dataset", "kit", "lint", "plan", "root", "runner", "store", "sys"},
	"lint":       {"advisories", "build", "doc", "kit", "sys"},
	"plan":       {"kit", "root", "sys"},
	"plans":      {},
	"published":  {"root", "sys"},
	"report":     {"analysis", "doc", "published", "root", "stat", "sys"},
	"root":       {},
	"runner":     {"advisories", "dataset", "kit", "root", "stat", "sys"},
	"scripts":    {},
	"serve":      {"analysis", "doc", "history", "lab", "report", "root", "store", "sys"},
	"stat":       {"sys"},
	"store":      {"analysis", "kit", "root", "sys"},
	"sys":        {"kit"},
	"tools":      {"analysis", "build", "dataset", "gate", "kit", "plan", "plans", "report", "root", "runner", "stat", "store", "tune"},
	"traffic":    {},
	"tune":       {"analysis", "dataset", "doc", "emit", "kit", "lab", "plan", "report", "root", "stat", "store", "sys"},
}

// source is a Go file of this checkout.
type source struct {
	name     string // with slashes, from the root
	pkg      string // as its package clause says
	imported []string
}

// test reports whether the file is a test, which may import more. Tests of kit
// may not: kit is a module of its own.
func (s source) test() bool { return strings.HasSuffix(s.name, "_test.go") }

// sources reads all Go files outside of testdata and hidden folders.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := name != "." && strings.HasPrefix(entry.Name(), ".")
		if entry.IsDir() && (hidden || entry.Name() == "testdata") {
			return fs.SkipDir
		}
		if !entry.IsDir() && filepath.Ext(name) == ".go" && !hidden {
			all = append(all, read(t, name))
		}
		return nil
	})
	must(t, err)
	return all
}

func read(t *testing.T, name string) source {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
	must(t, err)
	s := source{name: filepath.ToSlash(name), pkg: f.Name.Name}
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.imported = append(s.imported, imported)
	}
	return s
}

// folder returns the key of the table for a path: of a file's folder, or of
// what is imported without "assay/". Rooms below internal/ go by their own name.
func folder(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "internal/"), "/")
	if first == "." || first == "" {
		return "root"
	}
	return first
}

func TestImportTable(t *testing.T) {
	for _, s := range sources(t) {
		from := folder(path.Dir(s.name))
		if from == "workers" || s.test() && from != "kit" {
			continue
		}
		allowed, listed := imports[from]
		if !listed {
			t.Errorf("%s: folder %s is not in the import table; add it to internal/repo/imports_test.go and docs/architecture.md", s.name, from)
			continue
		}
		for _, imported := range s.imported {
			rest, ours := strings.CutPrefix(imported+"/", "assay/")
			if to := folder(rest); ours && to != from && !slices.Contains(allowed, to) {
				t.Errorf("%s imports %s: %s may import %v only", s.name, imported, from, allowed)
			}
		}
	}
}

// No two folders need each other, not even by way of others.
func TestImportsGoOneWay(t *testing.T) {
	var reaches func(from, to string, seen map[string]bool) bool
	reaches = func(from, to string, seen map[string]bool) bool {
		if seen[from] {
			return false
		}
		seen[from] = true
		return slices.ContainsFunc(imports[from], func(next string) bool { return next == to || reaches(next, to, seen) })
	}
	for name := range imports {
		if reaches(name, name, map[string]bool{}) {
			t.Errorf("%s may import a folder that needs %s itself", name, name)
		}
	}
}

func TestWorkersImportKitOnly(t *testing.T) {
	for _, s := range sources(t) {
		for _, imported := range s.imported {
			rest, ours := strings.CutPrefix(imported, "assay/")
			if folder(s.name) == "workers" && (imported == "assay" || ours && folder(rest) != "kit" && folder(rest) != "workers") {
				t.Errorf("%s imports %s: a worker is built with kit alone", s.name, imported)
			}
		}
	}
}

func TestPackageNames(t *testing.T) {
	for _, s := range sources(t) {
		name := strings.TrimSuffix(s.pkg, "_test")
		if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "base", "types"}, name) {
			t.Errorf("%s: package %s says nothing of what it is for", s.name, name)
		}
	}
}

// The command must not choose versions for the drivers that it measures.
// SQLite of modernc.org is in it because the store and the oracle of expected
// answers use it.
func TestCommandRequiresNoDriverUnderTest(t *testing.T) {
	required := requirements(t, "go.mod")
	drivers := map[string]bool{}
	for _, s := range sources(t) {
		if folder(s.name) != "workers" || s.test() {
			continue
		}
		worker := strings.Join(strings.SplitN(s.name, "/", 3)[:2], "/")
		for module := range requirements(t, worker+"/go.mod") {
			if slices.ContainsFunc(s.imported, func(p string) bool { return p == module || strings.HasPrefix(p, module+"/") }) {
				drivers[module] = true
			}
		}
	}
	delete(drivers, "assay/kit")
	delete(drivers, "modernc.org/sqlite")
	if len(drivers) == 0 {
		t.Error("no driver was found in workers/")
	}
	for module := range drivers {
		if required[module] {
			t.Errorf("go.mod requires %s, which a worker measures", module)
		}
	}
}

// requirements returns the modules that a go.mod requires.
func requirements(t *testing.T, name string) map[string]bool {
	t.Helper()
	data, err := os.ReadFile(name)
	must(t, err)
	modules := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(words) >= 2 && strings.HasPrefix(words[1], "v") {
			modules[words[0]] = true
		}
	}
	return modules
}
