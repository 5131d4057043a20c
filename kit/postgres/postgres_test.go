package postgres

import "testing"

func TestStatement(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT a FROM t WHERE id = ? AND b = ?":      "SELECT a FROM t WHERE id = $1 AND b = $2",
		"UPDATE t SET n = ?2 WHERE id = ?1":           "UPDATE t SET n = $2 WHERE id = $1",
		"SELECT '?', \"a?\" /* ? */ FROM t -- ?":      "SELECT '?', \"a?\" /* ? */ FROM t -- ?",
		"INSERT INTO t VALUES (?, ?), (?, 'it''s ?')": "INSERT INTO t VALUES ($1, $2), ($3, 'it''s ?')",
	} {
		if got := Statement(sql); got != want {
			t.Errorf("%s\n got %s\nwant %s", sql, got, want)
		}
	}
}

func TestSchema(t *testing.T) {
	for sql, want := range map[string]string{
		"CREATE TABLE m (\n id INTEGER PRIMARY KEY, -- INTEGER\n text TEXT NOT NULL, hp INT, real REAL)":                  "CREATE TABLE m (\n id bigint PRIMARY KEY, -- INTEGER\n text TEXT NOT NULL, hp bigint, real double precision)",
		"CREATE TABLE kv (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID":                                       "CREATE TABLE kv (key bytea PRIMARY KEY, value bytea NOT NULL)",
		"create table s (blob text, \"integer\" int, c integer default (1), primary key (blob, c)) strict, without rowid": "create table s (blob text, \"integer\" bigint, c bigint default (1), primary key (blob, c))",
		"CREATE INDEX i ON t (blob, int); CREATE TABLE t (a FLOAT)":                                                       "CREATE INDEX i ON t (blob, int); CREATE TABLE t (a double precision)",
	} {
		if got := Schema(sql); got != want {
			t.Errorf("%s\n got %s\nwant %s", sql, got, want)
		}
	}
}

func TestNormal(t *testing.T) {
	for _, test := range []struct{ name, value, want string }{
		{"fsync", "on", "on"}, {"fsync", "0", "off"}, {"synchronous_commit", "OFF", "off"},
		{"shared_buffers", "128MB", "134217728"}, {"shared_buffers", "134217728", "134217728"}, {"work_mem", "4096 kB", "4194304"}, {"max_wal_size", "1TB", "1099511627776"},
		{"shared_buffers", "much", ""}, {"shared_buffers", "9223372036854775807GB", ""}, {"synchronous_commit", "perhaps", ""},
		{"wal_compression", "on", "pglz"}, {"wal_compression", "LZ4", "lz4"}, {"wal_compression", "off", "off"}, {"wal_compression", "gzip", ""},
		{"effective_io_concurrency", "200", "200"}, {"effective_io_concurrency", "1001", ""}, {"effective_io_concurrency", "-1", ""},
	} {
		setting, ok := Lookup(test.name)
		if !ok {
			t.Fatalf("no setting %s", test.name)
		}
		got, err := setting.Normal(test.value)
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%s %s: %q, %v, want %q", test.name, test.value, got, err, test.want)
		}
	}
}

func TestDurability(t *testing.T) {
	for _, test := range []struct{ fsync, pages, commit, want string }{
		{"on", "on", "on", "power"}, {"on", "on", "local", "power"}, {"on", "on", "off", "consistent"},
		{"off", "on", "on", "process"}, {"on", "off", "off", "process"}, {"", "on", "on", ""}, {"on", "on", "remote_x", ""},
	} {
		got := Durability(map[string]string{"fsync": test.fsync, "full_page_writes": test.pages, "synchronous_commit": test.commit})
		if got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}
