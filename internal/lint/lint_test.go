package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/internal/build/catalog"
	"assay/internal/lint/facts"
	"assay/internal/sys/format"

	"github.com/google/go-cmp/cmp"
)

func table(t *testing.T) *facts.Table {
	t.Helper()
	drivers, err := catalog.Read("../../workers")
	must(t, err)
	all, err := facts.Load(drivers, "")
	must(t, err)
	return all
}

// The packages of testdata, with the version that each is taken to require.
var versions = map[string]Driver{
	"modern54": {Name: "modernc", Version: "v1.54.0"}, "modern55": {Name: "modernc", Version: "v1.55.0"}, "matt": {Name: "mattn", Version: "v1.14.52"},
	"elsewhere": {Name: "modernc", Version: "v1.61.1"}, "limited": {Name: "modernc", Version: "v1.61.1"}, "schema": {Name: "modernc", Version: "v1.61.1"}, "unmeasured_version": {Name: "modernc", Version: "v1.60.9"},
	"nc": {Name: "ncruces", Version: "v0.32.0"}, "handle": {Name: "mattn", Version: "v1.14.52"},
	"follow": {Name: "mattn", Version: "v1.14.52"}, "orm": {Name: "mattn", Version: "v1.14.52"}, "seen": {Name: "mattn", Version: "v1.14.52"}, "deferred": {Name: "mattn", Version: "v1.14.52"}, "unfollowed": {Name: "mattn", Version: "v1.14.52"},
	"named": {Name: "modernc", Version: "v1.61.1"}, "unsure": {Name: "modernc", Version: "v1.61.1"},
}

// wanted is what a comment says that is found on its line.
var wanted = regexp.MustCompile("`[^`]+`")

// analyzed checks packages of testdata, whose comments say what is to be found, and returns the rest
// of what was noted.
func analyzed(t *testing.T, of func(pkg string) Driver, names ...string) Result {
	t.Helper()
	const dir = "testdata/src"
	p, err := loadProgram(t.Context(), dir, []string{"./..."}, table(t))
	must(t, err)
	loader := newLoader(p)
	all, err := loader.packages()
	must(t, err)
	var result Result
	for _, pkg := range all {
		name := strings.TrimPrefix(pkg.path, "src/")
		if !slices.Contains(names, name) {
			continue
		}
		var found Result
		c := checker{evaluator: newEvaluator(loader.fset, p.libraries), notes: newNotes(dir, &found), Facts: between(table(t)), pkg: name, files: pkg.files, opened: map[token.Pos]bool{},
			resolve: func(pkg, library string) (Driver, bool) {
				return of(pkg), p.libraries.all[library].driver == of(pkg).Name
			}}
		c.read(pkg.info, pkg.files)
		c.readComments()
		c.run()
		for _, judged := range c.opened {
			if judged {
				found.Judged++
			}
		}
		result.Add(found)
		text, err := os.ReadFile(filepath.Join(dir, name, "a.go"))
		must(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			_, comment, _ := strings.Cut(line, "// want ")
			want := wanted.FindAllString(comment, -1)
			for _, f := range found.Findings {
				if f.Line != i+1 {
					continue
				}
				at := slices.IndexFunc(want, func(w string) bool { return regexp.MustCompile(strings.Trim(w, "`")).MatchString(f.Message) })
				if at < 0 {
					t.Errorf("%s:%d: got %q, want no such finding", f.File, f.Line, f.Message)
					continue
				}
				want = slices.Delete(want, at, at+1)
			}
			for _, w := range want {
				t.Errorf("%s/a.go:%d: want a finding %s", name, i+1, w)
			}
		}
	}
	return result
}

func TestRules(t *testing.T) {
	analyzed(t, func(pkg string) Driver { return versions[pkg] }, slices.Sorted(maps.Keys(versions))...)
}

// reasons are what is not judged, and why.
func reasons(r Result) (all []string) {
	for _, u := range r.NotJudged {
		all = append(all, u.Parameter+": "+u.Reason)
	}
	return all
}

// Each parameter that nothing is known about is listed, with the reason.
func TestNotJudged(t *testing.T) {
	got := reasons(analyzed(t, func(string) Driver { return versions["matt"] }, "matt"))
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
	result := analyzed(t, func(string) Driver { return versions["matt"] }, "unfollowed")
	want := []string{"the name of the driver: " + onlyRunning, "the DSN: " + onlyRunning, "sql.OpenDB: what its connector sets is not followed",
		"the name of the driver: " + onlyRunning, "the DSN: " + onlyRunning}
	if diff := cmp.Diff(want, reasons(result)); diff != "" || result.Judged > 0 {
		t.Errorf("%d judged (-want +got)\n%s", result.Judged, diff)
	}
}

// Where only the running program knows how many connections a pool has, each PRAGMA of a
// connection is named that the DSN does not set.
func TestPoolOfUnknownSize(t *testing.T) {
	result := analyzed(t, func(string) Driver { return versions["unsure"] }, "unsure")
	want := []string{"PRAGMA foreign_keys: only the running program knows how many connections its pool has"}
	if diff := cmp.Diff(want, reasons(result)); diff != "" || len(result.Findings) > 0 {
		t.Errorf("%d findings (-want +got)\n%s", len(result.Findings), diff)
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
	var found Result
	c := checker{evaluator: newEvaluator(token.NewFileSet(), librariesOf(all.Drivers)), notes: newNotes("", &found), Facts: all}
	arg := &ast.BasicLit{Kind: token.STRING, Value: "`file:a?_sychronous=NORMAL`"}
	c.checkParameters(&open{arg: arg, dsn: parseDSN("file:a?_sychronous=NORMAL"), driver: versions["matt"]}, all.Versions("mattn"))
	if len(found.Findings) == 0 {
		return ""
	}
	return found.Findings[0].Message
}

// between is the table without what lies between two versions, so that later
// measurements leave the test alone.
func between(all *facts.Table) *facts.Table {
	some := facts.Table{Drivers: all.Drivers}
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
	"errors"
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

// That a version has no facts is said of each call whose DSN is followed, so that --measure
// measures it, also where no rule would have a finding with the facts of others.
func TestUnmeasuredVersions(t *testing.T) {
	for _, opened := range []string{
		`"app.db?_pragma=busy_timeout(5000)")`,
		`"app.db")`,
		`"file:app.db?_txlock=immediate")`,
		`":memory:")` + "\n\tdb.SetMaxOpenConns(1)",
	} {
		source := "package app\n\nimport (\n\t\"database/sql\"\n\n\t_ \"modernc.org/sqlite\"\n)\n\n" +
			"func Open() (*sql.DB, error) {\n\tdb, err := sql.Open(\"sqlite\", " + opened + "\n\treturn db, err\n}\n"
		result, err := Run(t.Context(), module(t, "v1.54.0", source), []string{"./..."}, table(t))
		must(t, err)
		if !slices.Equal(result.Unmeasured, []string{"modernc@"}) || result.Opens != 1 || result.Checked() {
			t.Errorf("%s: got %d opens, checked %v, unmeasured %q, want modernc@", opened, result.Opens, result.Checked(), result.Unmeasured)
		}
	}
}

// A driver that go.mod replaces by a folder has no version, and a package with
// a file of wrong syntax is still read; neither passes in silence.
func TestRunSaysWhatItCannotKnow(t *testing.T) {
	dir := module(t, "v1.54.0", app)
	result, err := Run(t.Context(), dir, []string{"./..."}, table(t))
	must(t, err)
	if len(result.Findings) != 3 || result.Findings[0].Rule != PoolPragma.ID || result.Findings[0].File != "app/app.go" || !slices.Equal(result.Unmeasured, []string{"modernc@"}) || len(result.Broken) != 3 || result.Opens != 1 || result.Missing != 1 {
		t.Errorf("got %+v, want three PRAGMAs on a pool, one open, modernc@ unmeasured, one package broken, one not judged, one missing", result)
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

// The go command ends with what asked it.
func TestGoCommandEndsWithLint(t *testing.T) {
	bin := t.TempDir()
	file := filepath.Join(bin, "pid")
	must(t, os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\necho $$ >"+file+"\nexec sleep 1000\n"), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := Run(ctx, module(t, "v1.54.0", "package app\n"), []string{"./..."}, &facts.Table{})
		done <- err
	}()
	var pid int
	for pid == 0 && t.Context().Err() == nil {
		time.Sleep(5 * time.Millisecond)
		text, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was canceled", err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("go is still there: %v", err)
	}
}
