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
		INSERT INTO folded VALUES (1, 'a'), (2, 'A');
		CREATE TABLE visit (id INTEGER PRIMARY KEY, hits INT, page TEXT, at TEXT);
		INSERT INTO visit VALUES (1, 1, 'a', '2020-01-01'), (2, 2, 'b', '2020-01-01');
		CREATE TRIGGER touch AFTER UPDATE ON visit BEGIN UPDATE visit SET at = datetime('now') WHERE id = new.id; END;
		CREATE TABLE link (id INTEGER PRIMARY KEY, visit INT REFERENCES visit ON DELETE CASCADE);
		CREATE TABLE random_key (id TEXT PRIMARY KEY DEFAULT (lower(hex(randomblob(16)))), n INT);
		INSERT INTO random_key (n) VALUES (1), (2);
		CREATE TABLE real_key (id REAL PRIMARY KEY, n INT NOT NULL);
		INSERT INTO real_key VALUES (0.5, 1), (1.5, 2)`)
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

		"UPDATE visit SET hits = hits + 1 WHERE id = ?":                                                           "SELECT id, hits FROM visit ORDER BY id",
		"UPDATE visit SET page = 'paid' WHERE id = ?":                                                             "SELECT id, page FROM visit ORDER BY id",
		"UPDATE visit SET hits = hits + 1, at = datetime('now') WHERE id = ?":                                     "SELECT count(*), sum(hits) FROM visit",
		"DELETE FROM visit WHERE id = ?":                                                                          "SELECT id FROM visit ORDER BY id",
		"DELETE FROM visit WHERE id = ? AND at < datetime('now')":                                                 "SELECT id FROM visit ORDER BY id",
		"INSERT INTO visit (hits, page, at) VALUES (?, ?, datetime('now'))":                                       "SELECT hits, page FROM visit WHERE id > 2 ORDER BY hits, page",
		"INSERT INTO visit VALUES (?, ?, ?, datetime('now')) ON CONFLICT (id) DO UPDATE SET hits = excluded.hits": "SELECT id, hits, page FROM visit ORDER BY id",
		"INSERT INTO random_key (n) VALUES (?)":                                                                   "SELECT n FROM random_key WHERE rowid > 2 ORDER BY n",
		"UPDATE real_key SET n = ? WHERE id = ?":                                                                  "SELECT rowid, n FROM real_key ORDER BY rowid",
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
