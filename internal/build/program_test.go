package build

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/kit/wire"
)

// written is what a program in a language does with the connection that a worker's code
// opened: it prints two settings, and whether it can write.
var written = map[string]struct {
	interpreter, variable, folder string // what runs it, and where that finds packages
	before, after                 string
	able                          []string // which it can be opened to do
}{
	"python": {"python3", "PYTHONPATH", "packages", "import sqlite3", inPython, []string{"reads"}},
	"apsw":   {"python3", "PYTHONPATH", "packages", "import apsw", inPython, []string{"reads"}},
	"sqlalchemy": {"python3", "PYTHONPATH", "packages", "import sqlite3\nfrom sqlalchemy import create_engine, event",
		"connection = engine.connect().connection.driver_connection\n" + inPython, []string{"reads"}},
	"django": {"python3", "PYTHONPATH", "packages", "", `
from django.conf import settings
settings.configure(DATABASES=DATABASES)
from django.db import connection as default
default.ensure_connection()
connection = default.connection
` + inPython, []string{"reads"}},
	"better-sqlite3": {"node", "NODE_PATH", "node_modules", `const Database = require("better-sqlite3");`, inJavaScript, []string{"writes", "reads"}},
	"node-sqlite":    {"node", "NODE_PATH", "node_modules", `const { DatabaseSync } = require("node:sqlite");`, inJavaScript, []string{"writes", "reads"}},
	"activerecord": {"ruby", "RUBYLIB", "", `require "active_record"`, `
run = ->(sql) { ActiveRecord::Base.connection.select_value(sql) }
able = begin
  ActiveRecord::Base.connection.execute("CREATE TABLE more (n)")
  "writes"
rescue ActiveRecord::StatementInvalid
  "reads"
end
puts [run.("PRAGMA cache_size"), run.("PRAGMA busy_timeout"), able].join(" ")
`, []string{"writes"}},
}

const inPython = `
run = lambda sql: connection.execute(sql).fetchone()
try:
    run("CREATE TABLE more (n)")
    able = "writes"
except Exception:
    able = "reads"
print(run("PRAGMA cache_size")[0], run("PRAGMA busy_timeout")[0], able)
`

const inJavaScript = `
const run = (sql) => Object.values(db.prepare(sql).get())[0];
let able = "writes";
try {
  db.exec("CREATE TABLE more (n)");
} catch {
  able = "reads";
}
console.log(run("PRAGMA cache_size"), run("PRAGMA busy_timeout"), able);
`

// The code that the report shows runs as it stands, and opens what the worker opened.
func TestProgramsOpenAsWorkersDo(t *testing.T) {
	b := checkout(t)
	for name, program := range written {
		t.Run(name, func(t *testing.T) {
			w := builtOnLibrary(t, b, name)
			for _, able := range program.able {
				want, settings := "-4321 2500 "+able, map[string]string{"cache_size": "-4321", "busy_timeout": "2500"}
				if able == "reads" {
					settings["read_only"] = "1"
				}
				code := codeOf(t, w, settings)
				text := strings.Join([]string{program.before, strings.Join(code, "\n"), program.after}, "\n")
				if got := interpreted(t, filepath.Dir(w.Program), program.interpreter, program.variable, program.folder, text); got != want {
					t.Errorf("got %q, want %q, of\n%s", got, want, text)
				}
			}
		})
	}
}

// codeOf is the code of a program for what a worker opened with settings.
func codeOf(t *testing.T, w Worker, settings map[string]string) []string {
	t.Helper()
	worker := started(t, w.Program)
	path := filepath.Join(t.TempDir(), "app.db")
	must(t, os.WriteFile(path, nil, 0o644))
	var opened wire.Opened
	must(t, worker.Call(t.Context(), wire.TypeOpen, wire.Open{Path: path, Settings: settings, Writers: 1}, &opened))
	row := &analysis.Row{Measured: analysis.Measured{Cell: assay.Cell{Driver: w.Name}, DSN: opened.DSN, Each: opened.Each}}
	for _, name := range slices.Sorted(maps.Keys(opened.Issued)) {
		row.Settings = append(row.Settings, assay.Setting{Name: name, Requested: settings[name], Issued: opened.Issued[name]})
	}
	code := analysis.NewConnection(row).Code([]assay.Target{{Driver: w.Name, Facts: worker.Hello().Target.Facts}})
	if len(code) == 0 {
		t.Fatalf("no code for %+v", opened)
	}
	return code
}

// interpreted is what a program prints.
func interpreted(t *testing.T, dir, interpreter, variable, folder, text string) string {
	t.Helper()
	if interpreter == "node" {
		if own := os.Getenv("ASSAY_NODE"); own != "" {
			interpreter = own
		}
	}
	file := filepath.Join(t.TempDir(), "program")
	must(t, os.WriteFile(file, []byte(text), 0o644))
	cmd := exec.CommandContext(t.Context(), interpreter, file)
	cmd.Env = append(os.Environ(), variable+"="+filepath.Join(dir, folder))
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		t.Fatalf("%s: %v: %s, of\n%s", interpreter, err, failed.Stderr, text)
	}
	must(t, err)
	return strings.TrimSpace(string(out))
}
