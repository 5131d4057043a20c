//go:build unix

package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/internal/build"
)

const (
	rustLibrary  = "assay.rs"
	rustMeasured = "assay_measure.rs"
	rustData     = "assay_data.rs"
	rustSQL      = "assay_sql.rs"
	rustStore    = "assay_store.rs"
)

// rustFault stands in an edit for whether the worker is to have this fault. All are compiled
// into one program, since each compilation takes seconds.
const rustFault = "FAULT"

// rustEdits are the faults in a copy of the worker rusqlite, by name.
var rustEdits = map[string]edit{
	"each ignored": {rustSQL, `let each = texts(r, "each");`, `let each = if FAULT { Vec::new() } else { texts(r, "each") };`,
		"SQL for each connection runs on every one", `cache_size of reader-1, .* want -4321`},
	"dsn ignored": {rustSQL, `self.connect(&format!("{kind}-{i}"), text(r, "dsn"),`, `self.connect(&format!("{kind}-{i}"), text(r, if FAULT { "path" } else { "dsn" }),`,
		"a DSN is opened, and not the path", "elsewhere.db was not opened"},
	"once ignored": {rustSQL, `in texts(r, "once")`, `in if FAULT { Vec::new() } else { texts(r, "once") }`,
		"settings are read, and not remembered", "is -5000, want -7000"},
	"remembers settings": {rustSQL, `"" => self.driver.compile(db, sql)`, `"" if FAULT => Ok(row(&[Value::Int(-5000)])), "" => self.driver.compile(db, sql)`,
		"settings are read, and not remembered", "is -5000, want -7000"},
	"tells a miss": {rustLibrary, "if rows != want && want >= 0 {", "if rows != want && want >= 0 && !(FAULT && told.is_some()) {",
		"a unit with another number of rows than expected has no digest", "digests|misses"},
	"each from a cache": {rustSQL, "ran = match o.policy", "ran = match if FAULT { Policy::Once } else { o.policy }",
		"a statement is compiled for each execution where that is asked for", "it is not compiled for each execution"},
	"never tries again": {rustMeasured, "if !self.want.retry", "if FAULT || !self.want.retry",
		"busy answers are counted, and tried again where that is asked for", `with retry_busy, .* is 1, want 0`},
	"busy is not counted": {rustMeasured, "tally.busy += 1;", "tally.busy += !FAULT as u64;",
		"busy answers are counted, and tried again where that is asked for", "busy without retry_busy is 0, want 1"},
	"counters are absolute": {rustMeasured, "- before.0[i]", "- if FAULT { 0 } else { before.0[i] }",
		"counters are those of the measurement alone", `of CPU time in a call of|cpu_ns is \d+ in the reply to measure|read_bytes is \d+`},
	"a plain BEGIN": {rustSQL, `unwrap_or("immediate")`, `unwrap_or(if FAULT { "" } else { "immediate" })`,
		"a transaction takes the lock when it begins", "holds the lock is 0, want 1"},
	"begins in its own way": {rustSQL, `r["settings"]["begin"].as_str()`, `r["settings"]["begin"].as_str().filter(|_| !FAULT)`,
		begins, "in journal mode delete is , want deferred|is immediate, want deferred"},
	"remembers begin": {rustSQL, `let ran = match control {`, `if FAULT && sql.contains("FROM sqlite_master") && self.begin.as_deref() == Some("exclusive") { return Err(failed("database is locked")); } let ran = match control {`,
		begins, "in journal mode wal is exclusive, want immediate"},
	"is always too late": {rustSQL, "stale: busy && later", "stale: busy && (FAULT || later)",
		begins, "deferred by a change, is 1, want 0"},
	"no rollback": {rustSQL, "self.control(conn, o.policy, 2)", "self.control(conn, o.policy, if FAULT { 1 } else { 2 })",
		"a transaction that fails leaves nothing", "SELECT count.* FROM parent: 1 rows with digest"},
	"no minimum of a window": {rustMeasured, "from >= LEAST_UNITS * want.clients", "(FAULT || from >= LEAST_UNITS * want.clients)",
		"a window has ten operations of every client", "want at least 20"},
	"never gives up": {rustMeasured, "over || self.wrong", "over || !FAULT && self.wrong",
		"a measurement ends after 1000 operations that are not right", "errors of 5000 .* is 5000, want 1000"},
	"measures from zero": {rustLibrary, "client.unit(engine, o, start / k + u,", "client.unit(engine, o, if FAULT { 0 } else { start / k } + u,",
		"transactions change what they should", "SELECT count.*1 rows with digest"},
	"verifies from zero": {rustLibrary, "for p in start..start + n", "for p in if FAULT { 0..n } else { start..start + n }",
		"verify begins at its start and goes around the trace's end", "digest of 2 positions from 1 on"},
	"does not go around": {rustLibrary, "p % o.positions()", "if FAULT { p.min(o.positions() - 1) } else { p % o.positions() }",
		"verify begins at its start and goes around the trace's end", "digest of 3 positions from 2 on"},
	"rows of all steps are of one": {rustSQL, "seen.add(i, row)", "seen.add(if FAULT { 0 } else { i }, row)",
		"the answers of several steps are digested apart", "digest of the digests of two steps is"},
	"too few rows": {rustData, "self.count += 1;", "if FAULT && self.count > 0 { return; } self.count += 1;",
		"the answers of several steps are digested apart", "rows is 2, want 6"},
	"tells another position": {rustLibrary, "seen.write(unit, part, file)", "seen.write(if FAULT { 0 } else { unit }, part, file)",
		"clients that are measured tell the answer at each position", "unit 0 was not asked for, or is told too often"},
	"7 is 1": {rustData, "(1, n.to_le_bytes()", "(1, if FAULT { 1 } else { *n }.to_le_bytes()",
		types, "SELECT 7 as int: digest"},
	"5.5 is an int": {rustData, "Value::Real(f) => (2,", "Value::Real(f) if FAULT => (1, (*f as i64).to_le_bytes(), &[]), Value::Real(f) => (2,",
		types, "SELECT 5.5 as int: want an error"},
	"NULL is zero": {rustData, "Value::Null => return", "Value::Null if FAULT => (1, [0; 8], &[]), Value::Null => return",
		types, "SELECT NULL as int: want an error"},
	"private memory is shared": {rustSQL, `if !text(r, "dsn").is_empty() {`, `let sql = if FAULT && sql.contains("type = 'table'") { "VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9)" } else { sql }; if !text(r, "dsn").is_empty() {`,
		"a private database in memory is told from a file and from a shared one", `reads memory="1", want "private"`},
	"a file is in memory": {rustSQL, `let conn = self.all().chain(`, `let sql = if FAULT && sql.contains("database_list") { "SELECT 1 WHERE 0" } else { sql }; let conn = self.all().chain(`,
		"a private database in memory is told from a file and from a shared one", `a database in a file: writer-1 reads memory="1", want "0"`},
	"memory of its own": {rustSQL, `self.driver.open(dsn)?`, `self.driver.open(if FAULT && dsn.contains("memdb") { "file::memory:" } else { dsn })?`,
		"a database in memory is the same for all connections", "private"},
}

// storeEdits are the faults in a copy of the worker redb.
var storeEdits = map[string]edit{
	"deletes nothing": {rustStore, `"delete" => t.delete`, `"delete" if FAULT => Ok(1), "delete" => t.delete`,
		"random operations leave what a model has, also when opened again", "digest"},
	"another field": {rustStore, "value[step.field * n..]", "value[if FAULT { 0 } else { step.field * n }..]",
		"one field of a value is replaced, and read", "digest"},
	"each get sees another moment": {rustStore, "self.look(Some(&mut *t),", "self.look(if FAULT { None } else { Some(&mut *t) },",
		"gets of one read transaction see the store of one moment", "."},
	"loads nothing": {rustStore, "t.put(key, value)?;", "if !FAULT { t.put(key, value)?; }",
		"records are loaded, and are there when the store is opened again", "digest"},
}

// TestRustFaults: the suite finds each fault in a copy of a worker in Rust, and nothing in
// the same program without one.
func TestRustFaults(t *testing.T) {
	for worker, edits := range map[string]map[string]edit{"rusqlite": rustEdits, "redb": storeEdits} {
		t.Run(worker, func(t *testing.T) {
			program := compiledWith(t, worker, edits)
			for name, e := range edits {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					start := filepath.Join(t.TempDir(), "worker")
					script := "#!/bin/sh\nASSAY_FAULT='" + name + "' exec '" + program + "'\n"
					if err := os.WriteFile(start, []byte(script), 0o755); err != nil {
						t.Fatal(err)
					}
					found := only(t, start, e.check)
					if found.OK || found.Skipped || !regexp.MustCompile(e.says).MatchString(found.Detail) {
						t.Errorf("got %s, want a failure that matches %q", found, e.says)
					}
					if got := only(t, program, e.check); !got.OK {
						t.Errorf("without a fault: got %s, want it to pass", got)
					}
				})
			}
		})
	}
}

// compiledWith compiles a copy of a worker that has each fault where it is named.
func compiledWith(t *testing.T, worker string, edits map[string]edit) (program string) {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles a driver")
	}
	dir := t.TempDir()
	folder := filepath.Join(dir, "workers", worker)
	if err := os.CopyFS(folder, os.DirFS(copied(t, worker))); err != nil {
		t.Fatal(err)
	}
	change := func(file string, change func(string) string) {
		path := filepath.Join(folder, file)
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(change(string(text))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, e := range edits {
		change(e.file, func(text string) string {
			if n := strings.Count(text, e.old); n != 1 {
				t.Fatalf("%s has %q %d times, want it once", e.file, e.old, n)
			}
			return strings.Replace(text, e.old, strings.ReplaceAll(e.with, rustFault, `crate::assay::fault("`+name+`")`), 1)
		})
	}
	change(rustLibrary, func(text string) string {
		return text + "\npub fn fault(name: &str) -> bool { std::env::var(\"ASSAY_FAULT\").is_ok_and(|f| f == name) }\n"
	})
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	b := build.Builder{Source: build.Source{Dir: dir}, Cache: filepath.Join(cache, "assay")}
	w, err := b.Build(t.Context(), build.Spec{Name: worker})
	if lacks := new(build.NotInstalledError); errors.As(err, &lacks) || errors.Is(err, build.ErrUnreachable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w.Program
}
