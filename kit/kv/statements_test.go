package kv

import (
	"maps"
	"testing"
)

// The SQL of a store whose values have fields, and of one whose values have none.
func TestStatements(t *testing.T) {
	two := Of(2)
	for _, c := range []struct{ name, got, want string }{
		{"the table", two.Schema, "CREATE TABLE kv (key BLOB PRIMARY KEY, field0 BLOB NOT NULL, field1 BLOB NOT NULL) WITHOUT ROWID"},
		{"get", two.Get, "SELECT field0, field1 FROM kv WHERE key = ?"},
		{"put", two.Put, "INSERT INTO kv (key, field0, field1) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET field0 = excluded.field0, field1 = excluded.field1"},
		{"scan", two.Scan, "SELECT key, field0, field1 FROM kv WHERE key >= ? ORDER BY key LIMIT ?"},
		{"all", two.All, "SELECT key, field0, field1 FROM kv ORDER BY key"},
		{"a field replaced", two.Update(1), "UPDATE kv SET field1 = ?2 WHERE key = ?1"},
		{"a field read", two.GetField(1), "SELECT field1 FROM kv WHERE key = ?"},
		{"a scan without fields", Of(1).Scan, "SELECT key, value FROM kv WHERE key >= ? ORDER BY key LIMIT ?"},
		{"a value replaced", Of(0).Update(0), "UPDATE kv SET value = ?2 WHERE key = ?1"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, c.got, c.want)
		}
	}
	if got := Of(0); got != Of(1) || got.Fields != 1 {
		t.Errorf("no fields: got %+v, want %+v", got, Of(1))
	}
}

// A store is loaded with the settings that decide how it keeps its data, and with no other.
func TestInFiles(t *testing.T) {
	got := InFiles(map[string]string{Compression: "zstd", ValueThreshold: "64", Sync: "1", Memtable: "65536", "page_size": "4096"})
	if want := map[string]string{Compression: "zstd", ValueThreshold: "64"}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
