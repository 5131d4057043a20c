package draft

import (
	"strings"
	"testing"
)

// Arguments are drawn from a table whose name has a dot or a quote, too.
func TestTableWithADot(t *testing.T) {
	d := drafted(t, create(t, `CREATE TABLE "a.b" (id INTEGER PRIMARY KEY, name TEXT);
		INSERT INTO "a.b" VALUES (3, 'x'), (5, 'y'), (9, 'z');
		CREATE TABLE "c"".d" (id INTEGER PRIMARY KEY);
		INSERT INTO "c"".d" VALUES (3), (5), (9);`), `SELECT name FROM "a.b" WHERE id = ?; SELECT id FROM "c"".d" WHERE id = ?`)
	if got := len(expanded(t, d)); got != 2 || len(d.LeftOut) > 0 {
		t.Errorf("got %d operations, left out %q; want 2 operations\n%s", got, d.LeftOut, d.Text)
	}
	if want := `args: SELECT id FROM "a.b"`; !strings.Contains(d.Text, want) {
		t.Errorf("got %s\nwant %s in it", d.Text, want)
	}
}
