package draft

import (
	"database/sql"
	"slices"
	"strings"
	"testing"
)

// A statement that a transaction does in a loop stands in the operation as often as in
// the log: three lines of an order, each with a key of its own, and at most ten.
func TestLoopsOfALog(t *testing.T) {
	const schema = `CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
		CREATE TABLE orders (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);
		CREATE TABLE line (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders (id), item_id INTEGER NOT NULL REFERENCES item (id));
		CREATE TABLE mark (id INTEGER PRIMARY KEY, n INTEGER NOT NULL);
		WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 500) INSERT INTO item SELECT i, 'item ' || i FROM k;
		INSERT INTO orders SELECT id, id FROM item; INSERT INTO line SELECT id, id, id FROM item; INSERT INTO mark SELECT id, id FROM item;`
	const line, sum, mark = "INSERT INTO line (order_id, item_id) VALUES (?, ?)", "UPDATE orders SET at = at + 1 WHERE id = ?", "UPDATE mark SET n = ? WHERE id = ?"
	d := draftedFromLog(t, schema, func(db *sql.DB) {
		within := func(do func(exec func(query string, args ...any) int64)) {
			tx, err := db.Begin()
			must(t, err)
			do(func(query string, args ...any) int64 {
				r, err := tx.Exec(query, args...)
				must(t, err)
				id, _ := r.LastInsertId()
				return id
			})
			must(t, tx.Commit())
		}
		for i := range 60 {
			within(func(exec func(string, ...any) int64) {
				id := exec("INSERT INTO orders (at) VALUES (?)", i)
				for k := range 3 {
					exec(line, id, 1+(7*i+k)%500)
				}
				exec(sum, id)
			})
			within(func(exec func(string, ...any) int64) {
				for k := range 25 {
					exec(mark, i, 1+(13*i+k)%500)
				}
			})
		}
	})
	all := expanded(t, d)
	order := stepTexts(all["transaction-2"])
	if len(order) != 5 || !strings.HasPrefix(order[0], "INSERT INTO orders (id, at)") || !strings.HasPrefix(order[1], "INSERT INTO line") || order[2] != order[1] || order[3] != order[1] || order[4] != sum {
		t.Errorf("got the steps %q, want the order, three lines, and the update:\n%s", order, d.Text)
	}
	marks := stepTexts(all["transaction-1"])
	if len(marks) != maxUnrolled || len(slices.Compact(marks)) != 1 {
		t.Errorf("got the steps %q, want %d times the same", marks, maxUnrolled)
	}
	if want := "Statement 1 comes 25 times in a row in the log, and 10 times here."; !strings.Contains(d.Text, want) || strings.Count(d.Text, "in a row") != 1 {
		t.Errorf("want %q, and no other such note:\n%s", want, d.Text)
	}
	if got := strings.Count(d.Text, "SEARCH mark USING INTEGER PRIMARY KEY"); got != 1 {
		t.Errorf("how SQLite updates a mark is told %d times, want once", got)
	}
	if len(d.LeftOut) > 0 {
		t.Errorf("left out: %q", d.LeftOut)
	}
}
