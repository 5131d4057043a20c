package draft

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// hostileSchemas are databases that no careful program would make.
var hostileSchemas = []string{
	"CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO item VALUES (1, 'a')",
	`CREATE TABLE "a""; DROP TABLE x; --" ("b""c" TEXT PRIMARY KEY) WITHOUT ROWID`,
	"CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT DEFAULT '\x1b[2J'); INSERT INTO item DEFAULT VALUES",
	"CREATE VIEW item AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n AS id FROM c",
	"CREATE TABLE t (a); CREATE VIEW item AS SELECT a AS id FROM missing",
	"CREATE TABLE item (id INTEGER PRIMARY KEY, twice INT AS (id * 2), CHECK (id < 9)); INSERT INTO item (id) VALUES (1)",
	"CREATE TABLE item (id); INSERT INTO item VALUES (1), ('x'), (1.5), (x'00'), (NULL), (9e999)",
	"CREATE VIRTUAL TABLE item USING fts5(id)",
	"PRAGMA writable_schema = on; CREATE TABLE item (id); UPDATE sqlite_schema SET sql = 'CREATE TABLE item (id, id'",
	"PRAGMA writable_schema = on; CREATE TABLE item (id); UPDATE sqlite_schema SET rootpage = 0",
	"PRAGMA page_size = 65536; PRAGMA encoding = 'UTF-16be'; CREATE TABLE item (id); INSERT INTO item VALUES ('x')",
	"PRAGMA journal_mode = wal; CREATE TABLE item (id); INSERT INTO item VALUES (1)",
}

// hostileDatabases are the contents of such files, of damaged ones, and of what is
// no database.
func hostileDatabases(f *testing.F) (all [][]byte) {
	f.Helper()
	for _, text := range hostileSchemas {
		data, err := os.ReadFile(create(f, text))
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, data)
	}
	change := func(at int, with ...byte) {
		data := append([]byte{}, all[0]...)
		all = append(all, append(data[:at], append(with, data[at+len(with):]...)...))
	}
	change(16, 0, 0)                                           // page size
	change(16, 0xff, 0xff)                                     //
	change(18, 2, 2)                                           // a write-ahead log, and there is none
	change(18, 9, 9)                                           // a version to come
	change(28, binary.BigEndian.AppendUint32(nil, 1<<31-1)...) // pages that are not there
	change(32, binary.BigEndian.AppendUint32(nil, 1)...)       // the list of free pages is the schema
	change(100, 0xff, 0xff, 0xff)                              // the schema's page
	return append(all, nil, all[0][:16], all[0][:99], all[0][:100], all[0][:5000], []byte("#!/bin/sh\nexit 1\n"))
}

// FuzzMake: whatever a database and a file of queries hold, a draft or an error
// comes in time, and the database is the same afterwards.
func FuzzMake(f *testing.F) {
	databases := hostileDatabases(f)
	for _, data := range databases {
		f.Add(data, "SELECT * FROM item WHERE id = ?")
	}
	for _, queries := range []string{"", ";", "SELECT", "ATTACH 'x.db' AS x", "DELETE FROM item", "SELECT '\x00'", "-- name: ../x\nSELECT id FROM item", "SELECT ?99999", "PRAGMA writable_schema = on; DROP TABLE item"} {
		f.Add(databases[0], queries)
	}
	f.Fuzz(func(t *testing.T, data []byte, queries string) {
		path := filepath.Join(t.TempDir(), "own.db")
		must(t, os.WriteFile(path, data, 0o644))
		before := folder(t, filepath.Dir(path))
		o := options(path, queries)
		o.Timeout, o.CopyTimeout = 200*time.Millisecond, 10*time.Second
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		d, err := draftIn(t, ctx, o)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
			t.Error("it took a minute")
		}
		if (d == nil) == (err == nil) {
			t.Errorf("got draft %v and error %v, want one of them", d, err)
		}
		if after := folder(t, filepath.Dir(path)); len(after) != len(before) || after[0] != before[0] {
			t.Errorf("the folder of the database: got %q, want %q", after, before)
		}
	})
}
