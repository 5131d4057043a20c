package oracle

import (
	"context"
	"errors"
	"testing"

	"assay"
)

// Of a row that is written again the last commit decides, and of a count none does. How far
// values are from those before them is the same backwards, and in no other order. Where there
// is no time to find out, nothing is claimed.
func TestAnyOrder(t *testing.T) {
	const set, steps = "UPDATE t SET n = ?2 WHERE id = ?1", "UPDATE t SET n = n + coalesce(abs(?2 - last), 0), last = ?2 WHERE id = 1 OR ?1 < 0"
	for _, c := range []struct {
		sql, check string
		warm       int
		want       bool
	}{
		{set, "SELECT id, n FROM t ORDER BY id", 10, false},
		{set, "SELECT count(*) FROM t", 10, true},
		{steps, "SELECT n FROM t ORDER BY id", 0, false},
		{steps, "SELECT count(last) FROM t", 10, true},
	} {
		d := tableOfFive(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, last INTEGER)")
		op := assay.Operation{Name: "o", Changes: true, Count: 30, Check: &assay.Query{SQL: c.check},
			Steps: []assay.Step{{SQL: c.sql, Args: []assay.Values{id, value}, Rows: 1}}}
		op, err := d.Resolve(t.Context(), op)
		must(t, err)
		trace, err := d.Trace(t.Context(), op, 40)
		must(t, err)
		right, err := d.Expect(t.Context(), op, trace, c.warm, 30)
		must(t, err)
		played := Played{d, op, trace, Done{Warm: c.warm, Measured: 30}, 4, SQLite}
		if got, err := played.AnyOrder(t.Context(), right.State); err != nil || got != c.want {
			t.Errorf("%s: got %t, %v; want %t", c.check, got, err, c.want)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if got, err := played.AnyOrder(ended, right.State); got || !errors.Is(err, context.Canceled) {
			t.Errorf("%s, without time: got %t, %v; want false and that it was canceled", c.check, got, err)
		}
	}
}
