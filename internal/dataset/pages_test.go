package dataset

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay"
)

func TestPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "user.db")
	execute(t, path, `CREATE TABLE "a ""b" (id INTEGER PRIMARY KEY, n INT, m INT UNIQUE);
		CREATE INDEX by_n ON "a ""b" (n);
		CREATE INDEX small ON "a ""b" (n) WHERE n > 5;
		CREATE INDEX doubled ON "a ""b" (n * 2);
		CREATE TABLE keyed (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID;
		CREATE VIEW seen AS SELECT 1;
		INSERT INTO "a ""b" (n, m) VALUES (1, 1), (2, 2)`)
	d := &Data{Path: path}
	got, err := d.Pages(t.Context())
	must(t, err)
	want := []string{
		`SELECT count(*) FROM "a ""b" NOT INDEXED`,
		`SELECT count(1) FROM "a ""b" INDEXED BY "sqlite_autoindex_a ""b_1"`,
		`SELECT count(1) FROM "a ""b" INDEXED BY "by_n"`,
		`SELECT count(1) FROM "a ""b" INDEXED BY "doubled"`,
		`SELECT count(*) FROM "keyed" NOT INDEXED`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for i, end := range []string{`SCAN a "b`, `INDEX sqlite_autoindex_a "b_1`, "INDEX by_n", "INDEX doubled", "SCAN keyed"} {
		if plan := queryAll(t, path, "EXPLAIN QUERY PLAN "+got[i]); !strings.HasSuffix(plan, end) {
			t.Errorf("%s: got the plan %q, want one that ends with %q", got[i], plan, end)
		}
	}
	d.Path = filepath.Join(t.TempDir(), "none.db")
	if _, err := d.Pages(t.Context()); err == nil {
		t.Error("of a file that is not there: no error")
	}
}

// Rows of tables that are read whole in loops that are nested in each other are multiplied.
func TestRowsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "user.db")
	execute(t, path, `CREATE TABLE cipher (id INTEGER PRIMARY KEY, owner INT); CREATE TABLE shared (cipher INT, owner INT);
		INSERT INTO cipher (owner) VALUES (1), (2), (3); INSERT INTO shared VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)`)
	for query, want := range map[string]int64{
		"SELECT * FROM cipher WHERE id = 1": 0,
		"SELECT * FROM cipher":              3,
		"SELECT * FROM cipher c LEFT JOIN shared AS s ON s.cipher + 0 = c.id + 0":                 15,
		"SELECT c.owner FROM `cipher` c WHERE c.owner > 0":                                        3,
		"SELECT * FROM cipher, cipher x, shared":                                                  45,
		"SELECT * FROM cipher UNION ALL SELECT * FROM shared":                                     5,
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n LIMIT 9": 0,
	} {
		op := assay.Operation{Name: "read", Steps: []assay.Step{{SQL: query, Query: true}}}
		got, err := (&Data{Path: path}).RowsRead(t.Context(), op)
		if must(t, err); got != want {
			t.Errorf("%s: got %d rows, want %d", query, got, want)
		}
	}
}
