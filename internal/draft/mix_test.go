package draft

import (
	"slices"
	"strings"
	"testing"
)

// A plan without a mix says which operations do not fit into one; where there is nothing to
// mix by nature, there is nothing to say.
func TestNoMix(t *testing.T) {
	database := create(t, "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT); "+
		"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO item SELECT i, 'name' || i FROM n")
	const scan, insert = "-- name: Scan\nSELECT id FROM item WHERE name = ?;", "-- name: Add\nINSERT INTO item (name) VALUES (?);"
	for queries, want := range map[string][]string{
		scan + insert: {"the mix of all operations: Scan: it reads a whole table"},
		insert:        nil,
		scan:          nil,
	} {
		if got := drafted(t, database, queries).LeftOut; !slices.Equal(got, want) {
			t.Errorf("%s\ngot %q left out, want %q", queries, got, want)
		}
	}
}

// What is to be done by hand names what the plan has.
func TestAssumedNamesWhatIsThere(t *testing.T) {
	for want, d := range map[string]*document{"add to each operation: statement: never": {}, "add to each operation and to the mix: statement: never": {mix: &mix{}}} {
		if got := d.assumed(); !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want %q at its end", got, want)
		}
	}
}
