package build

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/kit/answer"
	"assay/kit/postgres/cluster"
	"assay/kit/process"
	"assay/kit/wire"
)

// opened is a worker of this checkout as it lies there, without its packages, with a
// database open.
func opened(t *testing.T, name string, request wire.Open) (*process.Worker, wire.Opened) {
	t.Helper()
	program, err := filepath.Abs(filepath.Join("..", "..", "workers", name, "worker"))
	must(t, err)
	w := started(t, program)
	var reply wire.Opened
	ask(t, w, wire.TypeOpen, request, &reply)
	return w, reply
}

func ask(t *testing.T, w *process.Worker, kind string, request, reply any) {
	t.Helper()
	if err := w.Call(t.Context(), kind, request, reply); err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
}

// ActiveRecord waits for locks by the timeout of its adapter, as in an application,
// and the timeout that is in force is read back.
func TestActiveRecordWaits(t *testing.T) {
	ruby(t)
	for want, settings := range map[string]map[string]string{"5000": nil, "1234": {"busy_timeout": "1234"}} {
		w, reply := opened(t, "activerecord", wire.Open{Path: filepath.Join(t.TempDir(), "a.db"), Readers: 1, Writers: 1, Settings: settings})
		var read wire.SettingsRead
		ask(t, w, wire.TypeSettings, wire.Settings{Names: []string{"busy_timeout"}}, &read)
		for _, connection := range read.Connections {
			if got := connection.Settings["busy_timeout"]; got != want {
				t.Errorf("%v: %s has busy_timeout %q, want %s", settings, connection.Name, got, want)
			}
		}
		if issued := reply.Issued["busy_timeout"]; len(reply.Each) > 0 || settings != nil && issued != "timeout: "+want {
			t.Errorf("%v: issued %q and %q, want it set by the adapter alone", settings, issued, reply.Each)
		}
		if fact := w.Hello().Target.Facts["busy"]; !strings.Contains(fact, "5000 ms") || !strings.Contains(fact, " waits") {
			t.Errorf("the fact busy is %q, want how long is waited, and who does", fact)
		}
	}
}

// one is an operation that reads no file.
func one(sql string) wire.Prepare {
	step := wire.Step{SQL: sql, Query: true, Rows: 1, Returns: []string{"int"}}
	return wire.Prepare{Operation: wire.Operation{Name: "one", Steps: []wire.Step{step}}, Clients: 1}
}

// What a worker reads to tell its counters is not among what an operation reads.
func TestOwnReadingDoesNotCount(t *testing.T) {
	node24(t)
	for _, name := range []string{"python", "node-sqlite", "activerecord"} {
		t.Run(name, func(t *testing.T) {
			w, _ := opened(t, name, wire.Open{Path: filepath.Join(t.TempDir(), "a.db"), Readers: 1})
			ask(t, w, wire.TypePrepare, one("SELECT 1"), nil)
			var m wire.Measured
			ask(t, w, wire.TypeMeasure, wire.Measure{Operation: "one", Operations: 1}, &m)
			if m.Operations != 1 || m.Counters.CPU <= 0 || m.Counters.Read > 100 {
				t.Errorf("an operation that reads nothing: got %+v, want it to read less than a file of /proc has", m)
			}
		})
	}
}

// The worker's own loop takes as long as the same operation of a driver that does
// nothing: a copy of a worker whose statements answer one row.
func TestOwnLoopIsThatOfANullDriver(t *testing.T) {
	node24(t)
	for name, c := range map[string]struct{ main, before, null string }{
		"python":       {"main.py", "        cursor = connection.cursor()\n", "        if sql == 'SELECT 1': return lambda args: [(1,)]\n"},
		"node-sqlite":  {"worker.js", "    if (policy === \"never\")", "    if (sql === \"SELECT 1\") return () => [{ a: 1 }];\n"},
		"activerecord": {"main.rb", "    prepare = policy == \"once\"\n", "    return ->(_args) { [[1]] } if sql == \"SELECT 1\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.CopyFS(dir, followed(filepath.Join("..", "..", "workers", name))))
			text, err := os.ReadFile(filepath.Join(dir, c.main))
			if err != nil || strings.Count(string(text), c.before) != 1 {
				t.Fatalf("%s: %v, want %q in it once", c.main, err, c.before)
			}
			put(t, dir, map[string]string{c.main: strings.Replace(string(text), c.before, c.null+c.before, 1)})
			w := started(t, filepath.Join(dir, "worker"))
			ask(t, w, wire.TypeOpen, wire.Open{Path: filepath.Join(dir, "a.db"), Readers: 1}, nil)
			ask(t, w, wire.TypePrepare, one("SELECT 1"), nil)
			shortest, m := math.Inf(1), wire.Measured{}
			for range 40 { // what disturbs the machine makes some longer
				ask(t, w, wire.TypeMeasure, wire.Measure{Operation: "one", Operations: 200, Batch: 50}, &m)
				shortest = min(shortest, float64(m.Nanos)/200)
			}
			if m.LoopNanos < shortest/3 || m.LoopNanos > shortest*3 {
				t.Errorf("the loop takes %.0f ns, and a driver that does nothing %.0f ns, want about the same", m.LoopNanos, shortest)
			}
		})
	}
}

// followed is a folder whose symbolic links are the files that they lead to.
func followed(dir string) fs.FS { return linkless{os.DirFS(dir)} }

type linkless struct{ fs.FS }

func (l linkless) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(l.FS, name)
	for i := range entries {
		info, statErr := fs.Stat(l.FS, path.Join(name, entries[i].Name()))
		if statErr != nil {
			return nil, statErr
		}
		entries[i] = fs.FileInfoToDirEntry(info)
	}
	return entries, err
}

// Clients that are measured tell what their own statements answer: numbers in
// Node.js have no integer above 2^53, while verify reads what is stored.
func TestToldAnswersAreTheMeasuredOnes(t *testing.T) {
	node24(t)
	w, _ := opened(t, "node-sqlite", wire.Open{Path: filepath.Join(t.TempDir(), "a.db"), Readers: 1})
	for sql, errs := range map[string]int64{"SELECT 1": 0, "SELECT 9007199254740993": 1} {
		op := one(sql)
		op.Operation.Name = sql
		ask(t, w, wire.TypePrepare, op, nil)
		var stored wire.Verified
		ask(t, w, wire.TypeVerify, wire.Verify{Operation: sql, Count: 1}, &stored)
		var m wire.Measured
		ask(t, w, wire.TypeMeasure, wire.Measure{Operation: sql, Operations: 1, Answers: true}, &m)
		if alike := len(m.Digests) == 1 && m.Digests[0] == stored.Digest; m.Errors != errs || alike != (errs == 0) {
			t.Errorf("%s: got %d errors (%s) and digests %q, stored is %s; want %d errors", sql, m.Errors, m.Error, m.Digests, stored.Digest, errs)
		}
	}
}

// Of a large answer all rows are told, in order, and of a unit with another number of rows
// than expected nothing.
func TestRowsOfLargeAndOfWrongAnswers(t *testing.T) {
	node24(t)
	const many = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5000) SELECT n FROM c"
	hash := answer.New([]string{"int"})
	for n := range int64(5000) {
		must(t, hash.Row([]any{n + 1}))
	}
	want := hash.Sum()
	for _, name := range []string{"python", "node-sqlite"} {
		t.Run(name, func(t *testing.T) {
			w, _ := opened(t, name, wire.Open{Path: filepath.Join(t.TempDir(), "a.db"), Readers: 1})
			for told, rows := range map[string]int{want: 5000, "": 1} {
				op := one(many)
				op.Operation.Name, op.Operation.Steps[0].Rows = fmt.Sprint(rows), rows
				ask(t, w, wire.TypePrepare, op, nil)
				var found wire.Verified
				ask(t, w, wire.TypeVerify, wire.Verify{Operation: op.Operation.Name, Count: 1}, &found)
				var m wire.Measured
				ask(t, w, wire.TypeMeasure, wire.Measure{Operation: op.Operation.Name, Operations: 1, Answers: true}, &m)
				if found != (wire.Verified{Digest: want, Rows: 5000}) || m.Errors > 0 || !slices.Equal(m.Digests, []string{told}) {
					t.Errorf("of %d rows that are expected: verified %+v, measured %+v; want the digest %q", rows, found, m, told)
				}
			}
		})
	}
}

// A driver that takes no URI gets a path, and an option for what it has one for; the rest is
// refused, and so is a DSN of a plan.
func TestPathsForURIs(t *testing.T) {
	node24(t)
	dir := t.TempDir()
	must(t, os.CopyFS(dir, followed(filepath.Join("..", "..", "workers", "node-sqlite"))))
	main, err := os.ReadFile(filepath.Join(dir, "main.js"))
	must(t, err)
	const connect = "connect: (dsn) => new DatabaseSync(dsn)"
	put(t, dir, map[string]string{"main.js": strings.Replace(string(main), connect,
		`parameters: { "mode=ro": { readOnly: true } }, connect: (path, option = {}) => new DatabaseSync(path, option)`, 1)})
	path := filepath.Join(dir, "a b.db")
	w := started(t, filepath.Join(dir, "worker"))
	for _, request := range []wire.Open{
		{Path: path, Settings: map[string]string{"immutable": "1"}}, {Path: path, Settings: map[string]string{"read_only": "1", "shared_cache": "0"}},
		{Path: path, Settings: map[string]string{"memory": "1"}}, {Path: path, DSN: "file:a.db?mode=ro"},
	} {
		request.Readers = 1
		var refused *wire.Error
		if err := w.Call(t.Context(), wire.TypeOpen, request, nil); !errors.As(err, &refused) || refused.Code != wire.Unsupported {
			t.Errorf("%+v: got %v, want unsupported", request, err)
		}
	}
	var opened wire.Opened
	ask(t, w, wire.TypeOpen, wire.Open{Path: path, Writers: 1, Once: []string{"CREATE TABLE t(a)"}}, &opened)
	if opened.DSN != path || len(opened.Issued) > 0 {
		t.Errorf("got %+v, want the path alone", opened)
	}
	reader := started(t, filepath.Join(dir, "worker"))
	ask(t, reader, wire.TypeOpen, wire.Open{Path: path, Readers: 1, Settings: map[string]string{"read_only": "1"}}, &opened)
	if opened.DSN != path || opened.Issued["read_only"] != "readOnly: true" {
		t.Errorf("got %+v, want the path and the option", opened)
	}
	var read wire.SettingsRead
	ask(t, reader, wire.TypeSettings, wire.Settings{Names: []string{"read_only", "immutable"}}, &read)
	if got := read.Connections[0].Settings; got["read_only"] != "1" || got["immutable"] != "0" {
		t.Errorf("got %v, want a connection that reads only, of a file that can change", got)
	}
}

// ActiveRecord on PostgreSQL runs no SQL with arguments, and says so.
func TestActiveRecordOnPostgreSQLWithoutArguments(t *testing.T) {
	ruby(t)
	programs, err := cluster.Find(t.Context())
	if errors.Is(err, cluster.ErrMissing) {
		t.Skip(err)
	}
	dir, mkErr := os.MkdirTemp("", "assay-") // short, for the socket's name
	must(t, errors.Join(err, mkErr))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	data := filepath.Join(dir, "data")
	must(t, programs.Init(t.Context(), data))
	server, err := programs.Start(t.Context(), cluster.Options{Data: data, Socket: dir})
	must(t, err)
	t.Cleanup(server.Kill)
	w, _ := opened(t, "activerecord-postgresql", wire.Open{Path: server.Socket(), Readers: 1, Writers: 1})
	trace := filepath.Join(dir, "trace")
	column := []byte("ASSAYCOL\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00" + // one column, one row
		"\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x38\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
		"\x07\x00\x00\x00\x00\x00\x00\x00")
	must(t, os.WriteFile(trace, column, 0o600))
	op := one("SELECT $1::int")
	op.Operation.Trace, op.Operation.Steps[0].Args = trace, 1
	var refused *wire.Error
	if err := w.Call(t.Context(), wire.TypePrepare, op, nil); !errors.As(err, &refused) || refused.Code != wire.Unsupported {
		t.Errorf("SQL with arguments: got %v, want unsupported", err)
	}
}

// Errors of the module sqlite3 have no code before Python 3.11: SQLite's own texts
// tell the codes that are needed, and nothing else does.
func TestCodesOfPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(python, "-B", "-c", `
import sqlite3, assay_worker
coded = sqlite3.OperationalError("database is locked")
coded.sqlite_errorcode = 261
texts = ["database is locked", "database table is locked: t", "no such table: locked", "the file is locked"]
print([assay_worker.sqlite3_code(e) for e in [coded] + [sqlite3.OperationalError(text) for text in texts]])
`)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join("..", "..", "workers", "lib", "python"))
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "[5, 5, 6, 0, 0]" {
		t.Errorf("got %s, %v, want [5, 5, 6, 0, 0]", out, err)
	}
}

// A worker that is not built yet, or has no Python that is new enough, ends as one
// that is not installed. One that is built and lacks a module has a fault.
func TestWhatPythonLacks(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"assay_start.py", "worker"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "workers", "lib", "python", name))
		must(t, err)
		put(t, dir, map[string]string{name + "*": string(text)})
	}
	old := "#!/bin/sh\nexec " + python + ` -c 'import sys; sys.version_info = (3, 9); sys.argv = ["", sys.argv[-1]]; exec(open(sys.argv[1] + "/assay_start.py").read())' "$@"` + "\n"
	put(t, dir, map[string]string{"old*": old, "main.py": "import no_such_package\n", "build*": ""})
	for _, c := range []struct {
		name, python string
		put          map[string]string
		code         int
		says         string
	}{
		{"not built", python, nil, process.NotInstalled, "No module named 'no_such_package': assay build "},
		{"old", filepath.Join(dir, "old"), nil, process.NotInstalled, "and the worker needs 3.10: set ASSAY_PYTHON"},
		{"built", python, map[string]string{"interpreter": python + "\n"}, 1, "No module named 'no_such_package'"},
	} {
		t.Setenv("ASSAY_PYTHON", c.python)
		put(t, dir, c.put)
		_, err := process.Start(t.Context(), filepath.Join(dir, "worker"), process.Options{})
		var ended *process.ExitError
		if !errors.As(err, &ended) || ended.Code != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want exit status %d and %q", c.name, err, c.code, c.says)
		}
	}
}
