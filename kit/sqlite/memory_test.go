package sqlite

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// answers are those of a file with a table, one without rowid, a virtual one,
// an index, statistics and foreign_keys on.
var answers = map[string][][]string{
	"PRAGMA page_size":    {{"8192"}},
	"PRAGMA auto_vacuum":  {{"0"}},
	"PRAGMA encoding":     {{"UTF-8"}},
	"PRAGMA query_only":   {{"0"}},
	"PRAGMA foreign_keys": {{"1"}},
	"PRAGMA user_version": {{"7"}}, "PRAGMA application_id": {{"0"}},
	"SELECT name, sql, rootpage": {{"it's", "CREATE TABLE \"it's\" (a, rowid, g AS (a))", "2"},
		{"w", "CREATE TABLE w (k PRIMARY KEY, v) WITHOUT ROWID", "3"}, {"f", "CREATE VIRTUAL TABLE f USING fts5(x)", "0"}},
	"PRAGMA table_xinfo(\"it's\")": {{"0", "a", "", "0", "", "0", "0"}, {"1", "rowid", "", "0", "", "0", "0"}, {"2", "g", "", "0", "", "0", "2"}},
	"PRAGMA table_xinfo(\"w\")":    {{"0", "k", "", "1", "", "1", "0"}, {"1", "v", "", "0", "", "0", "0"}},
	"PRAGMA index_info(\"w\")":     {{"0", "0", "k"}},
	"SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type = 'index'":   {{"CREATE INDEX i ON w (v)"}},
	"SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type = 'view'":    {{"CREATE VIEW see AS SELECT k FROM w"}},
	"SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type = 'trigger'": {{"CREATE TRIGGER gone INSTEAD OF DELETE ON see BEGIN SELECT 1; END"}},
	"SELECT name FROM sqlite_master WHERE name IN":                             {{"sqlite_stat1"}, {"sqlite_stat4"}},
}

func answer(sql string) ([][]string, error) {
	for start, rows := range answers {
		if strings.HasPrefix(sql, start) {
			return rows, nil
		}
	}
	return nil, nil
}

func TestCopyStatements(t *testing.T) {
	got, err := CopyStatements("/data/it's.db", answer)
	want := []string{
		"PRAGMA page_size = 8192",
		"PRAGMA auto_vacuum = 0",
		"PRAGMA encoding = 'UTF-8'",
		"ATTACH '/data/it''s.db' AS source",
		"PRAGMA foreign_keys = 0",
		"BEGIN IMMEDIATE",
		"PRAGMA defer_foreign_keys = 1",
		`CREATE TABLE "it's" (a, rowid, g AS (a))`,
		`INSERT INTO main."it's" (_rowid_, "a", "rowid") SELECT _rowid_, "a", "rowid" FROM source."it's" ORDER BY _rowid_`,
		"CREATE TABLE w (k PRIMARY KEY, v) WITHOUT ROWID",
		`INSERT INTO main."w" ("k", "v") SELECT "k", "v" FROM source."w" ORDER BY "k"`,
		"CREATE INDEX i ON w (v)",
		"CREATE VIEW see AS SELECT k FROM w",
		"CREATE TRIGGER gone INSTEAD OF DELETE ON see BEGIN SELECT 1; END",
		"ANALYZE main.sqlite_master",
		"DELETE FROM main.sqlite_stat1",
		"INSERT INTO main.sqlite_stat1 SELECT * FROM source.sqlite_stat1",
		"ANALYZE main.sqlite_master",
		"PRAGMA main.user_version = 7",
		"PRAGMA writable_schema = 1",
		"INSERT INTO main.sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('table', 'f', 'f', 0, 'CREATE VIRTUAL TABLE f USING fts5(x)')",
		"COMMIT",
		"PRAGMA writable_schema = RESET",
		"PRAGMA foreign_keys = 1",
		"DETACH source",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A table whose page is not told is a virtual one, which has no rows to copy.
func TestCopyStatementsOfAVirtualTable(t *testing.T) {
	got, err := CopyStatements("x", func(sql string) ([][]string, error) {
		if strings.HasPrefix(sql, "SELECT name, sql, rootpage") {
			return [][]string{{"f", "CREATE VIRTUAL TABLE f USING fts5(x)", ""}}, nil
		}
		return nil, nil
	})
	if slices.Contains(got, "CREATE VIRTUAL TABLE f USING fts5(x)") || !slices.Contains(got, "PRAGMA writable_schema = RESET") || err != nil {
		t.Errorf("got %q, %v, want it entered into the schema", got, err)
	}
}

// SQLite does not tell capitals from small letters in the names of the rowid.
func TestRowidOf(t *testing.T) {
	for want, columns := range map[string][]string{"rowid": {`"a"`}, "_rowid_": {`"RowID"`}, "oid": {`"ROWID"`, `"_rowid_"`}, "": {`"rowid"`, `"_rowid_"`, `"OID"`}} {
		if got := rowidOf(columns); got != want {
			t.Errorf("beside %v: got %q, want %q", columns, got, want)
		}
	}
}

func TestCopyStatementsOfNothing(t *testing.T) {
	got, err := CopyStatements("x", func(string) ([][]string, error) { return [][]string{{"0"}}, nil })
	if len(got) > 0 || err != nil {
		t.Error(got, err)
	}
}

func TestCopyStatementsSaysWhatFailed(t *testing.T) {
	failure := errors.New("file is not a database")
	_, err := CopyStatements("x", func(string) ([][]string, error) { return nil, failure })
	if !errors.Is(err, failure) || !strings.HasPrefix(err.Error(), "PRAGMA page_count: ") {
		t.Error(err)
	}
}
