package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay/internal/lint/facts"
	"assay/internal/sys/file"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/analysis"
	goanalysis "golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// Finding is one thing that is wrong, and where.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	File     string   `json:"file"` // from the folder that was asked about
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Message  string   `json:"message"`
	Docs     string   `json:"docs"`
}

// Result is what was found.
type Result struct {
	Findings []Finding `json:"findings"`
	// NotJudged are parameters that nothing is known about: no findings.
	NotJudged []Unjudged `json:"not_judged,omitempty"`
	// Untried are parameters that an experiment could decide about.
	Untried []Untried `json:"-"`
	// Unmeasured are the drivers whose version has no facts of its own.
	Unmeasured []string `json:"unmeasured,omitempty"`
	// Broken are packages that could not be read in full.
	Broken   []string `json:"broken,omitempty"`
	Packages int      `json:"packages"`
	// Opens is how many calls that open SQLite were found.
	Opens int `json:"opens"`
	// Configurations is how many files with settings of other languages' libraries
	// were found.
	Configurations int `json:"configurations,omitempty"`
	// Judged is how many of these calls and files were judged, and Seen how many places show
	// that SQLite is used.
	Judged, Seen int `json:"-"`
	// Missing are imported packages that are not there.
	Missing int `json:"-"`
}

// Checked reports whether what uses SQLite was: without it, no findings say nothing.
func (r *Result) Checked() bool {
	return r.Missing == 0 && (r.Judged > 0 || r.Seen == 0)
}

// Add puts another result in.
func (r *Result) Add(other Result) {
	r.Findings = append(r.Findings, other.Findings...)
	r.NotJudged = append(r.NotJudged, other.NotJudged...)
	r.Unmeasured = append(r.Unmeasured, other.Unmeasured...)
	r.Broken = append(r.Broken, other.Broken...)
	r.Packages += other.Packages
	r.Opens += other.Opens
	r.Configurations += other.Configurations
	r.Judged += other.Judged
	r.Seen += other.Seen
	r.Missing += other.Missing
	r.sort()
}

func (r *Result) sort() {
	slices.SortFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column, strings.Compare(a.Rule+a.Message, b.Rule+b.Message))
	})
	slices.SortFunc(r.NotJudged, func(a, b Unjudged) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column, strings.Compare(a.Parameter, b.Parameter))
	})
	r.NotJudged = slices.Compact(r.NotJudged) // a package is there again with its tests
	slices.Sort(r.Unmeasured)
	r.Unmeasured = slices.Compact(r.Unmeasured)
	slices.Sort(r.Broken)
	r.Broken = slices.Compact(r.Broken)
}

// ErrNothing says that patterns match no package.
var ErrNothing = errors.New("no packages match")

// program is the packages of a module with all that they are made of.
type program struct {
	byPath map[string]*packages.Package
	roots  []*packages.Package
}

// Unmeasured returns the drivers that packages reach at versions without facts.
func Unmeasured(ctx context.Context, dir string, patterns []string, table *facts.Table) ([]Driver, error) {
	p, err := loadProgram(ctx, dir, patterns)
	if err != nil {
		return nil, err
	}
	var all []Driver
	for _, path := range libraryPaths() {
		driver, there := p.version(path)
		if _, measured := table.Find(driver.Name, driver.Version); there && !measured && driver.Version != "" {
			all = append(all, driver)
		}
	}
	return all, nil
}

// Run checks the packages that patterns name, in a folder.
func Run(ctx context.Context, dir string, patterns []string, table *facts.Table) (Result, error) {
	p, err := loadProgram(ctx, dir, patterns)
	if err != nil {
		return Result{}, err
	}
	loader := newLoader()
	all, err := loader.packages(p.roots)
	if err != nil {
		return Result{}, err
	}
	program := newEvaluator(loader.fset)
	for _, pkg := range all {
		program.add(pkg.TypesInfo, pkg.Syntax)
	}
	var elsewhere []*open
	for _, pkg := range all {
		c := checker{evaluator: program, Config: Config{Resolve: p.resolve}, pass: &analysis.Pass{Pkg: pkg.Types, Fset: pkg.Fset}}
		opens, _ := c.opens(pkg.Syntax)
		elsewhere = append(elsewhere, slices.DeleteFunc(opens, func(o *open) bool { return c.isTest(o.call) })...)
	}
	opened := map[token.Position]bool{}
	result := Result{Findings: []Finding{}, Packages: len(p.roots)}
	analyzer := Analyzer(Config{Facts: table, Resolve: p.resolve, program: program, elsewhere: elsewhere,
		Opened: func(at token.Position, judged bool) { opened[at] = opened[at] || judged },
		NotJudged: func(at token.Position, d Driver, parameter, reason string) {
			result.NotJudged = append(result.NotJudged, Unjudged{relative(dir, at.Filename), at.Line, at.Column, d.Name, d.Version, parameter, reason})
		},
		Untried:    func(u Untried) { result.Untried = append(result.Untried, u) },
		Unmeasured: func(d Driver) { result.Unmeasured = append(result.Unmeasured, d.Name+"@"+d.Version) }})
	graph, err := goanalysis.Analyze([]*analysis.Analyzer{analyzer}, all, &goanalysis.Options{Sequential: true})
	if err != nil {
		return Result{}, err
	}
	for _, action := range graph.Roots {
		if action.Err != nil {
			return Result{}, fmt.Errorf("%s: %w", action.Package.PkgPath, action.Err)
		}
		if len(action.Package.Errors) > 0 {
			result.Broken = append(result.Broken, action.Package.Errors[0].Msg)
		}
		for _, d := range action.Diagnostics {
			at := action.Package.Fset.Position(d.Pos)
			result.Findings = append(result.Findings, Finding{d.Category, ruleOf(d.Category).Severity, relative(dir, at.Filename), at.Line, at.Column, d.Message, d.URL})
		}
	}
	result.Opens = len(opened)
	for _, judged := range opened {
		if judged {
			result.Judged++
		}
	}
	p.see(&result)
	result.sort()
	result.Findings = slices.CompactFunc(result.Findings, func(a, b Finding) bool { // a package is there again with its tests
		return a.File == b.File && a.Line == b.Line && a.Column == b.Column && a.Rule == b.Rule
	})
	return result, nil
}

// see notes where the program uses SQLite, and what of it is not there.
func (p *program) see(result *Result) {
	missing, first := 0, ""
	packages.Visit(p.roots, nil, func(pkg *packages.Package) {
		if len(pkg.GoFiles) == 0 && len(pkg.Errors) > 0 && !strings.Contains(pkg.Errors[0].Msg, "build constraints exclude") {
			missing++
			problem, _, _ := strings.Cut(strings.TrimSpace(pkg.Errors[0].Msg), "\n")
			first = cmp.Or(first, pkg.PkgPath+": "+problem)
		}
	})
	if missing > 0 {
		result.Missing += missing
		result.Broken = append(result.Broken, fmt.Sprintf("imported packages that are not there: %d, such as %s; go mod download fetches modules", missing, first))
	}
	for _, root := range p.roots {
		if strings.Contains(root.ID, " [") || strings.HasSuffix(root.PkgPath, ".test") { // with tests
			continue
		}
		for path, imported := range root.Imports {
			if (imported.Module == nil || !imported.Module.Main) && ofSQLite.MatchString(path) {
				result.Seen++
				if result.Judged == 0 {
					result.Broken = append(result.Broken, fmt.Sprintf("%s imports %s, and no call that opens SQLite was judged", root.PkgPath, path))
				}
			}
		}
	}
}

// ofSQLite is a package for SQLite, also one that no experiment is about.
var ofSQLite = regexp.MustCompile(`(?i)sqlite|sqlcipher|libsql`)

// relative is a file's name from a folder, where it lies below that.
func relative(dir, name string) string {
	if absolute, err := filepath.Abs(dir); err == nil {
		if below, err := filepath.Rel(absolute, name); err == nil && !strings.HasPrefix(below, "..") {
			name = below
		}
	}
	return filepath.ToSlash(name)
}

// loadProgram asks the go command what packages are made of.
func loadProgram(ctx context.Context, dir string, patterns []string) (*program, error) {
	if err := file.CheckGo(dir); err != nil {
		return nil, err
	}
	mode := packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedModule | packages.NeedFiles
	roots, err := packages.Load(&packages.Config{Context: ctx, Dir: dir, Mode: mode, Tests: true}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("load packages: %w", err)
	}
	p := &program{byPath: map[string]*packages.Package{}, roots: roots}
	files := 0
	packages.Visit(roots, nil, func(pkg *packages.Package) {
		p.byPath[pkg.PkgPath] = pkg
	})
	for _, root := range roots {
		files += len(root.GoFiles)
	}
	if files == 0 {
		for _, root := range roots {
			for _, e := range root.Errors {
				return nil, nothing(dir, root.PkgPath, e.Msg)
			}
		}
		return nil, fmt.Errorf("%w %s", ErrNothing, strings.Join(patterns, " "))
	}
	return p, nil
}

// nothing says that a pattern matches no package. The go command takes a folder
// without ./ before it for a package of the standard library.
func nothing(dir, pattern, problem string) error {
	if !strings.Contains(problem, "is not in std") {
		return fmt.Errorf("%w: %s", ErrNothing, problem)
	}
	if info, err := os.Stat(filepath.Join(dir, pattern)); err == nil && info.IsDir() {
		return fmt.Errorf("%w %s: write ./%s for the folder, or ./%s/... with those below it", ErrNothing, pattern, pattern, pattern)
	}
	return fmt.Errorf("%w %s: write ./FOLDER for a folder of the module, ./... for all of them", ErrNothing, pattern)
}

func libraryPaths() []string { return slices.Sorted(maps.Keys(libraries)) }

// version is the driver that the program has, with the version that was chosen.
func (p *program) version(path string) (Driver, bool) {
	pkg := p.byPath[path]
	if pkg == nil {
		return Driver{}, false
	}
	d := Driver{Name: libraries[path].driver}
	module := pkg.Module
	if module == nil { // it was never downloaded
		d.Version = p.required(libraries[path].module)
		return d, true
	}
	d.Version = module.Version
	if r := module.Replace; r != nil {
		d.Version = ""
		if r.Path == libraries[path].module {
			d.Version = r.Version
		}
	}
	return d, true
}

// required is the version of a module in go.mod; empty where it is replaced.
func (p *program) required(module string) string {
	for _, root := range p.roots {
		if root.Module == nil || root.Module.GoMod == "" {
			continue
		}
		data, err := file.Read(root.Module.GoMod, file.MaxModule)
		if err != nil {
			return ""
		}
		mod, err := modfile.Parse(root.Module.GoMod, data, nil)
		if err != nil {
			return ""
		}
		for _, r := range mod.Replace {
			if r.Old.Path == module {
				return ""
			}
		}
		for _, r := range mod.Require {
			if r.Mod.Path == module {
				return r.Mod.Version
			}
		}
	}
	return ""
}

// resolve finds out whether a package reaches a driver: it imports it, or a
// program of these packages imports both, or, last, any of the packages does.
func (p *program) resolve(pkg, library string) (Driver, bool) {
	driver, there := p.version(library)
	if !there {
		return Driver{}, false
	}
	sqlName := libraries[library].sqlName
	for _, other := range libraryPaths() {
		if other == library || libraries[other].sqlName != sqlName || p.byPath[other] == nil {
			continue
		}
		// Two drivers of one name: only a package that imports one of them tells.
		if !p.imports(pkg, library) || p.imports(pkg, other) {
			return Driver{}, false
		}
	}
	return driver, true
}

// imports reports whether a package imports another, by itself or through others.
func (p *program) imports(pkg, library string) bool {
	found := false
	if from := p.byPath[pkg]; from != nil {
		packages.Visit([]*packages.Package{from}, func(of *packages.Package) bool {
			found = found || of.PkgPath == library
			return !found
		}, nil)
	}
	return found
}
