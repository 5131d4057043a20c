//go:build unix

package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/kit/process"
	"assay/kit/workertest"
)

// edit is a fault in a worker or its library: one place of one file that says
// another thing.
type edit struct {
	file, old, with string
	check           string // that must find it
	says            string // a pattern of what is said
}

const (
	library  = "assay_worker.py"
	measured = "assay_measure.py"
	data     = "assay_data.py"
)

// edits are the faults, by name. The library for Python is a correct worker in
// another language, so that the suite is held to more than what kit does.
var edits = map[string]edit{
	"each ignored": {library, `for sql in request.get("each") or []:`, "for sql in []:",
		"SQL for each connection runs on every one", `cache_size of reader-1, .* want -4321`},
	"dsn ignored": {library, `= connection = wait(self.driver.connect(request["dsn"]))`, `= connection = wait(self.driver.connect("file:" + request["path"]))`,
		"a DSN is opened, and not the path", "elsewhere.db was not opened"},
	"once ignored": {library, `for sql in request.get("once") or []:`, "for sql in []:",
		"settings are read, and not remembered", "is -5000, want -7000"},
	"remembers settings": {library, `rows = self.rows(connection, request["sql"])`, `rows = [["-5000"]]`,
		"settings are read, and not remembered", "is -5000, want -7000"},
	"tells a miss": {library, "if self.rows in (-1, row_count(answers)):", "if True:",
		"a unit with another number of rows than expected has no digest", "digests"},
	"each from a cache": {"main.py", `each if policy == "each" else once`, "once",
		"a statement is compiled for each execution where that is asked for", "it is not compiled for each execution"},
	"WITH is not counted": {"main.py", "counted if assay_worker.uncounted(sql) else changed", "changed",
		"rows that a statement WITH changes are counted", "0 rows, expected are 1"},
	"a miss of a mix is an error": {measured, "error is None or isinstance(error, Missed)", "error is None",
		"a mix runs its parts as its trace says", "misses is 0, want 1"},
	"never tries again": {measured, "if not self.operation.retry_busy or", "if True or",
		"busy answers are counted, and tried again where that is asked for", `with retry_busy, .* is 1, want 0`},
	"busy is not counted": {measured, "share.busy += 1", "pass",
		"busy answers are counted, and tried again where that is asked for", "busy without retry_busy is 0, want 1"},
	"counters are absolute": {measured, "used = since(before)", "used = counters()",
		"counters are those of the measurement alone", `of CPU time in a call of|cpu_ns is \d+ in the reply to measure`},
	"read bytes are absolute": {data, `if name == "peak_bytes" else after[name]`, `if name in ("peak_bytes", "read_bytes") else after[name]`,
		"counters are those of the measurement alone", `read_bytes is \d+ .* only \d+ were used`},
	"a plain BEGIN": {library, `(self.begin or "immediate")`, `(self.begin or "")`,
		"a transaction takes the lock when it begins", "holds the lock is 0, want 1"},
	"begins in its own way": {library, `(request.get("settings") or {}).get("begin", "")`, `"immediate"`,
		begins, "in journal mode delete is immediate, want deferred"},
	"remembers begin": {library, `rows = self.rows(connection, request["sql"])`, `rows = (_ for _ in ()).throw(OSError("database is locked")) if "FROM sqlite_master" in request["sql"] and name.startswith("other") and self.driver.begin == "exclusive" else self.rows(connection, request["sql"])`,
		begins, "in journal mode wal is exclusive, want immediate"},
	"is always too late": {library, `getattr(error, "later", False)`, "True",
		begins, "deferred by a change, is 1, want 0"},
	"no rollback": {library, "except BaseException:\n                try:\n                    rollback(())", "except BaseException:\n                try:\n                    commit(())",
		"a transaction that fails leaves nothing", "SELECT count.* FROM parent: 1 rows with digest"},
	"no minimum of a window": {measured, "MIN_UNITS = 10", "MIN_UNITS = 1",
		"a window has ten operations of every client", "want at least 20"},
	"never gives up": {measured, "self.over = True", "pass",
		"a measurement ends after 1000 operations that are not right", "errors of 5000 .* is 5000, want 1000"},
	"measures from zero": {measured, `self.first = request.get("start", 0) // operation.unit`, "self.first = 0",
		"transactions change what they should", "SELECT count.*1 rows with digest"},
	"verifies from zero": {library, "range(start, start + count)", "range(count)",
		"verify begins at its start and goes around the trace's end", "digest of 2 positions from 1 on"},
	"does not go around": {library, "rows.unit, position % self.length", "rows.unit, min(position, self.length - 1)",
		"verify begins at its start and goes around the trace's end", "digest of 3 positions from 2 on"},
	"rows of all steps are of one": {library, "found.append((i, rows))", "found.append((0, rows))",
		"the answers of several steps are digested apart", "digest of the digests of two steps is"},
	"too few rows": {library, "found.append((i, rows))", "found.append((i, rows[:1]))",
		"the answers of several steps are digested apart", "rows is 4, want 6"},
	"tells another position": {library, "tell(position, 0, found)", "tell(0, 0, found)",
		"clients that are measured tell the answer at each position", "unit 0 was not asked for, or is told too often"},
	"tells another position of a mix": {library, "tell(at[0], i, answers)", "tell(0, i, answers)",
		"a mix tells the answers of its reading parts", "unit 0 was not asked for, or is told too often"},
	"7 is 1": {data, `struct.pack("<Bq", 1, value)`, `struct.pack("<Bq", 1, min(value, 1))`,
		types, "SELECT 7 as int: digest"},
	"5.5 is an int": {data, `struct.pack("<Bd", 2, value)`, `struct.pack("<Bq", 1, int(value))`,
		types, "SELECT 5.5 as int: want an error"},
	"'5' is an int": {data, `if isinstance(value, float):`, `if value in ("5", b"5"):` + "\n        return stored(5)\n    " + `if isinstance(value, float):`,
		types, "SELECT '5' as int: want an error"},
	"NULL is zero": {data, `if value is None:` + "\n        return b", `if value is None:` + "\n        return stored(0)\n    if False:\n        return b",
		types, "SELECT NULL as int: want an error"},
	"7 is a real": {data, `struct.pack("<Bq", 1, value)`, `struct.pack("<Bd", 2, value)`,
		types, "SELECT 7 as int: verify"},
	"private memory is shared": {library, `rows = self.rows(connection, request["sql"])`, `rows = [["t"]] * 9 if "type = 'table'" in request["sql"] else self.rows(connection, request["sql"])`,
		"a private database in memory is told from a file and from a shared one", `reads memory="1", want "private"`},
	"a file is in memory": {library, `rows = self.rows(connection, request["sql"])`, `rows = [] if "database_list" in request["sql"] else self.rows(connection, request["sql"])`,
		"a private database in memory is told from a file and from a shared one", `a database in a file: writer-1 reads memory="1", want "0"`},
	"memory of its own": {library, `= connection = wait(self.driver.connect(request["dsn"]))`, `= connection = wait(self.driver.connect("file::memory:" if "memdb" in request["dsn"] else request["dsn"]))`,
		"a database in memory is the same for all connections", "private"},
	"numbers of placeholders ignored": {library, `statement(connection, step["sql"], self.policy`, `statement(connection, __import__("re").sub(r"\?\d", "?", step["sql"]), self.policy`,
		"numbered placeholders are bound by their numbers", "Incorrect number of bindings|ProgrammingError"},
	"numbers of placeholders in order": {library, `run(arguments(position))  # await` + "\n            except", `run(arguments(position)[::-1])  # await` + "\n            except",
		"operations of several steps run all of them", "."},
}

// copied is a copy of a worker, by its name or its folder, with its library's files.
func copied(t *testing.T, worker string) (dir string) {
	t.Helper()
	from := worker
	if !filepath.IsAbs(from) {
		from = filepath.Join("..", "..", "..", "workers", worker)
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(from, entry.Name())) // which follows links
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, entry.Name()), text, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestPythonFaults: the suite finds each fault in a copy of a worker in Python, and
// nothing in the worker as it is.
func TestPythonFaults(t *testing.T) { testEdits(t, "python", edits) }

// testEdits checks that the suite finds each fault in a copy of a worker, and nothing
// in the worker as it is.
func testEdits(t *testing.T, worker string, edits map[string]edit) {
	t.Helper()
	correct := filepath.Join(copied(t, worker), "worker")
	w, err := process.Start(t.Context(), correct, process.Options{})
	var ended *process.ExitError
	if errors.As(err, &ended) && ended.Code == process.NotInstalled {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.Kill()
	checks := map[string]bool{}
	for name, e := range edits {
		checks[e.check] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := copied(t, worker)
			path := filepath.Join(dir, e.file)
			text, err := os.ReadFile(path)
			if err != nil || strings.Count(string(text), e.old) != 1 {
				t.Fatalf("%s has %q %d times, %v; want it once", e.file, e.old, strings.Count(string(text), e.old), err)
			}
			if err := os.WriteFile(path, []byte(strings.Replace(string(text), e.old, e.with, 1)), 0o755); err != nil {
				t.Fatal(err)
			}
			found := only(t, filepath.Join(dir, "worker"), e.check)
			if found.OK || found.Skipped || !regexp.MustCompile(e.says).MatchString(found.Detail) {
				t.Errorf("got %s, want a failure that matches %q", found, e.says)
			}
		})
	}
	for check := range checks {
		if got := only(t, correct, check); !got.OK && !got.Skipped { // what it refuses does not apply to it
			t.Errorf("the worker as it is: got %s, want no failure", got)
		}
	}
}

// only runs the one check of a name.
func only(t *testing.T, program, check string) workertest.Result {
	t.Helper()
	options := workertest.Options{Only: []string{check}}
	if names := workertest.Names(options); len(names) != 1 {
		t.Fatalf("%q is the name of the checks %q, want one", check, names)
	}
	var found workertest.Result
	for result := range workertest.Run(t.Context(), program, options) {
		found = result
	}
	return found
}
