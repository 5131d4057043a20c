package lint

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/lint/facts"
)

func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
}

func TestPythonSettings(t *testing.T) {
	needPython(t)
	wants := map[string]string{
		`create_engine("sqlite:///app.db?_journal_mode=WAL&timeout=5")`:       "2:15 sqlite:///...?_journal_mode=WAL\n2:15 sqlite:///...?timeout=5",
		`create_engine("sqlite:///app.db?_pragma=journal_mode(WAL)")`:         "2:15 sqlite:///...?_pragma=journal_mode(WAL)",
		`create_engine("sqlite:///file:app.db?mode=ro")`:                      "2:15 sqlite:///file:...?mode=ro",
		`create_engine("sqlite:///file:app.db?mode=ro&uri=true")`:             "2:15 sqlite:///file:...?mode=ro&uri=true",
		`create_engine("sqlite+pysqlite:////a/b.db?mode=ro")`:                 "2:15 sqlite:///...?mode=ro",
		`create_engine(url="sqlite:///a.db", connect_args={"timeout": 5})`:    `2:62 connect_args={"timeout": 5}`,
		`create_engine(f"sqlite:///data/{x}.db?mode=ro")`:                     "2:15 sqlite:///...?mode=ro",
		`create_engine("sqlite:///a.db?mode=" + x)`:                           "2:15 sqlite:///...?mode=...",
		"U = 'sqlite:///a.db?mode=ro'\nE = create_engine(U)":                  "3:19 sqlite:///...?mode=ro",
		"U = 'sqlite:///a.db?mode=ro'\nU = 'b'\ncreate_engine(U)":             "",
		"def f(U='x'):\n  U = 'sqlite:///a.db?mode=ro'\n  create_engine(U)":   "",
		`create_engine(f"sqlite:///{x}?mode=ro")`:                             "", // it may begin with file:
		`create_engine("sqlite:///a.db?mode=ro&" + x)`:                        "", // it may have uri=true
		`create_engine("sqlite:///a.db?mode=ro", connect_args={"uri": True})`: `2:62 connect_args={"uri": True}`,
		`create_engine("sqlite:///a.db?mode=ro", connect_args=x)`:             "",
		`create_engine("sqlite:///a.db?mode=ro", connect_args={**x})`:         "",
		`create_engine("sqlite:///a.db?mode=ro", creator=x)`:                  "",
		`create_engine("sqlite:///a.db?mode=ro", **x)`:                        "",
		`create_engine("sqlite:///:memory:?mode=ro")`:                         "",
		`create_engine("postgresql://x/y?mode=ro")`:                           "",
		`create_engine("sqlite+aiosqlite:///a.db?mode=ro")`:                   "",
		`create_engine()`: "",
		"name = 'a.db'\nE = create_engine(f'sqlite:///{name}?mode=ro')":          "3:19 sqlite:///...?mode=ro",
		"name = 'a.db'\nE = create_engine(f'sqlite:///{name!r}?mode=ro')":        "",
		"import other\nother.create_engine('sqlite:///a.db?mode=ro')":            "",
		"import sqlalchemy as sa\nsa.create_engine('sqlite:///a.db?mode=ro')":    "3:18 sqlite:///...?mode=ro",
		"def create_database():\n  return create_engine('sqlite:///a.db?x=\\d')": `3:24 sqlite:///...?x=\\d`,
	}
	var files []source
	for text := range wants {
		files = append(files, source{text, "from sqlalchemy import create_engine\n" + text})
	}
	all, err := parsePython(t.Context(), files)
	must(t, err)
	for i, f := range files {
		var got []string
		for _, w := range all[i].settings {
			got = append(got, fmt.Sprintf("%d:%d %s", w.at.Line, w.at.Column, w.shown))
		}
		if want := wants[f.name]; strings.Join(got, "\n") != want || all[i].Problem != "" {
			t.Errorf("%s: got\n%s\nwant\n%s\n%s", f.name, strings.Join(got, "\n"), want, all[i].Problem)
		}
	}
}

// Parameters of which only the running program knows one are named, where they count.
func TestPythonParametersNotKnown(t *testing.T) {
	needPython(t)
	for text, want := range map[string]int{
		`create_engine(f"sqlite:///app.db?{x}&mode=ro")`:   1,
		`create_engine(f"sqlite:///app.db?mode={x}")`:      0,
		`create_engine(f"sqlite:///:memory:?{x}&mode=ro")`: 0,
		database(`"NAME": f"file:a.db?{x}&mode=ro"`):       1,
		database(`"NAME": f"{x}.db"`):                      0,
	} {
		all, err := parsePython(t.Context(), []source{{"a.py", "from sqlalchemy import create_engine\n" + text}})
		must(t, err)
		if got := len(all[0].Unjudged); got != want || len(all[0].settings) > 0 && want > 0 {
			t.Errorf("%s: got %+v, want %d not judged", text, all[0], want)
		}
	}
}

// Files that Python cannot read are said so, each by itself.
func TestPythonProblems(t *testing.T) {
	needPython(t)
	all, err := parsePython(t.Context(), []source{{"a.py", "print 'x'"}, {"b.py", "x\x00"}, {"c.py", strings.Repeat("(", 5000)}, {"d.py", "x = 1"}})
	must(t, err)
	for i, want := range []bool{true, true, true, false} {
		if got := all[i].Problem != ""; got != want || len(all[i].settings) > 0 {
			t.Errorf("file %d: got %+v, want a problem: %v", i, all[i], want)
		}
	}
}

func TestWithoutPython(t *testing.T) {
	t.Setenv("ASSAY_PYTHON", filepath.Join(t.TempDir(), "none"))
	if _, err := parsePython(t.Context(), []source{{"a.py", ""}}); !errors.Is(err, errNoPython) || !strings.Contains(err.Error(), "apt-get install python3") {
		t.Errorf("got %v, want that no Python is installed", err)
	}
	dir := folder(t, map[string]string{"a.py": "create_engine('sqlite:///a.db')", "b.py": "x = 1"})
	result, err := Configurations(t.Context(), dir, measured())
	if err != nil || len(result.Broken) != 1 || !strings.HasPrefix(result.Broken[0], "a.py: no Python is installed") {
		t.Errorf("got %+v, %v, want that a.py was not read", result, err)
	}
	if packages := (Result{Packages: 1}); result.Checked() {
		t.Error("something was checked, and nothing was read")
	} else if packages.Add(result); packages.Checked() {
		t.Error("what uses SQLite was not read, and passes beside a package of Go that does not")
	}
}

func TestSQLAlchemy(t *testing.T) {
	needPython(t)
	var all facts.Table
	all.Add(facts.Facts{Common: facts.Common{Driver: facts.SQLAlchemy, Version: "2.0", Defaults: map[string]string{"read_only": "0", "journal_mode": "delete", "busy_timeout": "5000"},
		Effects: map[facts.Effect][]string{facts.Applied: {"uri.mode", "url.timeout"}, facts.Ignored: {"url.mode", "url._journal_mode", "url._busy_timeout"},
			facts.Literal: {"file.mode", "file.timeout"}, facts.Fails: {"connect_args.journal_mode"}}, MisspelledFails: []string{"connect_args.timeout"}}})
	dir := folder(t, map[string]string{"requirements.txt": "SQLAlchemy[asyncio]==2.0.0 ; python_version > '3'\n", "app.py": `from sqlalchemy import create_engine
create_engine("sqlite:///a.db?mode=ro")
create_engine("sqlite:///file:a.db?mode=ro")
create_engine("sqlite:///file:a.db?timeout=7")
create_engine("sqlite:///a.db?mode=rwc&timeout=7&_journal_mode=DELETE")
create_engine("sqlite:///a.db?_busy_timeout=5001")
create_engine("sqlite:///a.db", connect_args={"journal_mode": "wal"})
create_engine("sqlite:///a.db", connect_args={"time_out": 5})
create_engine("sqlite:///a.db?_journal_mode=WAL")  # assay:ignore ignored-option later
`})
	result, err := Configurations(t.Context(), dir, &all)
	must(t, err)
	var got []string
	for _, f := range result.Findings {
		got = append(got, fmt.Sprintf("%d %s %s", f.Line, f.Rule, f.Message))
	}
	want := `2 ignored-option sqlalchemy 2.0.0: ignores sqlite:///...?mode=ro; write sqlite:///file:...?mode=ro&uri=true
3 ignored-option sqlalchemy 2.0.0: ignores sqlite:///file:...?mode=ro, and takes file: for a part of the file's name; write sqlite:///file:...?mode=ro&uri=true
6 ignored-option sqlalchemy 2.0.0: ignores sqlite:///...?_busy_timeout=5001; write sqlite:///...?timeout=SECONDS
7 refused-option sqlalchemy 2.0.0: refuses connect_args={"journal_mode": "wal"}, so that no database can be opened; no key sets it at this version: run PRAGMA journal_mode = wal on every new connection
8 refused-option sqlalchemy 2.0.0: refuses connect_args={"time_out": 5}, so that no database can be opened; did you mean connect_args={"timeout": ...}?`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

func TestPackageVersions(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"requirements.txt", "flask==3\nsqlalchemy == 2.0.41 # x\n", "2.0.41"},
		{"requirements.txt", "sqlalchemy==2.0.41 \\\n    --hash=sha256:x\n", "2.0.41"},
		{"requirements-dev.txt", "SQLAlchemy==1.4.54;python_version<'4'", "1.4.54"},
		{"requirements.txt", "sqlalchemy>=2.0\nsqlalchemy-utils==1\n# sqlalchemy==1.0\n", ""},
		{"requirements.txt", "sqlalchemy==2.0.*\nflask-sqlalchemy==3.0\n", ""},
		{"requirements.txt", "sqlalchemy==1.4.54; python_version < '3.9'\nSQLAlchemy==2.0.41; python_version >= '3.9'\n", "1.4.54 2.0.41"},
		{"poetry.lock", "[[package]]\nname = \"sqlalchemy\"\nversion = \"2.0.41\"\n", "2.0.41"},
		{"uv.lock", "[[package]]\nname = \"flask-sqlalchemy\"\nversion = \"3\"\n", ""},
		{"Pipfile.lock", `{"default": {"sqlalchemy": {"hashes": ["x"], "version": "==2.0.41"}}}`, "2.0.41"},
	} {
		if got := strings.Join(packageVersions(c.file, c.text, "sqlalchemy"), " "); got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.file, c.text, got, c.want)
		}
	}
	dir := folder(t, map[string]string{"requirements/a.txt": "sqlalchemy==1.4", "uv.lock": "name = \"sqlalchemy\"\nversion = \"2.0\"\n"})
	result, err := Configurations(t.Context(), dir, measured())
	if err != nil || len(result.Findings) > 0 {
		t.Errorf("got %+v, %v", result, err)
	}
}
