package oracle

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"assay"
	"assay/internal/dataset"
	"assay/kit/column"
)

// Answers behind a mix are known where no order of its changes alters them, and
// all of them where one client works.
func TestBehind(t *testing.T) {
	one := func(sql string, rows int, args ...assay.Values) assay.Operation {
		return assay.Operation{Name: "change", Changes: true, Steps: []assay.Step{{SQL: sql, Args: args, Rows: rows}}}
	}
	low := assay.Values{Kind: assay.Uniform, From: 1, To: 2}
	read := assay.Operation{Name: "read", Steps: []assay.Step{{SQL: "SELECT n FROM t WHERE id = ?", Query: true, Rows: 1, Args: []assay.Values{id}, Returns: []assay.Type{"int"}}}}
	update := one("UPDATE t SET n = ?2 WHERE id = ?1", 1, low, value)
	for name, c := range map[string]struct {
		change  assay.Operation
		clients int
		engine  Engine
		want    func(id int64) bool // whether the answer of a row is known
	}{
		"one client":                   {update, 1, SQLite, func(int64) bool { return true }},
		"one client of PostgreSQL":     {update, 1, PostgreSQL, func(id int64) bool { return id > 2 }},
		"PostgreSQL, its own casts":    {one("UPDATE t SET n = CAST(?2 AS INTEGER) WHERE id = ?1", 1, low, value), 1, PostgreSQL, nil},
		"several":                      {update, 4, SQLite, func(id int64) bool { return id > 2 }},
		"several, to and fro":          {one("UPDATE t SET n = CASE n WHEN 0 THEN 1 ELSE 0 END WHERE id = ?", 1, low), 4, SQLite, func(id int64) bool { return id > 2 }},
		"several, nothing in the end":  {one("UPDATE t SET n = ?2 - 1000 WHERE id = ?1", 1, low, assay.Values{Kind: assay.Expression, Query: "SELECT 1000"}), 4, SQLite, func(int64) bool { return true }},
		"several, right in order only": {one("UPDATE t SET n = ?1 WHERE n = ?1 - 1 AND id = 1", 1, assay.Values{Kind: assay.Expression, Query: "SELECT 0 + :i"}), 4, SQLite, nil},
		"several, chance decides":      {one("UPDATE t SET n = random() WHERE id = ?", 1, low), 4, SQLite, nil},
	} {
		mix := assay.Operation{Name: "mix", Changes: true, Count: 30, Parts: []assay.Part{{Operation: read, Weight: 1}, {Operation: c.change, Weight: 1}}}
		d := tableOfFive(t, schema)
		trace, err := d.Trace(t.Context(), mix, 60)
		must(t, err)
		told, err := Played{d, mix, trace, Done{Warm: 10, Measured: 30}, c.clients, c.engine}.AnswersAfter(t.Context(), 20)
		must(t, err)
		if c.want == nil {
			if told != nil {
				t.Errorf("%s: got %d answers, want none", name, len(told))
			}
			continue
		}
		reads := 0
		for i, digest := range told {
			id, is := readAt(t, trace, 40+i)
			if !is {
				if digest != "" {
					t.Errorf("%s: got an answer of a change", name)
				}
				continue
			}
			reads++
			if known := digest != ""; known != c.want(id) {
				t.Errorf("%s: got that the answer of row %d is known: %t, want %t", name, id, known, c.want(id))
			}
		}
		if reads < 3 {
			t.Errorf("%s: got %d reads, want some", name, reads)
		}
	}
}

// readAt is the row that a mix reads at a position.
func readAt(t *testing.T, trace *dataset.Trace, position int) (id int64, is bool) {
	t.Helper()
	choice, err := column.Open(trace.Path)
	must(t, err)
	defer choice.Close()
	if choice.Int(0, position) != 0 {
		return 0, false
	}
	part, err := column.Open(trace.Parts[0].Path)
	must(t, err)
	defer part.Close()
	return part.Int(0, int(choice.Int(1, position))), true
}

// A row that is changed and changed back in both orders may be left changed by
// another one.
func TestChangedAndBack(t *testing.T) {
	d := tableOfFive(t, schema)
	read := assay.Operation{Name: "read", Steps: []assay.Step{{SQL: "SELECT n FROM t WHERE id = ?", Args: []assay.Values{{Kind: assay.Expression, Query: "SELECT 1"}}, Query: true, Rows: 1, Returns: []assay.Type{"int"}}}}
	change := assay.Operation{Name: "change", Changes: true, Steps: []assay.Step{{SQL: "UPDATE t SET n = ? % 2 WHERE id = 1", Args: []assay.Values{{Kind: assay.Expression, Query: "SELECT :i - 1"}}, Rows: 1}}}
	mix := assay.Operation{Name: "mix", Changes: true, Parts: []assay.Part{{Operation: read, Weight: 1}, {Operation: change, Weight: 1}}}
	trace, err := d.Trace(t.Context(), mix, 40)
	must(t, err)
	changes := 0 // that set 0, 1, 0 and so on
	for position := range 40 {
		if _, is := readAt(t, trace, position); !is {
			changes++
			continue
		}
		if changes < 3 || changes%2 == 0 {
			continue
		}
		told, err := Played{d, mix, trace, Done{Measured: position}, 4, SQLite}.AnswersAfter(t.Context(), 1)
		if err != nil || told == nil || told[0] != "" {
			t.Errorf("behind %d changes: got %.12q (%v), want that the answer is not known", changes, told, err)
		}
		return
	}
	t.Fatal("the sequence has no such place")
}

// What was found by the rules of an earlier version is not served.
func TestBehindIsFoundAnew(t *testing.T) {
	d := tableOfFive(t, schema)
	read := assay.Operation{Name: "read", Steps: []assay.Step{{SQL: "SELECT n FROM t WHERE id = 5", Query: true, Rows: 1, Returns: []assay.Type{"int"}}}}
	change := assay.Operation{Name: "change", Changes: true, Steps: []assay.Step{{SQL: "UPDATE t SET n = 1 WHERE id = 1", Rows: 1}}}
	mix := assay.Operation{Name: "mix", Changes: true, Count: 3, Parts: []assay.Part{{Operation: read, Weight: 1}, {Operation: change, Weight: 1}}}
	trace, err := d.Trace(t.Context(), mix, 9)
	must(t, err)
	played := Played{d, mix, trace, Done{Warm: 3, Measured: 3}, 4, SQLite}
	earlier := sha256.Sum256(fmt.Append(nil, d.Digest, played.Name(), 3, false))
	path := filepath.Join(filepath.Dir(d.Path), fmt.Sprintf("answers-after-%.16x.json", earlier))
	must(t, os.WriteFile(path, []byte(`["kept","kept","kept"]`), 0o600))
	told, err := played.AnswersAfter(t.Context(), 3)
	if err != nil || slices.Contains(told, "kept") {
		t.Errorf("got %q (%v), want digests", told, err)
	}
}

// That the system fails is no fault of SQL, and nothing to keep.
func TestSystemError(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "missing", "data.db"))
	must(t, err)
	defer db.Close()
	_, missing := db.ExecContext(t.Context(), "CREATE TABLE t (n)")
	full, err := sql.Open("sqlite", ":memory:")
	must(t, err)
	defer full.Close()
	full.SetMaxOpenConns(1)
	_, overflow := full.ExecContext(t.Context(), "PRAGMA max_page_count = 1; CREATE TABLE t (n); CREATE TABLE u (n)")
	_, unknown := full.ExecContext(t.Context(), "SELECT unknown_function()")
	for name, c := range map[string]struct {
		err  error
		ends bool
	}{"no file": {missing, true}, "no space": {overflow, true}, "unknown SQL": {unknown, false}} {
		if got := SystemError(t.Context(), fmt.Errorf("replay: %w", c.err)); c.err == nil || (got != nil) != c.ends {
			t.Errorf("%s (%v): got %v, want an error: %t", name, c.err, got, c.ends)
		}
	}
}
