package oracle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/dataset"
)

// tableOfFive is data with one table of five rows.
func tableOfFive(t *testing.T, schema string) *dataset.Data {
	t.Helper()
	return tableOf(t, schema, 5)
}

func tableOf(t *testing.T, schema string, rows int) *dataset.Data {
	t.Helper()
	filled := fmt.Sprintf("%s;\nWITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < %d) INSERT INTO t (id, n) SELECT i, 0 FROM k", strings.TrimRight(schema, "; "), rows)
	d, err := dataset.Cache{Dir: t.TempDir()}.Prepare(t.Context(), assay.Dataset{Workload: "w", Schema: filled, Seed: 1})
	must(t, err)
	return d
}

// after is what rows may hold after 40 operations of several clients.
func after(t *testing.T, schema string, clients int, steps ...assay.Step) *Rows {
	t.Helper()
	return rowsAfter(t, schema, clients, SQLite, steps...)
}

func rowsAfter(t *testing.T, schema string, clients int, engine Engine, steps ...assay.Step) *Rows {
	t.Helper()
	d := tableOfFive(t, schema)
	op := assay.Operation{Name: "o", Changes: true, Steps: steps, Count: 30}
	trace, err := d.Trace(t.Context(), op, 40)
	must(t, err)
	rows, err := Played{d, op, trace, Done{Warm: 10, Measured: 30}, clients, engine}.Rows(t.Context())
	must(t, err)
	return rows
}

const schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)"

var (
	id    = assay.Values{Kind: assay.Uniform, From: 1, To: 5}
	value = assay.Values{Kind: assay.Uniform, From: 1000, To: 9000}
	newID = assay.Values{Kind: assay.Expression, Query: "SELECT 99 + :i"}
)

// What is known of rows follows from whether the order of the operations decides
// it: nothing is said that another order would make false.
func TestRows(t *testing.T) {
	for name, c := range map[string]struct {
		sql              string
		args             []assay.Values
		clients          int
		exact, contested int
		counts           int
	}{
		"one client, updates":                     {"UPDATE t SET n = ?2 WHERE id = ?1", []assay.Values{id, value}, 1, 5, 0, 1},
		"several, updates":                        {"UPDATE t SET n = ?2 WHERE id = ?1", []assay.Values{id, value}, 4, 0, 5, 1},
		"several, sums":                           {"UPDATE t SET n = n + ?2 WHERE id = ?1", []assay.Values{id, value}, 4, 5, 0, 1},
		"several, computed":                       {"UPDATE t SET n = (n * 3 + ?2) % 1000003 WHERE id = ?1", []assay.Values{id, value}, 4, 0, 0, 1},
		"several, new rows":                       {"INSERT INTO t VALUES (?, ?)", []assay.Values{newID, value}, 4, 45, 0, 1},
		"one client, rows whose ids SQLite gives": {"INSERT INTO t (n) VALUES (?)", []assay.Values{value}, 1, 45, 0, 1},
		"several, rows whose ids SQLite gives":    {"INSERT INTO t (n) VALUES (?)", []assay.Values{value}, 4, 0, 0, 1},
		"several, a row that the state decides":   {"UPDATE t SET n = ? WHERE id = (SELECT id FROM t ORDER BY n, id LIMIT 1)", []assay.Values{value}, 4, 0, 0, 1},
		"several, deletes":                        {"DELETE FROM t WHERE id = ?", []assay.Values{id}, 4, 5, 0, 1},
	} {
		rows := after(t, schema, c.clients, assay.Step{SQL: c.sql, Args: c.args, Rows: -1})
		exact, contested := 0, 0
		for _, v := range rows.Values {
			exact, contested = exact+v.Exact, contested+len(v.Allowed)
		}
		if exact != c.exact || contested != c.contested || len(rows.Counts) != c.counts {
			t.Errorf("%s: got %d rows that are known, %d of several values and %d counts, want %d, %d and %d",
				name, exact, contested, len(rows.Counts), c.exact, c.contested, c.counts)
		}
	}
}

// Of several clients' updates each value that was written while it was measured
// may be there, and the one from before may not.
func TestContestedRow(t *testing.T) {
	rows := after(t, schema, 4, assay.Step{SQL: "UPDATE t SET n = ?2 WHERE id = ?1", Args: []assay.Values{id, value}, Rows: 1})
	before, err := digestRows([]assay.Type{"int?"}, []any{int64(0)})
	must(t, err)
	all := 0
	for _, v := range rows.Values {
		for _, allowed := range v.Allowed {
			all += len(allowed)
			if slices.Contains(allowed, before) {
				t.Errorf("got that a row may hold what it held before, want only what was written")
			}
		}
	}
	if all != 30 {
		t.Errorf("got %d values that rows may hold, want 30, one for each measured update", all)
	}
}

// Nothing follows from playing SQL that does something else each time, or with
// another setting of foreign keys or recursive triggers.
func TestRowsThatDiffer(t *testing.T) {
	insert := assay.Step{SQL: "INSERT INTO t VALUES (?, ?)", Args: []assay.Values{newID, value}, Rows: 1}
	const acting = "; CREATE TABLE u (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t ON DELETE CASCADE)"
	const deleting = "; CREATE TRIGGER r AFTER DELETE ON t BEGIN INSERT INTO t VALUES (old.id, random()); END"
	for name, c := range map[string]struct {
		schema string
		sql    string
	}{
		"the clock":         {schema, "INSERT INTO t VALUES (?, ? + unixepoch())"},
		"CURRENT_TIMESTAMP": {schema, "INSERT INTO t VALUES (?, ? + current_timestamp)"},
		"a trigger":         {schema + "; CREATE TRIGGER r AFTER INSERT ON t BEGIN UPDATE t SET n = random() WHERE id = new.id; END", insert.SQL},
		"a foreign key":     {schema + acting, "DELETE FROM t WHERE id = ?1 - ?2 * 0"},
		"a replaced row":    {schema + deleting, "INSERT OR REPLACE INTO t VALUES (?1 % 5, ?2)"},
	} {
		step := insert
		step.SQL = c.sql
		if rows := after(t, c.schema, 1, step); rows != nil {
			t.Errorf("%s: got %d values to look at, want none", name, len(rows.Values))
		}
	}
	for name, other := range map[string]string{
		"a foreign key that changes nothing":          "; CREATE TABLE u (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t)",
		"a foreign key that acts on other statements": acting,
		"a trigger of other statements":               deleting,
	} {
		if rows := after(t, schema+other, 1, insert); rows == nil {
			t.Errorf("%s: got nothing to look at, want rows", name)
		}
	}
}

// Two engines read rows by keys from two files: one is not written over the other.
func TestRowsOfTwoEngines(t *testing.T) {
	d := tableOf(t, schema, 5000)
	op := assay.Operation{Name: "o", Changes: true, Count: 30, Steps: []assay.Step{{SQL: "UPDATE t SET n = ?2 WHERE id = ?1", Args: []assay.Values{id, value}, Rows: 1}}}
	trace, err := d.Trace(t.Context(), op, 40)
	must(t, err)
	find := func(engine Engine) *Rows {
		rows, err := Played{d, op, trace, Done{Warm: 10, Measured: 30}, 1, engine}.Rows(t.Context())
		must(t, err)
		return rows
	}
	rows, again, other := find(SQLite), find(SQLite), find(PostgreSQL)
	if got, want := again.Values[0].Digest, rows.Values[0].Digest; got != want {
		t.Errorf("found again: got other rows, %.12s, want %.12s", got, want)
	}
	if rows.Values[0].Path == other.Values[0].Path {
		t.Errorf("got one file for both engines, %s", other.Values[0].Path)
	}
}
