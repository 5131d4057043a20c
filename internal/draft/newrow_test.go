package draft

import (
	"strings"
	"testing"
)

// A transaction whose statements name the row that it inserts can be measured: the id
// is an argument, and each later statement has the same one.
func TestNewRow(t *testing.T) {
	schema := `CREATE TABLE bill (id INTEGER PRIMARY KEY, shop INTEGER NOT NULL, total INTEGER NOT NULL);
		CREATE TABLE line (bill_id INTEGER NOT NULL REFERENCES bill (id), item INTEGER NOT NULL, PRIMARY KEY (bill_id, item));
		WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 300) INSERT INTO bill SELECT i, i % 7, i FROM k;
		INSERT INTO line SELECT id, 1 FROM bill; INSERT INTO line SELECT id, 2 FROM bill;`
	const queries = `
		-- name: pay
		BEGIN;
		INSERT INTO bill (shop, total) VALUES (?, ?);
		INSERT INTO line (bill_id, item) SELECT ?, item FROM line WHERE bill_id = 5;
		UPDATE bill SET total = 4 WHERE id = ? AND shop = ?;
		COMMIT;
		-- name: open
		INSERT INTO bill (shop, total) VALUES (?, 0);`
	ids := func(d *Draft) (pay, open []string) {
		all := expanded(t, d)
		for _, s := range all["pay"].Steps {
			pay = append(pay, strings.Join(strings.Fields(s.SQL), " "))
		}
		for _, s := range all["open"].Steps {
			open = append(open, s.SQL)
		}
		return pay, open
	}

	d := drafted(t, create(t, schema), queries)
	if len(d.LeftOut) > 0 {
		t.Fatalf("got %q left out, want nothing", d.LeftOut)
	}
	pay, open := ids(d)
	if want := "INSERT INTO bill (id, shop, total) VALUES (?, ?, ?)"; pay[0] != want {
		t.Errorf("got %q, want %q", pay[0], want)
	}
	if want := "INSERT INTO bill (id, shop, total) VALUES (?, ?, 0)"; open[0] != want {
		t.Errorf("got %q, want %q: ids that SQLite gives would meet those that are drawn", open[0], want)
	}
	for _, want := range []string{
		"- {derive: {of: 1}} # guessed: the row of bill that is inserted before",
		"- {from: bill.shop} # guessed: bill.shop of the row that is inserted before",
		"rows: 1\n", // of UPDATE, each time
	} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("the plan has no %q:\n%s", want, d.Text)
		}
	}

	// A trigger that inserts rows lets SQLite give ids too.
	d = drafted(t, create(t, schema+"CREATE TRIGGER again AFTER DELETE ON line BEGIN INSERT INTO bill (shop, total) VALUES (1, 1); END;"), queries)
	if strings.Contains(d.Text, "INSERT INTO bill (id,") {
		t.Errorf("got an id as an argument, want none where a trigger inserts rows:\n%s", d.Text)
	}
}

// Statements are changed only where it is understood what an id would do.
func TestCanGiveID(t *testing.T) {
	for text, want := range map[string]bool{
		"INSERT INTO bill (shop) VALUES (?)":                                        true,
		"INSERT INTO bill (shop) VALUES (:shop) RETURNING id":                       true,
		"INSERT INTO bill VALUES (NULL, ?)":                                         false,
		"INSERT INTO bill (shop) VALUES (?), (?)":                                   false,
		"INSERT INTO bill (shop) SELECT ?":                                          false,
		"INSERT INTO bill DEFAULT VALUES":                                           false,
		"INSERT OR IGNORE INTO bill (shop) VALUES (?)":                              false,
		"INSERT INTO bill (shop, total) VALUES (?1, ?1)":                            false,
		"INSERT INTO bill (shop) VALUES (?) ON CONFLICT DO NOTHING":                 false,
		"WITH x AS (SELECT (1)) INSERT INTO bill (shop) VALUES ((SELECT * FROM x))": false,
	} {
		all, err := split(text)
		must(t, err)
		if got := all[0].queries[0].canGiveID(); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}
