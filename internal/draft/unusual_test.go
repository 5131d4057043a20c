package draft

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/dataset"
	"assay/internal/plan"
)

// rows is SQL for a table t with rows 1 to 300.
const rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO t SELECT i, 'text ' || i, i % 7 FROM n;"

// renamed has a schema name a function, a collation or a module that is not there.
func renamed(was, is string) string {
	return "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, '" + was + "', '" + is + "'); PRAGMA writable_schema = 0;"
}

// What SQLite cannot read here costs what needs it, and nothing else.
func TestNeedsApplication(t *testing.T) {
	const table = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL, n INT);" + rows
	for name, c := range map[string]struct{ schema, left string }{
		"function of a view":      {table + "CREATE VIEW v AS SELECT lower(a) FROM t;" + renamed("lower", "fold"), "v cannot be read here: no such function: fold"},
		"view of a lost table":    {table + "CREATE TABLE gone (x); CREATE VIEW v AS SELECT x FROM gone;" + renamed("FROM gone", "FROM lost"), "v cannot be read here: no such table: main.lost"},
		"virtual table":           {table + "CREATE VIRTUAL TABLE v USING fts5(x);" + renamed("fts5", "spellfix1"), "v cannot be read here: no such module: spellfix1"},
		"trigger":                 {table + "CREATE TRIGGER v AFTER UPDATE ON t BEGIN SELECT lower(new.a); END;" + renamed("lower", "fold"), "update-t-1, line 3: it does not compile: SQL logic error: no such function: fold (1)"},
		"key that refers to view": {table + "CREATE VIEW v AS SELECT lower(a) AS x FROM t; CREATE TABLE u (x REFERENCES v(x));" + renamed("lower", "fold"), "v cannot be read here: no such function: fold"},
		"collation":               {table + "CREATE TABLE u (x TEXT COLLATE NOCASE UNIQUE); INSERT INTO u VALUES ('a');" + renamed("NOCASE", "unicase"), ""},
		"function of an index":    {table + "CREATE TABLE u (x TEXT); CREATE INDEX v ON u(lower(x));" + renamed("lower", "fold"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			queries := "SELECT a FROM t WHERE id = ?;\nINSERT INTO t (id, a, n) VALUES (?, ?, ?);\n"
			if strings.HasPrefix(c.left, "update") {
				queries += "UPDATE t SET a = ? WHERE id = ?;"
			}
			d, err := draftIn(t, t.Context(), options(create(t, c.schema), queries))
			must(t, err)
			if want := []string{"select-t-1", "insert-t-1", "app"}; !slices.Equal(d.Operations, want) || c.left != "" && !slices.Contains(d.LeftOut, c.left) {
				t.Errorf("got %q, left out %q; want %q, and %q left out", d.Operations, d.LeftOut, want, c.left)
			}
		})
	}
}

// New rows keep to unique indexes on some rows and on expressions, and find room where ids
// are at both ends.
func TestNewRowsAreUnique(t *testing.T) {
	for name, c := range map[string]struct{ schema, queries string }{
		"some rows": {"CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, n INT); CREATE UNIQUE INDEX u ON t(a) WHERE a IS NOT NULL;" + rows,
			"INSERT INTO t (a, n) VALUES (?, ?); UPDATE t SET a = ? WHERE id = ?"},
		"several columns of some rows": {"CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, n INT); CREATE UNIQUE INDEX u ON t(a, n) WHERE n > 0;" + rows, "INSERT INTO t (a, n) VALUES (?, ?)"},
		"an expression":                {"CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, n INT); CREATE UNIQUE INDEX u ON t(lower(a));" + rows, "INSERT INTO t (a, n) VALUES (?, ?)"},
		"ids at both ends": {"CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, n INT UNIQUE); INSERT INTO t VALUES (-9223372036854775808, 'a', 1), (9223372036854775807, 'b', 2), (0, 'c', -9223372036854775808), (5, 'd', 9223372036854775807)",
			"INSERT INTO t (id, a, n) VALUES (?, ?, ?); SELECT a FROM t WHERE id BETWEEN ? AND ?; SELECT a FROM t WHERE n = ?; UPDATE t SET n = ? WHERE id = ?; DELETE FROM t WHERE id = ?"},
		"the greatest id alone": {"CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (9223372036854775807, 'b')", "INSERT INTO t (id, a) VALUES (?, ?)"},
		"no INTEGER key":        {"CREATE TABLE t (id INT NOT NULL PRIMARY KEY, at TIMESTAMP, d DATETIME NOT NULL, n NUMERIC)", "INSERT INTO t VALUES (?, ?, ?, ?); SELECT at FROM t WHERE id = ?; SELECT * FROM t WHERE at > ?; SELECT d, n FROM t WHERE id = ?"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := draftIn(t, t.Context(), options(create(t, c.schema), c.queries))
			must(t, err)
			left := slices.DeleteFunc(d.LeftOut, func(why string) bool {
				return strings.HasPrefix(why, "the mix") || strings.HasPrefix(why, "from the mix") || strings.HasPrefix(why, "driver")
			})
			if len(left) > 0 {
				t.Errorf("left out %q, want nothing", left)
			}
		})
	}
}

// A plan stays right when the application has inserted rows since it was drafted.
func TestRowsAddedLater(t *testing.T) {
	path := create(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, n INT); CREATE TABLE s (k INT UNIQUE NOT NULL, v REAL);"+rows+"INSERT INTO s SELECT id, 1 FROM t")
	o := options(path, "INSERT INTO t VALUES (?, ?, ?); INSERT INTO s VALUES (?, ?); INSERT INTO t (id, a) VALUES (?, ?);\nBEGIN; INSERT INTO t VALUES (?, ?, ?); INSERT INTO t VALUES (?, ?, ?); COMMIT; SELECT a FROM t WHERE id = ?")
	d, err := draftIn(t, t.Context(), o)
	must(t, err)
	db, err := sql.Open("sqlite", path)
	must(t, err)
	for i := range 50 {
		_, err = db.Exec("INSERT INTO t (a) VALUES ('later'); INSERT INTO s VALUES (?, 2)", 301+i)
		must(t, err)
	}
	must(t, db.Close())
	must(t, os.MkdirAll(filepath.Dir(o.Plan), 0o755))
	must(t, os.WriteFile(o.Plan, []byte(d.Text), 0o600))
	p, err := plan.Decode(o.Plan, []byte(d.Text))
	must(t, err)
	cases, err := p.Expand([]string{"mattn"})
	must(t, err)
	data, err := dataset.Cache{Dir: t.TempDir()}.Prepare(t.Context(), cases[0].Dataset)
	must(t, err)
	played := 0
	for _, c := range cases {
		if c.Cell.Profile != "web" {
			continue
		}
		if err := play(t, data, c); err != nil {
			t.Errorf("%s: %v", c.Operation.Name, err)
		}
		played++
	}
	if played != 6 {
		t.Errorf("played %d operations, want 6; left out %q", played, d.LeftOut)
	}
}

func play(t *testing.T, data *dataset.Data, c assay.Case) error {
	op, err := data.Resolve(t.Context(), c.Operation)
	if err != nil {
		return fmt.Errorf("resolve: %w", err)
	}
	trace, err := data.Trace(t.Context(), op, 60)
	if err != nil {
		return err
	}
	_, err = data.Expect(t.Context(), op, trace, 60, 0)
	return err
}

// What the mix leaves out, such as the slowest query, and what is guessed is told, and not
// only written into the plan.
func TestDecisionsAreTold(t *testing.T) {
	d, err := draftIn(t, t.Context(), options(create(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, n INT);"+rows),
		"SELECT a FROM t WHERE id = ?; SELECT count(*) FROM t WHERE a LIKE ?; INSERT INTO t VALUES (?, ?, ?); DELETE FROM t WHERE id = ?"))
	must(t, err)
	if want := "from the mix app: delete-t-1: the others may need what it deletes"; !slices.Contains(d.LeftOut, want) {
		t.Errorf("left out: got %q, want %q", d.LeftOut, want)
	}
	if d.Mix != "app" {
		t.Errorf("the mix is %q, want app", d.Mix)
	}
	want := []string{"how often each operation comes in app (90 % reads, 10 % changes), and its clients (8)"}
	if !slices.Equal(d.Decisions, want) {
		t.Errorf("decisions: got %q, want %q", d.Decisions, want)
	}
	if want := []string{"select-t-2, line 1: argument 1"}; !slices.Equal(d.ToDo, want) {
		t.Errorf("to do: got %q, want %q", d.ToDo, want)
	}
}
