package draft

import (
	"database/sql"
	"fmt"
	"slices"
	"testing"
)

// Literals of a log stand in the plan where they are constants of the program; others, and
// texts that may be values, are arguments.
func TestLiteralsOfALog(t *testing.T) {
	database := create(t, shopSchema)
	log := record(t, database, 1<<30, func(db *sql.DB) {
		db.SetMaxOpenConns(1)
		for i := range 20 {
			for _, query := range []string{
				fmt.Sprintf("SELECT id FROM item WHERE name <> 'item 7' AND stock = %d ORDER BY id LIMIT 20", i),
				fmt.Sprintf("SELECT stock FROM item WHERE name = 'item %d'", i),
			} {
				_, err := db.Exec(query)
				must(t, err)
			}
		}
		_, err := db.Exec("SELECT id FROM sale WHERE item_id = 5 AND at <> 'once'")
		must(t, err)
	})
	l, err := readLogs(Log{"app.ndjson", log})
	must(t, err)
	var got []string
	for _, s := range attach(nil, l) {
		got = append(got, s.queries[0].sql)
	}
	slices.Sort(got)
	want := []string{"SELECT id FROM item WHERE name <> 'item 7' AND stock = ? ORDER BY id LIMIT 20", "SELECT id FROM sale WHERE item_id = 5 AND at <> ?",
		"SELECT stock FROM item WHERE name = ?"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
