package draft

import "testing"

// TestChecks holds that a check reads all rows, in an order that is certain,
// where that is possible and quickly done.
func TestChecks(t *testing.T) {
	database := create(t, `
		CREATE TABLE t (id INTEGER PRIMARY KEY, n INT NOT NULL, mixed, big TEXT NOT NULL);
		INSERT INTO t SELECT value, value, iif(value % 2, value, 'x'), printf('%.*c', 6000, 'b') FROM (WITH RECURSIVE s(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM s WHERE value < 1000) SELECT value FROM s);
		CREATE TABLE loose (word TEXT UNIQUE, n INT);
		INSERT INTO loose VALUES ('a', 1), ('b', 2), ('c', 3), (NULL, 4);
		CREATE TABLE folded (id INTEGER PRIMARY KEY, word TEXT COLLATE NOCASE);
		INSERT INTO folded VALUES (1, 'a'), (2, 'A')`)
	for query, want := range map[string]string{
		"UPDATE t SET n = ? WHERE id = ?":                "SELECT id, n FROM t ORDER BY id",
		"UPDATE t SET n = random() WHERE id = ?":         "SELECT count(*) FROM t",
		"UPDATE t SET mixed = ? WHERE id = ?":            "SELECT count(*), count(DISTINCT mixed), min(mixed), max(mixed) FROM t",
		"UPDATE t SET big = ? WHERE id = ?":              "SELECT count(*), count(DISTINCT big), min(big), max(big), sum(length(big)) FROM t",
		"DELETE FROM t WHERE id = ?":                     "SELECT id FROM t ORDER BY id",
		"UPDATE loose SET n = ? WHERE word = ?":          "SELECT rowid, n FROM loose ORDER BY rowid",
		"INSERT INTO t (n, mixed, big) VALUES (?, 1, ?)": "SELECT n, big FROM t WHERE id > 1000 ORDER BY n, big",
		"INSERT INTO t (id, n, big) VALUES (?, ?, ?)":    "SELECT id, n, big FROM t WHERE id > 1000 ORDER BY id",
		"INSERT INTO t (n, big) VALUES (1, 'x')":         "SELECT count(*) FROM t WHERE id > 1000",
		"INSERT INTO folded (word) VALUES (?)":           "SELECT word FROM folded WHERE id > 2 ORDER BY word COLLATE BINARY",
	} {
		d := drafted(t, database, query)
		for name, op := range expanded(t, d) {
			if op.Check == nil || op.Check.SQL != want {
				t.Errorf("%s: %s has the check %+v, want %q", query, name, op.Check, want)
			}
		}
		if len(expanded(t, d)) == 0 {
			t.Errorf("%s: got no operation\n%s", query, d.Text)
		}
	}
}
