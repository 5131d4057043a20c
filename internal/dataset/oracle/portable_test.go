package oracle

import (
	"testing"

	"assay"
)

// SQL is portable where it does the same in PostgreSQL as in SQLite.
func TestPortable(t *testing.T) {
	for sql, want := range map[string]bool{
		"INSERT INTO t VALUES (?, ?)":                   true,
		"insert into t (id, n) values (?1, NULL);":      true,
		"UPDATE t SET n = n + ?2, m = 3 WHERE id = ?1":  true,
		"UPDATE t SET n = n - 1 WHERE id = ? AND n = ?": true,
		"DELETE FROM t WHERE id = ?":                    true,
		"INSERT OR REPLACE INTO t VALUES (?, ?)":        false,
		"INSERT INTO t SELECT id + 1, n FROM t":         false,
		"INSERT INTO t VALUES (?, upper(?))":            false,
		"UPDATE t SET n = n / ?2 WHERE id = ?1":         false,
		"UPDATE t SET s = s || ?2 WHERE id = ?1":        false,
		"UPDATE t SET n = ?":                            false,
		"UPDATE t SET n = ? WHERE s LIKE 'a%'":          false,
		"UPDATE t SET n = ? WHERE id = 1 -- AND n = 2":  false,
		"DELETE FROM t WHERE id > ?":                    false,
		"DELETE FROM t":                                 false,
	} {
		op := assay.Operation{Changes: true, Steps: []assay.Step{{SQL: sql}}}
		mix := assay.Operation{Changes: true, Parts: []assay.Part{{Operation: assay.Operation{Steps: []assay.Step{{SQL: "SELECT upper(s) FROM t", Query: true}}}}, {Operation: op}}}
		if got := Portable(op); got != want {
			t.Errorf("%s: got %t, want %t", sql, got, want)
		}
		if got := Portable(mix); got != want {
			t.Errorf("a mix with %s: got %t, want %t", sql, got, want)
		}
	}
}

// Of PostgreSQL's rows those columns are looked at that have there what they have
// in SQLite.
func TestRowsElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		schema, sql   string
		values, exact int
		counts        int
	}{
		"alike":              {schema, "UPDATE t SET n = n + ?2 WHERE id = ?1", 1, 5, 1},
		"other names":        {`CREATE TABLE "T" (id INTEGER PRIMARY KEY, n INTEGER)`, "UPDATE t SET n = n + ?2 WHERE id = ?1", 0, 0, 0},
		"other types":        {"CREATE TABLE t (id NUMERIC PRIMARY KEY, n INTEGER)", "UPDATE t SET n = n + ?2 WHERE id = ?1", 0, 0, 1},
		"no key":             {"CREATE TABLE t (id INTEGER, n INTEGER)", "UPDATE t SET n = n + ?2 WHERE id = ?1", 0, 0, 1},
		"it is not portable": {schema, "UPDATE t SET n = n * ?2 WHERE id = ?1", -1, 0, 0},
	} {
		rows := rowsAfter(t, c.schema, 1, PostgreSQL, assay.Step{SQL: c.sql, Args: []assay.Values{id, value}, Rows: -1})
		if rows == nil {
			if c.values >= 0 {
				t.Errorf("%s: got nothing to look at", name)
			}
			continue
		}
		exact := 0
		for _, v := range rows.Values {
			exact += v.Exact
		}
		if len(rows.Values) != c.values || exact != c.exact || len(rows.Counts) != c.counts {
			t.Errorf("%s: got %d values with %d rows and %d counts, want %d, %d and %d", name, len(rows.Values), exact, len(rows.Counts), c.values, c.exact, c.counts)
		}
	}
}
