package draft

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A plan without a mix says which operations do not fit into one; where there is nothing to
// mix by nature, there is nothing to say.
func TestNoMix(t *testing.T) {
	database := create(t, "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT); "+
		"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO item SELECT i, 'name' || i FROM n")
	const read, remove = "-- name: Read\nSELECT id FROM item WHERE name = ?;\n", "-- name: Drop\nDELETE FROM item WHERE id = ?;"
	for queries, want := range map[string][]string{
		read + remove: {"the mix of all operations: Drop: the others may need what it deletes"},
		remove:        nil,
		read:          nil,
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

// Of a log with many kinds of operations, a plan has the few with the largest shares: also a
// rare one that took most of the time. What cannot be measured takes no place.
func TestLogOfManyKinds(t *testing.T) {
	log := "{\"traffic\":2}\n"
	at := 0
	add := func(id, sql string, times, nanos int) {
		log += fmt.Sprintf("{\"id\":%q,\"sql\":%q}\n", id, sql)
		for range times {
			at += nanos
			log += fmt.Sprintf("{\"s\":%q,\"at\":%d,\"conn\":1,\"ns\":%d}\n", id, at, nanos)
		}
	}
	for i := range 500 {
		add(fmt.Sprint("s", i), fmt.Sprintf("SELECT c%d FROM item", i), 2+i/100, 1000)
	}
	add("slow", "SELECT count(*) FROM item", 1, 1e9)
	add("version", "SELECT sqlite_version()", 100, 1000)
	l, err := readLogs(Log{"app.ndjson", []byte(log)})
	must(t, err)
	measured, slow := 0, false
	for _, s := range attach(nil, l) {
		if s.leftOut == "" {
			measured++
		}
		slow = slow || s.queries[0].sql == "SELECT count(*) FROM item"
	}
	if measured != maxShapes || !slow {
		t.Errorf("%d operations are measured, with the slowest: %t; want %d with it", measured, slow, maxShapes)
	}
	if want := l.count - 100 - 1 - 6*(maxShapes-1); l.rest != want {
		t.Errorf("%d operations are left out, want %d", l.rest, want)
	}
}
