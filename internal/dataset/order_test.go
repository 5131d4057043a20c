package dataset

import (
	"testing"

	"assay"
)

func TestQueryInOrder(t *testing.T) {
	two := []assay.Type{"int", "text"}
	for sql, want := range map[string]string{
		"SELECT id, n FROM t":                                                "SELECT id, n FROM t ORDER BY 1 NULLS FIRST, 2 NULLS FIRST ",
		"SELECT id, n FROM t ORDER BY n LIMIT 3":                             "SELECT id, n FROM t ORDER BY n , 1 NULLS FIRST, 2 NULLS FIRST LIMIT 3",
		"SELECT id, n FROM t LIMIT 3;":                                       "SELECT id, n FROM t  ORDER BY 1 NULLS FIRST, 2 NULLS FIRST LIMIT 3;",
		"SELECT id, (SELECT n FROM u ORDER BY n LIMIT 1) FROM t -- x":        "SELECT id, (SELECT n FROM u ORDER BY n LIMIT 1) FROM t ORDER BY 1 NULLS FIRST, 2 NULLS FIRST  -- x",
		"PRAGMA table_info(t)":                                               "",
		"INSERT INTO t VALUES (1, 2) RETURNING id, n":                        "",
		"WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a RETURNING id, n": "",
	} {
		got, can := QueryInOrder(assay.Query{SQL: sql, Returns: two}, false)
		if can != (want != "") || can && got.SQL != want {
			t.Errorf("%s: got %q, %t; want %q", sql, got.SQL, can, want)
		}
	}
}
