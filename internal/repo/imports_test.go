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

// imports says which folders' packages the packages of a folder may import.
// Whoever may import kit may import all of its packages. A folder that is not
// in it holds no packages of ours.
var imports = map[string][]string{
	"root":       {},
	"kit":        {},
	"stat":       {"guard"},
	"plans":      {},
	"published":  {"root", "file"},
	"scripts":    {},
	"host":       {"root", "kit"},
	"near":       {},
	"plan":       {"root", "kit", "near"},
	"guard":      {},
	"scratch":    {},
	"scaffold":   {},
	"queryplan":  {},
	"dataset":    {"root", "kit", "plan", "scratch", "queryplan", "file"},
	"build":      {"root", "kit", "scratch", "guard", "near", "file"},
	"store":      {"root", "kit"},
	"emit":       {"root", "kit"},
	"draft":      {"root", "kit", "plan", "dataset", "traffic"},
	"traffic":    {},
	"schedule":   {},
	"oracle":     {"root", "kit", "plan", "dataset"},
	"runner":     {"advisories", "root", "kit", "plan", "dataset", "oracle", "guard", "host", "schedule", "scratch", "stat", "syncs", "load"},
	"load":       {"kit", "guard"},
	"file":       {},
	"printable":  {},
	"syncs":      {},
	"chart":      {},
	"wording":    {"stat", "kit"},
	"analysis":   {"root", "stat", "wording", "guard"},
	"report":     {"root", "stat", "wording", "analysis", "chart", "file", "guard", "format"},
	"audit":      {"root", "kit", "stat", "published", "analysis", "report", "format", "wording"},
	"tools":      {"root", "kit", "stat", "plans", "plan", "dataset", "build", "store", "analysis", "report", "load", "gate", "tune"},
	"crash":      {"root", "kit", "guard", "format", "wording"},
	"expert":     {"kit", "plan"},
	"facts":      {"kit", "guard", "scratch", "file", "near"},
	"format":     {},
	"gate":       {"advisories", "root", "stat", "analysis", "report", "facts", "format", "wording", "queryplan", "file"},
	"tune":       {"root", "kit", "stat", "format", "wording", "chart", "report", "queryplan"},
	"history":    {"root", "stat", "analysis", "format", "wording"},
	"footprint":  {"kit", "file"},
	"serve":      {"root", "published", "guard", "store", "lab", "analysis", "chart", "wording", "report", "audit", "history", "printable"},
	"fleet":      {"root", "guard", "store", "analysis", "wording"},
	"browser":    {},
	"lint":       {"advisories", "kit", "facts", "format", "file"},
	"advisories": {"root"},
	"doctor":     {"kit", "dataset", "file", "plan"},
	"lab":        {"root", "kit", "host", "plan", "dataset", "build", "store", "runner", "analysis", "syncs", "guard", "facts", "near"},
	"tuning":     {"root", "kit", "plan", "dataset", "store", "stat", "lab", "tune", "expert", "emit", "wording"},
	"upgrade":    {"root", "plan", "build", "store", "facts", "gate", "lab", "wording"},
	"cmd": {"advisories", "root", "kit", "stat", "plans", "published", "host", "plan", "build", "store",
		"draft", "lab", "runner", "analysis", "report", "audit", "crash", "emit", "load", "file", "printable", "guard",
		"facts", "lint", "doctor", "gate", "history", "serve", "footprint", "dataset", "syncs", "scaffold", "tune", "tuning", "upgrade", "wording", "fleet", "format", "near"},
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
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t *testing.T, name string) source {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(words) >= 2 && strings.HasPrefix(words[1], "v") {
			modules[words[0]] = true
		}
	}
	return modules
}
