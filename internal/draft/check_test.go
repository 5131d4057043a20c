package draft

import "testing"

// TestChecks holds that an operation has a check, of totals, where a run cannot find by itself what
// its rows hold.
func TestChecks(t *testing.T) {
	database := create(t, `
		CREATE TABLE t (id INTEGER PRIMARY KEY, n INT NOT NULL, word TEXT, at TEXT);
		INSERT INTO t SELECT value, value, 'w' || value, '2020-01-01' FROM (WITH RECURSIVE s(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM s WHERE value < 50) SELECT value FROM s);
		CREATE TABLE child (id INTEGER PRIMARY KEY, t INT REFERENCES t ON DELETE CASCADE);
		INSERT INTO child SELECT id, id FROM t;
		CREATE TABLE seen (id INTEGER PRIMARY KEY, n INT, at TEXT);
		INSERT INTO seen VALUES (1, 1, '2020-01-01'), (2, 2, '2020-01-01');
		CREATE TRIGGER touch AFTER INSERT ON seen BEGIN UPDATE seen SET at = datetime('now') WHERE id = new.id; END;
		CREATE VIEW v AS SELECT * FROM t;
		CREATE TRIGGER put INSTEAD OF INSERT ON v BEGIN INSERT INTO t (n) VALUES (new.n); END`)
	for query, want := range map[string]string{
		"UPDATE t SET n = ? WHERE id = ?":                        "",
		"INSERT INTO t (n, word) VALUES (?, ?)":                  "",
		"DELETE FROM child WHERE id = ?":                         "",
		"UPDATE seen SET n = ? WHERE id = ?":                     "",
		"UPDATE t SET n = random() WHERE id = ?":                 "SELECT * FROM (SELECT count(*) FROM t)",
		"UPDATE t SET n = ?, at = datetime('now') WHERE id = ?":  "SELECT * FROM (SELECT count(*), sum(n) FROM t)",
		"INSERT INTO t (n, word, at) VALUES (?, ?, date('now'))": "SELECT * FROM (SELECT count(*), sum(n), count(DISTINCT word), min(word), max(word), sum(length(word)) FROM t)",
		"DELETE FROM t WHERE id = ?":                             "SELECT * FROM (SELECT count(*) FROM t)",
		"INSERT INTO seen (n) VALUES (?)":                        "SELECT * FROM (SELECT count(*), sum(n) FROM seen)",
		"INSERT INTO v (n) VALUES (?)":                           "SELECT * FROM (SELECT count(*), sum(n) FROM v)",
	} {
		d := drafted(t, database, query)
		for name, op := range expanded(t, d) {
			got := ""
			if op.Check != nil {
				got = op.Check.SQL
			}
			if got != want {
				t.Errorf("%s: %s has the check %q, want %q", query, name, got, want)
			}
		}
		if len(expanded(t, d)) == 0 {
			t.Errorf("%s: got no operation\n%s", query, d.Text)
		}
	}
}
