package draft

import (
	"reflect"
	"strings"
	"testing"
)

// Savepoints within a transaction are steps of it, of which no number of rows is
// stated; those outside of one, and those that nothing has set, are left out.
func TestSavepoints(t *testing.T) {
	database := create(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, n INT NOT NULL); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")
	d := drafted(t, database, `-- name: nested
		BEGIN; INSERT INTO t (n) VALUES (?); SAVEPOINT a; UPDATE t SET n = n + 1 WHERE id = ?; ROLLBACK TO a; RELEASE a; COMMIT;
		SAVEPOINT b;
		-- name: empty
		BEGIN; SAVEPOINT a; RELEASE a; COMMIT;
		-- name: unset
		BEGIN; DELETE FROM t WHERE id = ?; ROLLBACK TRANSACTION TO SAVEPOINT c; COMMIT`)
	if !reflect.DeepEqual(d.Operations, []string{"nested"}) || len(d.LeftOut) != 3 {
		t.Fatalf("measured %q, left out %q", d.Operations, d.LeftOut)
	}
	for i, want := range []string{"a savepoint belongs to a transaction", "there is no statement in it", "no statement before sets the savepoint c"} {
		if !strings.Contains(d.LeftOut[i], want) {
			t.Errorf("left out %d: got %q, want %q", i, d.LeftOut[i], want)
		}
	}
	var got []string
	for _, step := range expanded(t, d)["nested"].Steps {
		got = append(got, step.SQL)
		if strings.Contains(step.SQL, " a") && step.Rows != -1 {
			t.Errorf("%s: %d rows", step.SQL, step.Rows)
		}
	}
	if want := []string{"INSERT INTO t (n) VALUES (?)", "SAVEPOINT a", "UPDATE t SET n = n + 1 WHERE id = ?", "ROLLBACK TO a", "RELEASE a"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
