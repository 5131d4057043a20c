package dataset

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"assay"

	"github.com/google/go-cmp/cmp"
)

func TestDescribe(t *testing.T) {
	d := prepare(t, assay.Dataset{Schema: `
		CREATE TABLE t (id INTEGER PRIMARY KEY, i INT, u UNSIGNED BIG INT NOT NULL, c VARCHAR(20), b BLOB, r DOUBLE, p FLOATING POINT,
			f BOOLEAN NOT NULL, n DECIMAL(10,2), d DATE, x, e TEXT);
		CREATE TABLE s (t_id INT NOT NULL, PRIMARY KEY (t_id)) WITHOUT ROWID;
		INSERT INTO t VALUES (1, 2, 3, 'c', x'00', 1.5, 7, 1, 5, '2024-01-01', 'x', NULL);
		CREATE TABLE a (y ANY, z ANY) STRICT;
		INSERT INTO a VALUES (5, 'x');
		INSERT INTO s VALUES (1)`})
	cases := []struct {
		query string
		args  []any
		want  string
	}{
		{"SELECT id, i, u, c, b, r, p, f, n, d, x, e FROM t", nil, "int int? int text? blob? real? int? bool real? text? text? text?"},
		{"SELECT rowid FROM t", nil, "int"},
		{"SELECT t_id FROM s", nil, "int"},
		{"SELECT id, u FROM t WHERE id = ?", []any{int64(99)}, "int int"}, // no row is needed
		{"SELECT count(*), sum(r), max(c), 1 = 1, x'00', 2.0 FROM t", nil, "int? real? text? int? blob? real?"},
		{"SELECT id, count(*) FROM t", nil, "int? int?"}, // an aggregate over no row would make it NULL
		{"SELECT s.t_id FROM t LEFT JOIN s ON s.t_id = t.id + 1", nil, "int?"},
		{"SELECT s.t_id FROM t JOIN s ON s.t_id = t.id", nil, "int"},
		{"SELECT (SELECT t_id FROM s WHERE t_id = 9)", nil, "int?"},
		{"SELECT ?, ? UNION ALL SELECT 1, 'late'", []any{nil, nil}, "int? text?"},
		{"SELECT f, x FROM t", nil, "bool text?"},
		{"SELECT y, z FROM a", nil, "int? text?"},
		{"PRAGMA page_size", nil, "int?"},
	}
	for _, c := range cases {
		got, err := d.Describe(t.Context(), c.query, c.args)
		var want []assay.Type
		for _, one := range strings.Fields(c.want) {
			want = append(want, assay.Type(one))
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v, (-want +got)\n%s", c.query, err, diff)
		}
	}
}

func TestDescribeBesideViews(t *testing.T) {
	d := prepare(t, assay.Dataset{Schema: `CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE TABLE s (id INTEGER PRIMARY KEY);
		INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT s.id FROM t LEFT JOIN s USING (id)`})
	if got, err := d.Describe(t.Context(), "SELECT id FROM v", nil); err != nil || !reflect.DeepEqual(got, []assay.Type{"int?"}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestDescribeErrors(t *testing.T) {
	d := account(t)
	for query, want := range map[string]string{
		"SELECT 1, NULL":      "describe the answer: column 2 has no declared type and no value to tell it by",
		"SELECT x FROM y":     "no such table: y",
		"DELETE FROM account": "it answers no columns",
		"":                    "it answers no columns",
	} {
		if _, err := d.Describe(t.Context(), query, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v lacks %q", query, err, want)
		}
	}
}

func TestResolve(t *testing.T) {
	d := account(t)
	before := read(t, d.Path)
	op := assay.Operation{Name: "app", Changes: true, Parts: []assay.Part{
		{Weight: 1, Operation: assay.Operation{Name: "read", Steps: []assay.Step{
			query("SELECT id, upper(name) FROM account WHERE id = ?1 + 15 AND ?1 > 2", -1), // a row from position 3 on
			query("SELECT 1 WHERE ? >= 0", 1, "bool"),
		}}},
		{Weight: 1, Operation: assay.Operation{Name: "insert", Changes: true, Steps: []assay.Step{
			{SQL: "INSERT INTO account (id, balance, name) VALUES (? + 100, 1, 'new')", Args: next, Rows: 1},
			{SQL: "SELECT lower(name) FROM account WHERE id >= 100", Query: true, Rows: -1},
		}, Check: &assay.Query{SQL: "SELECT max(name) FROM account WHERE id >= 100"}}},
	}, Check: &assay.Query{SQL: "SELECT balance FROM account"}}
	got, err := d.Resolve(t.Context(), op)
	must(t, err)
	types := func(op assay.Operation) [][]assay.Type {
		return [][]assay.Type{op.Parts[0].Operation.Steps[0].Returns, op.Parts[0].Operation.Steps[1].Returns, op.Parts[1].Operation.Steps[0].Returns,
			op.Parts[1].Operation.Steps[1].Returns, op.Parts[1].Operation.Check.Returns, op.Check.Returns}
	}
	if want := [][]assay.Type{{"int?", "text?"}, {"bool"}, nil, {"text?"}, {"text?"}, {"int"}}; !reflect.DeepEqual(types(got), want) {
		t.Errorf("got %v, want %v", types(got), want)
	}
	if want := [][]assay.Type{nil, {"bool"}, nil, nil, nil, nil}; !reflect.DeepEqual(types(op), want) {
		t.Errorf("the argument became %v", types(op))
	}
	if read(t, d.Path) != before {
		t.Error("the data were changed")
	}
	again, err := d.Resolve(t.Context(), got)
	if err != nil || !reflect.DeepEqual(again, got) {
		t.Errorf("resolved again: %+v, %v", again, err)
	}
}

// An aggregate of an empty table answers one row of NULL: that is an answer, of the type that it
// has as soon as the table has rows.
func TestResolveNullOfEveryRow(t *testing.T) {
	d := prepare(t, assay.Dataset{Schema: "CREATE TABLE empty (id INTEGER PRIMARY KEY, n INT, w TEXT)"})
	op, err := d.Resolve(t.Context(), assay.Operation{Name: "none", Steps: []assay.Step{query("SELECT sum(n), max(w), count(*), max(id) + 1 FROM empty", 1)}})
	if want := []assay.Type{"int?", "text?", "int?", "int?"}; err != nil || !reflect.DeepEqual(op.Steps[0].Returns, want) {
		t.Errorf("got %v, %v; want %v", op.Steps[0].Returns, err, want)
	}
}

func TestResolveAnswersOfEmptyTables(t *testing.T) {
	d := prepare(t, assay.Dataset{Schema: `CREATE TABLE "a ""b" (id INTEGER PRIMARY KEY, free, word TEXT NOT NULL, at DATETIME, price DECIMAL(8,2),
		data BLOB, twice INT AS (id * 2)); CREATE VIEW v AS SELECT max(word) AS last FROM "a ""b"`})
	for query, want := range map[string][]assay.Type{
		`SELECT max(free), min(at), sum(price), max(data), sum(twice), group_concat(id) FROM "a ""b"`: {"text?", "text?", "real?", "blob?", "int?", "text?"},
		`SELECT last, (SELECT upper(word) FROM "a ""b" WHERE id = 1) FROM v`:                          {"text?", "text?"},
		`SELECT free FROM "a ""b" WHERE id > 0 ORDER BY free`:                                         {"text?"},
	} {
		op, err := d.Resolve(t.Context(), assay.Operation{Name: "read", Steps: []assay.Step{{SQL: query, Query: true, Rows: -1}}})
		if err != nil || !reflect.DeepEqual(op.Steps[0].Returns, want) {
			t.Errorf("%s: got %v, %v; want %v", query, op.Steps[0].Returns, err, want)
		}
	}
}

func TestResolveGivesUp(t *testing.T) {
	d := account(t)
	op := assay.Operation{Name: "never", Steps: []assay.Step{query("SELECT upper(name) FROM account WHERE id < 0 * ?", -1)}}
	_, err := d.Resolve(t.Context(), op)
	if !errors.Is(err, errUntyped) || !strings.Contains(err.Error(), `operation "never": step 1: column 1 has no declared type`) {
		t.Errorf("%v", err)
	}
}

func TestHeaderRefuses(t *testing.T) {
	if _, err := Header(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	fifo := filepath.Join(t.TempDir(), "fifo")
	must(t, syscall.Mkfifo(fifo, 0o600))
	if _, err := Header(fifo); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a FIFO: %v", err)
	}
	path := ledger(t, "wal")
	if header, err := Header(path); err != nil || header["journal_mode"] != "wal" {
		t.Errorf("%v, %v", header, err)
	}
}
