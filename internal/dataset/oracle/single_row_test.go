package oracle

import (
	"database/sql"
	"slices"
	"testing"

	"assay"
	"assay/internal/plan/sqltext"
)

// Of several clients only answers about one row are known: of others, the order
// decides more than two orders show.
func TestSingle(t *testing.T) {
	d := tableOf(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, u INTEGER UNIQUE); CREATE TABLE other (x INTEGER)"+
		"; CREATE TABLE pair (a, b, n INTEGER, PRIMARY KEY (a, b)); CREATE VIEW seen AS SELECT * FROM t WHERE n > 0; CREATE VIRTUAL TABLE words USING fts5 (seen)", 1)
	db, err := sql.Open("sqlite", d.Path)
	must(t, err)
	defer db.Close()
	conn, err := db.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	for text, want := range map[string]bool{
		"SELECT n FROM t WHERE id = ?":                                          true,
		"select \"n\" from main.T where ?1 = ID and n > 0;":                     true,
		"SELECT n FROM pair WHERE b = ? AND a = ?2 LIMIT 1":                     true,
		"SELECT min(x) FROM other":                                              true,
		"SELECT n FROM pair WHERE a = ?":                                        false,
		"SELECT min(n) FROM t":                                                  false,
		"SELECT n FROM t WHERE id = ? OR n = 1":                                 false,
		"SELECT n FROM t WHERE NOT id = ?":                                      false,
		"SELECT n FROM t WHERE id > ?":                                          false,
		"SELECT n FROM t WHERE n BETWEEN 1 AND id = ?":                          false,
		"SELECT n FROM t, other WHERE id = ?":                                   false,
		"SELECT n FROM other JOIN t ON t.id = x WHERE id = ?":                   false,
		"SELECT (SELECT max(n) FROM t) FROM t WHERE id = ?":                     false,
		"SELECT n FROM t WHERE id = ? UNION SELECT n FROM t WHERE id = ?":       false,
		"SELECT n FROM seen WHERE id = ?":                                       true,
		"SELECT n FROM pair WHERE b = ? AND a IN (1, 2)":                        false,
		"SELECT n FROM t WHERE id IN (1, 2)":                                    false,
		"SELECT n FROM t WHERE u = ?":                                           true,
		"SELECT u FROM t WHERE u = ?":                                           true,
		"SELECT n FROM t WHERE u = ? OR id = ?":                                 false,
		"SELECT u FROM t WHERE u = ? UNION ALL SELECT n FROM t WHERE id = ?":    false,
		"SELECT n FROM t WHERE id = ? AND EXISTS (SELECT 1 FROM t WHERE u = ?)": false,
		"SELECT t.n FROM pair JOIN t ON t.id = pair.n WHERE a = ? AND b = ?":    false,
		"SELECT x.n FROM t AS x JOIN other ON other.x = x.n WHERE x.id = ?":     false,
		"SELECT sum(n) FROM t WHERE id = ?":                                     true,
		"SELECT count(*) FROM t":                                                false,
		"SELECT max(u) FROM t":                                                  false,
		"SELECT n FROM t ORDER BY id LIMIT 1":                                   false,
		"SELECT seen FROM words WHERE words MATCH ?":                            false,
	} {
		tokens, _ := sqltext.Scan(text)
		args := make([]assay.Values, min(2, len(slices.DeleteFunc(tokens, func(t sqltext.Token) bool { return !t.Parameter() }))))
		mix := assay.Operation{Parts: []assay.Part{{Operation: assay.Operation{Steps: []assay.Step{{SQL: text, Query: true, Args: args}}}}}}
		if got, err := singles(t.Context(), conn, mix, []*table{{name: "t"}, {name: "pair"}}); err != nil || got[0] != want {
			t.Errorf("%s: got %t (%v), want %t", text, got, err, want)
		}
	}
}

// What several rows make is not known, though it is the same at each moment of two
// orders.
func TestBehindSeveralRows(t *testing.T) {
	d := tableOfFive(t, schema)
	read := assay.Operation{Name: "read", Steps: []assay.Step{{SQL: "SELECT count(*) FROM t WHERE n > ?", Args: []assay.Values{{Kind: assay.Expression, Query: "SELECT -1"}}, Query: true, Rows: 1, Returns: []assay.Type{"int"}}}}
	change := assay.Operation{Name: "change", Changes: true, Steps: []assay.Step{{SQL: "UPDATE t SET n = 1000000 WHERE id = 1", Rows: 1}}}
	mix := assay.Operation{Name: "mix", Changes: true, Parts: []assay.Part{{Operation: read, Weight: 1}, {Operation: change, Weight: 1}}}
	trace, err := d.Trace(t.Context(), mix, 40)
	must(t, err)
	for clients, known := range map[int]bool{1: true, 4: false} {
		told, err := Played{d, mix, trace, Done{Measured: 20}, clients, SQLite}.AnswersAfter(t.Context(), 20)
		must(t, err)
		for i, digest := range told {
			if _, is := readAt(t, trace, 20+i); is && (digest != "") != known {
				t.Errorf("%d clients: got that the count of several rows is known: %t, want %t", clients, digest != "", known)
			}
		}
	}
}
