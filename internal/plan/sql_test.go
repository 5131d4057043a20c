package plan

import (
	"reflect"
	"testing"
)

func TestStatement(t *testing.T) {
	query, change, both := statement{query: true}, statement{changes: true}, statement{query: true, changes: true}
	with := func(s statement, params int) statement { s.params = params; return s }
	for sql, want := range map[string]statement{
		"SELECT 1": query,
		"  -- a comment\n select ? /* ? */ , '?', \"?\";": with(query, 1),
		"VALUES (?), (?)":                                                       with(query, 2),
		"EXPLAIN QUERY PLAN DELETE FROM t":                                      query,
		"PRAGMA page_count":                                                     query,
		"PRAGMA table_info(t)":                                                  query,
		"PRAGMA cache_size = 10":                                                change,
		"INSERT INTO t VALUES (?, ?)":                                           with(change, 2),
		"insert into t values (?) returning id":                                 with(both, 1),
		"REPLACE INTO t VALUES (1)":                                             change,
		"UPDATE t SET a = (SELECT 'RETURNING')":                                 change,
		"DELETE FROM t RETURNING *":                                             both,
		"WITH a AS (SELECT 1) SELECT replace(x, 'a', ?) FROM a":                 with(query, 1),
		"WITH a(x) AS (SELECT 1), b AS (DELETE) INSERT INTO t SELECT x FROM a":  change,
		"WITH RECURSIVE a AS (VALUES (1)) UPDATE t SET x = 1 RETURNING [a ; b]": both,
		"CREATE TABLE u (id)":                                                   change,
		"VACUUM":                                                                change,
		"SELECT ?2, ?1, ?2":                                                     with(query, 2),
		"SELECT ?3, ?":                                                          with(query, 4),
		"SELECT 'it''s ?', `a``?`":                                              query,
	} {
		m := newMistakes("")
		tokens, ok := m.single(place{1, 1}, sql)
		var got statement
		if ok {
			got, ok = m.kind(place{1, 1}, tokens)
		}
		if !ok || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", sql, got, m.err(), want)
		}
	}
}

func TestSchemaTables(t *testing.T) {
	got := schemaTables(`
		CREATE TABLE a (id INTEGER PRIMARY KEY, "b c" TEXT DEFAULT 'x, y' CHECK (length("b c") < 10, 1), [D] NUMERIC(10, 2), UNIQUE (id, d));
		-- CREATE TABLE no (id);
		CREATE TEMP TABLE IF NOT EXISTS main.e (f, CONSTRAINT k PRIMARY KEY (f)) WITHOUT ROWID;
		CREATE VIRTUAL TABLE g USING fts5(h, i);
		CREATE TABLE j AS SELECT 1;
		CREATE INDEX l ON a (id); CREATE TABLE`)
	want := map[string][]string{"a": {"id", "b c", "d"}, "e": {"f"}, "g": nil, "j": nil}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
