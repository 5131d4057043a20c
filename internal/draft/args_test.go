package draft

import "testing"

// TestArguments holds the SQL that gives the arguments of single queries.
func TestArguments(t *testing.T) {
	s, err := open(t.Context(), create(t, read(t, "testdata/shop.sql")))
	must(t, err)
	defer s.db.Close()
	for query, want := range map[string]string{
		"SELECT 1 FROM user u WHERE ? = u.id":                            "SELECT id FROM user AS u",
		"SELECT 1 FROM note WHERE rowid = ?":                             "SELECT rowid FROM note",
		"SELECT 1 FROM user WHERE id IN (?, ?)":                          "SELECT permute(:i, 200) + 1, permute(:i + 1, 200) + 1",
		"SELECT 1 FROM user WHERE mail COLLATE NOCASE = ?":               "SELECT mail FROM user",
		"SELECT 1 FROM user WHERE lower(mail) = ?":                       "SELECT lower(mail) FROM user",
		"SELECT 1 FROM user WHERE lower(mail) = lower(?)":                "SELECT mail FROM user",
		"SELECT 1 FROM tag WHERE (order_id, label) = (?, ?)":             "SELECT order_id, label FROM tag",
		"SELECT 1 FROM user WHERE id BETWEEN ? AND ?":                    "SELECT TODO, TODO",
		"SELECT 1 FROM user WHERE city = ? AND id >= ? LIMIT ? OFFSET ?": "SELECT city, TODO, 20, TODO FROM user WHERE city IS NOT NULL",
		"SELECT 1 FROM user WHERE name LIKE '%' || ? || '%'":             "SELECT TODO",
		"SELECT 1 FROM word WHERE word MATCH ?":                          "SELECT TODO",
		"SELECT 1 FROM user WHERE born IS ? OR city IS NOT ?":            "SELECT born, TODO FROM user",
		"SELECT ?": "SELECT TODO",
		"SELECT 1 FROM empty WHERE a = ? AND b = ? AND c = ?":                                         "SELECT random(1, 1000), text(12), random(1, 1000) / 10.0",
		"SELECT 1 FROM note WHERE mixed = ?":                                                          "SELECT mixed FROM note WHERE typeof(mixed) = 'integer'",
		"SELECT 1 FROM \"odd table\" WHERE \"odd column\" = ?":                                        `SELECT "odd column" FROM "odd table"`,
		"SELECT o.id FROM orders o JOIN user u ON u.id = o.user_id WHERE u.mail = ? AND o.status = ?": "SELECT u.mail, o.status FROM orders o JOIN user u ON u.id = o.user_id",
		"INSERT INTO big VALUES (?)":                                                                  "SELECT -9000000000 + :i",
		"INSERT INTO orders (id, user_id) VALUES (?, ?)":                                              "SELECT (SELECT coalesce(max(id), 0) FROM orders) + :i, (SELECT user_id FROM orders WHERE id >= permute(:i, 900) + 1 LIMIT 1)",
		"INSERT INTO user (id, mail, name) VALUES (?, ?, ?), (?, ?, ?)":                               "SELECT (SELECT coalesce(max(id), 0) FROM user) + 2 * :i - 1, text(16), text(8), (SELECT coalesce(max(id), 0) FROM user) + 2 * :i, text(16), text(8)",
		"UPDATE user SET visits = visits + ?, city = ? WHERE id = ?":                                  "SELECT random(1, 10), coalesce(lead(city) OVER (ORDER BY hash(id)), city), id FROM user",
		"UPDATE user SET mail = ? WHERE id = ?":                                                       "SELECT text(16), permute(:i, 200) + 1",
		"DELETE FROM orders WHERE user_id = ?":                                                        "SELECT DISTINCT user_id FROM orders",
	} {
		all, err := split(query)
		must(t, err)
		g := &drawer{analysis: analyse(all[0].queries[0], s), alone: true, named: map[string]string{}, born: map[*column]string{}, taken: map[string]int64{}}
		if got, err := g.arguments(t.Context()); err != nil || got != want {
			t.Errorf("%s\ngot  %s, %v\nwant %s", query, got, err, want)
		}
	}
}
