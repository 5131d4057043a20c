package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/internal/lint/facts"
	"assay/internal/sys/format"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

func table(t *testing.T) *facts.Table {
	t.Helper()
	all, err := facts.Load("")
	must(t, err)
	return all
}

// The packages of testdata, with the version that each is taken to require.
var versions = map[string]Driver{
	"modern54": {"modernc", "v1.54.0"}, "modern55": {"modernc", "v1.55.0"}, "matt": {"mattn", "v1.14.52"},
	"elsewhere": {"modernc", "v1.61.1"}, "limited": {"modernc", "v1.61.1"}, "schema": {"modernc", "v1.61.1"}, "between": {"modernc", "v1.60.9"},
	"nc": {"ncruces", "v0.32.0"}, "handle": {"mattn", "v1.14.52"},
	"follow": {"mattn", "v1.14.52"}, "seen": {"mattn", "v1.14.52"}, "deferred": {"mattn", "v1.14.52"}, "unfollowed": {"mattn", "v1.14.52"},
}

func TestRules(t *testing.T) {
	resolve := func(pkg, library string) (Driver, bool) {
		return versions[pkg], libraries[library].driver == versions[pkg].Name
	}
	packages := slices.Sorted(maps.Keys(versions))
	analysistest.Run(t, analysistest.TestData(), Analyzer(Config{Facts: between(table(t)), Resolve: resolve}), packages...)
}

// Each parameter that nothing is known about is listed, with the reason.
func TestNotJudged(t *testing.T) {
	var got []string
	resolve := func(_, library string) (Driver, bool) {
		return versions["matt"], libraries[library].driver == "mattn"
	}
	analysistest.Run(t, analysistest.TestData(), Analyzer(Config{Facts: between(table(t)), Resolve: resolve, NotJudged: func(_ token.Position, _ Driver, parameter, reason string) {
		got = append(got, parameter+": "+reason)
	}}), "matt")
	const none, value = ": no experiment is about it", ": no experiment is about this value, and "
	want := []string{"vfs=unix" + none, "modeof=a.db" + none, "_txlock=immediat" + none, "_tz=UTC" + none, "_timefmt=iso" + none, "_stmt_cache_size=9" + none,
		"_journal_mode=WALL" + value + "journal_mode is not known to take it", "_busy_timeout=5s" + value + "busy_timeout is not known to take it",
		"_cache_size=64MB" + value + "cache_size is not known to take it", "mode=rwx" + value + "read_only is not known to take it"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// What opens SQLite and cannot be followed is named.
func TestUnfollowed(t *testing.T) {
	var got []string
	judged := 0
	resolve := func(_, library string) (Driver, bool) {
		return versions["matt"], libraries[library].driver == "mattn"
	}
	analysistest.Run(t, analysistest.TestData(), Analyzer(Config{Facts: between(table(t)), Resolve: resolve, NotJudged: func(_ token.Position, _ Driver, parameter, reason string) {
		got = append(got, parameter+": "+reason)
	}, Opened: func(_ token.Position, known bool) {
		if known {
			judged++
		}
	}}), "unfollowed")
	want := []string{"the name of the driver: " + onlyRunning, "sql.OpenDB: what its connector sets is not followed", "the DSN: " + onlyRunning}
	if diff := cmp.Diff(want, got); diff != "" || judged > 0 {
		t.Errorf("%d judged (-want +got)\n%s", judged, diff)
	}
}

// An experiment settles whether a driver knows a parameter.
func TestExperimentSettlesSpelling(t *testing.T) {
	f, _ := table(t).Find("mattn", "v1.14.52")
	s, _, _ := facts.Parse(true, "_sychronous=NORMAL")
	slip, found := f.Near(s)
	if !found {
		t.Fatal("_sychronous is near nothing")
	}
	for effect, want := range map[facts.Effect]string{facts.Applied: "", facts.Ignored: "ignores _sychronous: did you mean _synchronous?", facts.Fails: "refuses _sychronous: did you mean _synchronous?"} {
		var all facts.Table
		f.Effects = maps.Clone(f.Effects)
		for e, spellings := range f.Effects {
			f.Effects[e] = slices.DeleteFunc(slices.Clone(spellings), func(s string) bool { return s == slip.Written.String() })
		}
		f.Effects[effect] = append(f.Effects[effect], slip.Written.String())
		all.Add(f)
		got := spelled(t, &all)
		if !strings.HasSuffix(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: got %q, want %q", effect, got, want)
		}
	}
}

// spelled is what is said of a misspelled key.
func spelled(t *testing.T, all *facts.Table) string {
	t.Helper()
	said := ""
	fset := token.NewFileSet()
	c := checker{evaluator: newEvaluator(fset), Config: Config{Facts: all}, pass: &analysis.Pass{
		Fset: fset, Report: func(d analysis.Diagnostic) { said = d.Message }}}
	arg := &ast.BasicLit{Kind: token.STRING, Value: "`file:a?_sychronous=NORMAL`"}
	o := &open{arg: arg, dsn: parseDSN("file:a?_sychronous=NORMAL"), driver: versions["matt"]}
	c.checkParameter(o, "_sychronous=NORMAL", all.Versions("mattn"))
	return said
}

// between is the table without what lies between two versions, so that later
// measurements leave the test alone.
func between(all *facts.Table) *facts.Table {
	var some facts.Table
	for _, f := range slices.Concat(all.Versions("modernc"), all.Versions("mattn"), all.Versions("ncruces")) {
		if slices.Contains([]string{"v1.54.0", "v1.55.0", "v1.61.1", "v1.14.52", "v0.32.0"}, f.Version) {
			some.Add(f)
		}
	}
	return &some
}

// Each rule has a section in the documentation.
func TestRulesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../" + docs)
	must(t, err)
	for _, rule := range Rules() {
		if !strings.Contains(string(page), "\n### "+rule.ID+"\n") {
			t.Errorf("%s has no section ### %s", docs, rule.ID)
		}
	}
}

// module makes a module that requires drivers which are made here, in the
// place of the real ones.
func module(t *testing.T, version, source string) string {
	t.Helper()
	return folder(t, map[string]string{
		"go.mod": "module example.test/app\n\ngo 1.26\n\nrequire modernc.org/sqlite " + version +
			"\n\nreplace modernc.org/sqlite " + version + " => ./sqlite\n",
		"sqlite/go.mod":    "module modernc.org/sqlite\n\ngo 1.26\n",
		"sqlite/sqlite.go": "package sqlite\n",
		"app/app.go":       source,
		"app/broken.go":    "package app\n\nfunc (\n",
	})
}

const app = `package app

import (
	"context"
	"database/sql"
	"example.test/missing"

	_ "modernc.org/sqlite"
)

func Open() (*sql.DB, error) {
	missing.Call()
	return sql.Open("sqlite", ":memory:?_pragma=foreign_keys(1)")
}

type store struct{ db *sql.DB }

func (s store) tune(ctx context.Context) {
	s.db.ExecContext(ctx, "PRAGMA cache_size = 20")
	s.db.ExecContext(ctx, "PRAGMA cache_size = 10; PRAGMA temp_store = 2")
}
`

// That a version was not measured is said where a rule needed its facts, and not elsewhere.
func TestUnmeasuredWhereAFactIsNeeded(t *testing.T) {
	for opened, want := range map[string][]string{
		`sql.Open("sqlite", "app.db?_pragma=busy_timeout(5000)")`: {"modernc@"}, // whether it is applied
		`sql.Open("sqlite", "app.db")`:                            {"modernc@"}, // whether it waits
		`one(sql.Open("sqlite", ":memory:"))`:                     nil,
	} {
		source := "package app\n\nimport (\n\t\"database/sql\"\n\n\t_ \"modernc.org/sqlite\"\n)\n\n" +
			"func Open() (*sql.DB, error) {\n\tdb, err := " + strings.TrimSuffix(strings.TrimPrefix(opened, "one("), "))")
		if strings.HasPrefix(opened, "one(") {
			source += ")\n\tdb.SetMaxOpenConns(1)"
		}
		source += "\n\treturn db, err\n}\n"
		result, err := Run(t.Context(), module(t, "v1.54.0", source), []string{"./..."}, table(t))
		must(t, err)
		if !slices.Equal(result.Unmeasured, want) || result.Opens != 1 {
			t.Errorf("%s: got %d opens, unmeasured %q, want %q", opened, result.Opens, result.Unmeasured, want)
		}
	}
}

// A driver that go.mod replaces by a folder has no version, and a package with
// a file of wrong syntax is still read; neither passes in silence.
func TestRunSaysWhatItCannotKnow(t *testing.T) {
	dir := module(t, "v1.54.0", app)
	result, err := Run(t.Context(), dir, []string{"./..."}, table(t))
	must(t, err)
	if len(result.Findings) != 3 || result.Findings[0].Rule != PoolPragma.ID || result.Findings[0].File != "app/app.go" || !slices.Equal(result.Unmeasured, []string{"modernc@"}) || len(result.Broken) != 2 || result.Opens != 1 || result.Missing != 1 {
		t.Errorf("got %+v, want three PRAGMAs on a pool, one open, modernc@ unmeasured, one package broken, one missing", result)
	}
	if drivers, err := Unmeasured(t.Context(), dir, []string{"./..."}, table(t)); err != nil || len(drivers) > 0 {
		t.Errorf("got %v, %v to be measured, want nothing: a folder has no version", drivers, err)
	}
	if _, err := Run(t.Context(), t.TempDir(), []string{"./..."}, table(t)); err == nil {
		t.Error("a folder without a module is no error")
	}
}

func write(t *testing.T, name string) format.Format[Result] {
	t.Helper()
	f, err := Formats("v1").Named(name)
	must(t, err)
	return f
}

// Source that is a FIFO or a device is refused before the go command reads it.
func TestRunReadsRegularFilesOnly(t *testing.T) {
	dir := module(t, "v1.54.0", "package app\n")
	must(t, syscall.Mkfifo(filepath.Join(dir, "app", "x.go"), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := Run(ctx, dir, []string{"./..."}, table(t)); err == nil || !strings.Contains(err.Error(), "x.go is not a regular file") {
		t.Errorf("got %v, want x.go refused", err)
	}
}

func TestFormats(t *testing.T) {
	r := Result{Findings: []Finding{{IgnoredKey.ID, WithoutEffect, "a.go", 3, 7, "x", docs + "#ignored-key"}, {NoTimeout.ID, Risk, "b.go", 1, 1, "y", ""}}}
	var text, sarif bytes.Buffer
	must(t, write(t, "text").Write(&text, r))
	if want := "a.go:3:7: without effect: x [ignored-key]\nb.go:1:1: risk: y [no-busy-timeout]\n"; text.String() != want {
		t.Errorf("got %q, want %q", text.String(), want)
	}
	must(t, write(t, "sarif").Write(&sarif, r))
	var log struct {
		Runs []struct {
			Tool    struct{ Driver struct{ Rules []any } }
			Results []struct {
				Level     string
				Locations []struct {
					PhysicalLocation struct{ Region struct{ StartLine int } }
				}
			}
		}
	}
	must(t, json.Unmarshal(sarif.Bytes(), &log))
	got := log.Runs[0].Results
	if len(got) != 2 || got[0].Level != "error" || got[1].Level != "warning" || got[0].Locations[0].PhysicalLocation.Region.StartLine != 3 {
		t.Errorf("got %+v, want an error at line 3 and a warning", got)
	}
	if len(log.Runs[0].Tool.Driver.Rules) != len(Rules()) {
		t.Errorf("got %d rules, want %d", len(log.Runs[0].Tool.Driver.Rules), len(Rules()))
	}
}

func TestParseDSN(t *testing.T) {
	for text, want := range map[string]struct {
		parameters string
		whole      bool
		memory     bool
		forms      int
	}{
		"file:a.db?x=1&y=2":               {"x=1 y=2", true, false, 1},
		"a.db":                            {"", true, false, 1},
		unknown:                           {"", false, false, 2},
		unknown + "?x=1":                  {"x=1", true, false, 2},
		unknown + "&x=1":                  {"x=1", false, false, 2},
		"file:" + unknown + "?x=1":        {"x=1", true, false, 1},
		"file:a.db?x=1" + unknown:         {"x=1" + unknown, false, false, 1},
		"file:a.db?" + unknown + "=1&y=2": {"y=2", false, false, 1},
		":memory:":                        {"", true, true, 1},
		"file:x?mode=memory":              {"mode=memory", true, true, 1},
	} {
		d := parseDSN(text)
		if got := strings.Join(d.parameters, " "); got != want.parameters || d.whole != want.whole || (d.memory != "") != want.memory || len(d.forms) != want.forms {
			t.Errorf("%q: got %q whole %v memory %q forms %v, want %+v", text, got, d.whole, d.memory, d.forms, want)
		}
	}
}
