package oracle

import (
	"testing"

	"assay"
)

// Of several clients only answers about one row are known: of others, the order
// decides more than two orders show.
func TestSingle(t *testing.T) {
	changed := []*table{{name: "t", columns: []string{"id", "n"}, key: []int{0}}, {name: "pair", columns: []string{"a", "b", "n"}, key: []int{0, 1}}}
	for text, want := range map[string]bool{
		"SELECT n FROM t WHERE id = ?":                        true,
		"select \"n\" from main.T where ?1 = ID and n > 0;":   true,
		"SELECT n FROM pair WHERE b = ? AND a = :a LIMIT 1":   true,
		"SELECT min(x) FROM other":                            true,
		"SELECT n FROM pair WHERE a = ?":                      false,
		"SELECT min(n) FROM t":                                false,
		"SELECT n FROM t WHERE id = ? OR n = 1":               false,
		"SELECT n FROM t WHERE NOT id = ?":                    false,
		"SELECT n FROM t WHERE id > ?":                        false,
		"SELECT n FROM t WHERE n BETWEEN 1 AND id = ?":        false,
		"SELECT n FROM t, other WHERE id = ?":                 false,
		"SELECT n FROM other JOIN t ON t.id = x WHERE id = ?": false,
		"SELECT (SELECT max(n) FROM t) FROM t WHERE id = ?":   false,
		"SELECT n FROM t WHERE id = ? UNION SELECT 1":         false,
		"SELECT n FROM seen WHERE id = ?":                     false,
	} {
		if got := single(text, changed, []string{"seen"}); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
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
		told, err := Played{d, mix, trace, Done{Measured: 20}, clients, SQLite}.Behind(t.Context(), 20)
		must(t, err)
		for i, digest := range told {
			if _, is := readAt(t, trace, 20+i); is && (digest != "") != known {
				t.Errorf("%d clients: got that the count of several rows is known: %t, want %t", clients, digest != "", known)
			}
		}
	}
}
