package draft

import (
	"fmt"
	"strings"
	"testing"
)

// TestArguments holds the SQL that gives the arguments of single queries.
func TestArguments(t *testing.T) {
	s, err := open(t.Context(), create(t, read(t, "testdata/shop.sql")))
	must(t, err)
	defer s.db.Close()
	for query, want := range map[string]string{
		"SELECT 1 FROM user u WHERE ? = u.id":                            "SELECT id FROM user AS u",
		"SELECT 1 FROM note WHERE rowid = ?":                             "SELECT rowid FROM note",
		"SELECT 1 FROM user WHERE id IN (?, ?)":                          "SELECT (SELECT id FROM user WHERE id >= permute(:i, 200) + 1 LIMIT 1), (SELECT id FROM user WHERE id >= permute(:i + 1, 200) + 1 LIMIT 1)",
		"SELECT 1 FROM user WHERE mail COLLATE NOCASE = ?":               "SELECT mail FROM user",
		"SELECT 1 FROM user WHERE lower(mail) = ?":                       "SELECT lower(mail) FROM user",
		"SELECT 1 FROM user WHERE lower(mail) = lower(?)":                "SELECT TODO",
		"SELECT 1 FROM user WHERE id = ? + 1 OR id + 1 = ?":              "SELECT TODO, TODO",
		"SELECT 1 FROM tag WHERE (order_id, label) = (?, ?)":             "SELECT order_id, label FROM tag",
		"SELECT 1 FROM user WHERE id BETWEEN ? AND ?":                    "SELECT TODO, TODO",
		"SELECT 1 FROM user WHERE city = ? AND id >= ? LIMIT ? OFFSET ?": "SELECT city, TODO, 20, TODO FROM user WHERE city IS NOT NULL",
		"SELECT 1 FROM user LIMIT ?, ?":                                  "SELECT TODO, 20",
		"SELECT 1 FROM user WHERE name LIKE '%' || ? || '%'":             "SELECT TODO",
		"SELECT 1 FROM word WHERE word MATCH ?":                          "SELECT TODO",
		"SELECT 1 FROM user WHERE born IS ? OR city IS NOT ?":            "SELECT born, TODO FROM user",
		"SELECT ?": "SELECT TODO",
		"SELECT 1 FROM empty WHERE a = ? AND b = ? AND c = ?":                                         "SELECT random(1, 1000), text(12), random(1, 1000) / 10.0",
		"SELECT 1 FROM note WHERE mixed = ?":                                                          "SELECT mixed FROM note WHERE typeof(mixed) = 'integer'",
		"SELECT 1 FROM \"odd table\" WHERE \"odd column\" = ?":                                        `SELECT "odd column" FROM "odd table"`,
		"SELECT o.id FROM orders o JOIN user u ON u.id = o.user_id WHERE u.mail = ? AND o.status = ?": "SELECT (SELECT mail FROM user AS u WHERE id >= permute(:i, 200) + 1 LIMIT 1), (SELECT status FROM orders AS o WHERE id >= permute(:i, 900) + 1 LIMIT 1)",
		"SELECT id FROM user, orders WHERE user.id = ?":                                               "SELECT id FROM user",
		"SELECT id FROM user WHERE EXISTS (SELECT 1 FROM orders WHERE user_id = user.id AND id = ?)":  "SELECT id FROM orders",
		"INSERT INTO big VALUES (?)":                                                                  "SELECT -9000000000 + :i",
		"INSERT INTO orders (id, user_id) VALUES (?, ?)":                                              "SELECT (SELECT coalesce(max(id), 0) FROM orders) + :i, (SELECT user_id FROM orders WHERE id >= permute(:i, 900) + 1 LIMIT 1)",
		"INSERT INTO orders (id, total) SELECT ?, total FROM orders WHERE id = ?":                     "SELECT (SELECT coalesce(max(id), 0) FROM orders) + :i, (SELECT id FROM orders WHERE id >= permute(:i, 900) + 1 LIMIT 1)",
		"INSERT INTO user (id, mail) VALUES (?, ?), (?, ?)":                                           "SELECT (SELECT coalesce(max(id), 0) FROM user) + 2 * :i - 1, text(16), (SELECT coalesce(max(id), 0) FROM user) + 2 * :i, text(16)",
		"INSERT INTO tag VALUES (?, ?)":                                                               "SELECT (SELECT value FROM (SELECT order_id AS value, row_number() OVER (ORDER BY order_id, label) AS n FROM tag) WHERE n = permute(:i, 225) + 1), text(16)",
		"UPDATE user SET visits = visits + ?, city = ? WHERE id = ?":                                  "SELECT TODO, (SELECT city FROM user WHERE id >= permute(:i + 1, 200) + 1 LIMIT 1), (SELECT id FROM user WHERE id >= permute(:i, 200) + 1 LIMIT 1)",
		"UPDATE user SET mail = ? WHERE id = ?":                                                       "SELECT text(16), (SELECT id FROM user WHERE id >= permute(:i, 200) + 1 LIMIT 1)",
		"UPDATE user SET (city, name) = (?, upper(?)) WHERE id = 1":                                   "SELECT (SELECT city FROM user WHERE id >= permute(:i + 1, 200) + 1 LIMIT 1), TODO",
		"DELETE FROM orders WHERE user_id = ?":                                                        "SELECT DISTINCT user_id FROM orders",
	} {
		all, err := split(query)
		must(t, err)
		g := &drawer{analysis: analyse(all[0].queries[0], s), single: true, named: map[string]string{}, newKeys: map[*column]string{}, taken: map[string]int64{}}
		if got, err := g.arguments(t.Context()); err != nil || got != want {
			t.Errorf("%s\ngot  %s, %v\nwant %s", query, got, err, want)
		}
	}
}

// Where SQLite takes a keyword for the name of a table or of a column, so does init.
func TestKeywordsAsNames(t *testing.T) {
	for _, name := range []string{"full", "left", "right", "cross", "natural", "inner", "outer", "window", "over", "filter", "key", "row", "rows", "offset", "match", "like", "glob", "regexp",
		"replace", "by", "do", "end", "plan", "query", "with", "union", "except", "intersect", "current", "view", "temp", "cast", "if", "desc", "conflict", "current_date", "generated", "always", "explain"} {
		database := create(t, fmt.Sprintf("CREATE TABLE %[1]s (%[1]s TEXT, n INTEGER PRIMARY KEY); INSERT INTO %[1]s VALUES ('a', 1), ('b', 2)", `"`+name+`"`))
		s, err := open(t.Context(), database)
		must(t, err)
		for query, want := range map[string]string{
			"SELECT 1 FROM NAME WHERE n = ?":                                      "SELECT n FROM NAME",
			"SELECT 1 FROM NAME WHERE NAME = ?":                                   "SELECT NAME FROM NAME",
			"SELECT 1 FROM NAME WHERE NAME.NAME = ?":                              "SELECT NAME FROM NAME",
			"SELECT 1 FROM NAME AS x LEFT JOIN NAME AS y ON y.n = 1 WHERE x.n=?":  "SELECT n FROM NAME AS x",
			"SELECT 1 FROM NAME x, NAME y WHERE y.n = ?":                          "SELECT n FROM NAME AS y",
			"SELECT 1 FROM NAME NATURAL JOIN (SELECT 1 AS z) WHERE n = ? LIMIT ?": "SELECT n, 20 FROM NAME",
			"DELETE FROM NAME WHERE n = ?":                                        "SELECT DISTINCT n FROM NAME",
			"INSERT INTO NAME VALUES (?, ?)":                                      "SELECT (SELECT NAME FROM NAME WHERE n >= permute(:i, 2) + 1 LIMIT 1), (SELECT coalesce(max(n), 0) FROM NAME) + :i",
			"UPDATE NAME SET NAME = ? WHERE n = ?":                                "SELECT (SELECT NAME FROM NAME WHERE n >= permute(:i + 1, 2) + 1 LIMIT 1), (SELECT n FROM NAME WHERE n >= permute(:i, 2) + 1 LIMIT 1)",
		} {
			query = strings.ReplaceAll(query, "NAME", name)
			all, err := split(query)
			must(t, err)
			if _, err := compiled(t.Context(), s, all[0].queries[0]); err != nil {
				continue // SQLite does not take it for a name there
			}
			g := &drawer{analysis: analyse(all[0].queries[0], s), single: true, named: map[string]string{}, newKeys: map[*column]string{}, taken: map[string]int64{}}
			got, err := g.arguments(t.Context())
			if want := strings.ReplaceAll(want, "NAME", name); err != nil || strings.ReplaceAll(got, `"`, "") != want {
				t.Errorf("%s\ngot  %s, %v\nwant %s", query, got, err, want)
			}
			if _, err := texts(t.Context(), s.db, "SELECT 1 FROM ("+strings.NewReplacer(":i", "1", "permute(", "max(").Replace(got)+")"); err != nil {
				t.Errorf("%s: the arguments are no SQL: %v: %s", query, err, got)
			}
		}
		must(t, s.db.Close())
	}
}
