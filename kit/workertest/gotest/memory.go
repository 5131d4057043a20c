//go:build unix

package gotest

import (
	"path/filepath"
	"testing"

	"assay/kit/answer"
	"assay/kit/process"
	"assay/kit/wire"
)

// content is a database with all that a copy in memory must have.
var content = []string{
	"CREATE TABLE child(id INTEGER PRIMARY KEY AUTOINCREMENT, parent INTEGER REFERENCES parent(id))",
	"CREATE TABLE parent(id INTEGER PRIMARY KEY)",
	"CREATE TABLE plain(s TEXT, rowid INTEGER)",
	"CREATE TABLE keyed(k TEXT PRIMARY KEY, v) WITHOUT ROWID",
	"CREATE TABLE doubled(n INTEGER, twice INTEGER AS (2 * n))",
	"CREATE INDEX plain_s ON plain(s)",
	"INSERT INTO parent VALUES (7)",
	"INSERT INTO child VALUES (41, 7)",
	"INSERT INTO plain(_rowid_, s, rowid) VALUES (100, 'b', 1), (5, 'a', 2)",
	"INSERT INTO keyed VALUES ('y', 2), ('x', 1)",
	"INSERT INTO doubled(n) VALUES (21)",
	"CREATE VIEW seen AS SELECT s FROM plain",
	"CREATE TRIGGER grow AFTER INSERT ON parent BEGIN INSERT INTO child(parent) VALUES (new.id); END",
	"ANALYZE",
	"PRAGMA user_version = 9",
}

// Memory checks that a database in memory has the content of the prepared
// file, the same for all connections, and that it is no file.
func Memory(t *testing.T, program string) {
	path := filepath.Join(t.TempDir(), "data.db")
	call(t, program, wire.Open{Path: path, Readers: 1, Idle: 1, Once: content}, nil)
	for _, request := range []wire.Open{{Readers: 1, Idle: 1}, {Writers: 1}, {Readers: 3, Idle: 3, Writers: 2}} {
		request.Path = path
		request.Settings = map[string]string{"memory": "1", "foreign_keys": "1"}
		request.Once = []string{"INSERT INTO parent VALUES (8)"}
		call(t, program, request, func(worker *process.Worker) { inMemory(t, worker) })
	}
	call(t, program, wire.Open{Path: path, Readers: 1, Idle: 1}, func(worker *process.Worker) {
		digested(t, worker, "SELECT count(*) FROM parent", []any{int64(1)}) // the file was left alone
	})
}

func inMemory(t *testing.T, worker *process.Worker) {
	t.Helper()
	var read wire.SettingsRead
	if err := worker.Call(t.Context(), wire.TypeSettings, wire.Settings{Names: []string{"memory", "foreign_keys"}}, &read); err != nil {
		t.Fatal(err)
	}
	for _, c := range read.Connections {
		if c.Settings["memory"] != "1" || c.Settings["foreign_keys"] != "1" {
			t.Errorf("%s reads %v, want memory and foreign_keys 1", c.Name, c.Settings)
		}
	}
	digested(t, worker, "SELECT id FROM child ORDER BY id", []any{int64(41)}, []any{int64(42)}) // the trigger's, by the sequence
	digested(t, worker, "SELECT _rowid_, rowid FROM plain ORDER BY _rowid_", []any{int64(5), int64(2)}, []any{int64(100), int64(1)})
	digested(t, worker, "SELECT v FROM keyed ORDER BY k", []any{int64(1)}, []any{int64(2)})
	digested(t, worker, "SELECT twice FROM doubled", []any{int64(42)})
	digested(t, worker, "SELECT count(*) FROM seen", []any{int64(2)})
	digested(t, worker, "SELECT count(*) FROM sqlite_stat1 WHERE idx = 'plain_s'", []any{int64(1)})
	digested(t, worker, "PRAGMA user_version", []any{int64(9)})
}

// digested checks the answer to a query of integers.
func digested(t *testing.T, worker *process.Worker, sql string, rows ...[]any) {
	t.Helper()
	types := make([]string, len(rows[0]))
	for i := range types {
		types[i] = "int"
	}
	hash := answer.New(types)
	for _, row := range rows {
		if err := hash.Row(row); err != nil {
			t.Fatal(err)
		}
	}
	var got wire.Verified
	if err := worker.Call(t.Context(), wire.TypeVerify, wire.Verify{SQL: sql, Returns: types}, &got); err != nil {
		t.Fatal(err)
	}
	if want := (wire.Verified{Digest: hash.Sum(), Rows: hash.Rows()}); got != want {
		t.Errorf("%s: %+v, want %+v", sql, got, want)
	}
}

// call opens a database in a worker of its own, uses it and closes it.
func call(t *testing.T, program string, request wire.Open, use func(*process.Worker)) {
	t.Helper()
	worker := started(t, program)
	if err := worker.Call(t.Context(), wire.TypeOpen, request, nil); err != nil {
		t.Fatal(err)
	}
	if use != nil {
		use(worker)
	}
	if _, err := worker.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}
