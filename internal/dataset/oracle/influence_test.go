package oracle

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay"

	"github.com/google/go-cmp/cmp"
)

// A key that is NULL is given by the engine: whatever the SQL of an argument looks like, its
// values tell.
func TestNulls(t *testing.T) {
	asks := func(query string) assay.Values { return assay.Values{Kind: assay.Expression, Query: query} }
	one := assay.Operation{Name: "one", Changes: true, Steps: []assay.Step{
		{SQL: "INSERT INTO t VALUES (?, ?)", Args: []assay.Values{asks("SELECT iif(:i % 9, :i, NULL)"), id}},
		{SQL: "INSERT INTO t VALUES (?, ?, ?)", Args: []assay.Values{asks("SELECT CASE WHEN 1 THEN 7 END"), {Kind: assay.Row, Draw: assay.InOrder, Query: "SELECT 1 UNION ALL SELECT NULL"}, value}},
	}}
	mix := assay.Operation{Name: "mix", Parts: []assay.Part{{Operation: assay.Operation{Name: "read", Steps: []assay.Step{{SQL: "SELECT 1", Query: true}}}, Weight: 1}, {Operation: one, Weight: 1}}}
	d := tableOfFive(t, schema)
	for _, op := range []assay.Operation{one, mix} {
		trace, err := d.Trace(t.Context(), op, 100)
		must(t, err)
		got, err := nullsOf(op, trace)
		must(t, err)
		if diff := cmp.Diff([][]bool{{true, false, false, true, false}}, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", op.Name, diff)
		}
	}
}

// What statements do to tables, with all that they set off.
func TestInfluences(t *testing.T) {
	const tables = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, g INTEGER AS (n + 1)); CREATE TABLE u (id INTEGER PRIMARY KEY, n INTEGER); CREATE TABLE v (id INTEGER PRIMARY KEY, n INTEGER);"
	const first = "CREATE TRIGGER r AFTER UPDATE ON t BEGIN UPDATE u SET n = 1; END;"
	for name, c := range map[string]struct {
		triggers, sql string
		want          []string // TABLE, and whether the order decides which rows change
		problem       string
	}{
		"one row":                       {"", "UPDATE t SET n = ? WHERE id = ?", []string{"t"}, ""},
		"a column that is written":      {"", "UPDATE t SET n = ? WHERE n = ?", []string{"t decided"}, ""},
		"a column that is not stored":   {"", "UPDATE t SET n = ? WHERE g = ?", []string{"t decided"}, ""},
		"a key that moves":              {"", "UPDATE t SET id = ? WHERE n = ?", []string{"t decided"}, ""},
		"a savepoint":                   {"", "SAVEPOINT a; UPDATE t SET n = ? WHERE id = ?; RELEASE a", []string{"t"}, ""},
		"what is undone":                {"", "UPDATE t SET n = ? WHERE id = ?; ROLLBACK TO a", nil, "cannot be told"},
		"a trigger":                     {first, "UPDATE t SET n = ? WHERE id = ?", []string{"t", "u decided"}, ""},
		"a trigger of a trigger":        {first + "CREATE TRIGGER s AFTER UPDATE ON u BEGIN UPDATE v SET n = 1; END", "UPDATE t SET n = ? WHERE id = ?", []string{"t", "u decided", "v decided"}, ""},
		"a trigger of another table":    {"CREATE TRIGGER s AFTER UPDATE ON u BEGIN UPDATE v SET n = 1; END", "UPDATE t SET n = ? WHERE id = ?", []string{"t"}, ""},
		"a trigger that refuses":        {"CREATE TRIGGER r BEFORE UPDATE ON t BEGIN SELECT RAISE(IGNORE); END", "UPDATE t SET n = ? WHERE id = ?", nil, "decides what becomes of a row"},
		"a trigger of one that refuses": {first + "CREATE TRIGGER s BEFORE UPDATE ON u BEGIN SELECT RAISE(IGNORE); END", "UPDATE t SET n = ? WHERE id = ?", nil, "decides what becomes of a row"},
	} {
		db, err := sql.Open("sqlite", ":memory:")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		conn, err := db.Conn(t.Context())
		if err == nil {
			_, err = conn.ExecContext(t.Context(), tables+c.triggers)
		}
		if err != nil {
			t.Fatal(err)
		}
		all, err := tablesOf(t.Context(), conn)
		if err != nil {
			t.Fatal(err)
		}
		found, err := influencesOf(t.Context(), conn, assay.Operation{Changes: true, Steps: []assay.Step{{SQL: c.sql, Args: []assay.Values{value, id}}}}, nil, all)
		if c.problem != "" {
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%s: got %v, want ...%s", name, err, c.problem)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for of, in := range found {
			got = append(got, strings.TrimSpace(fmt.Sprint(of.name, map[bool]string{true: " decided"}[in.decided])))
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
