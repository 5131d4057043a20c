package oracle

import (
	"context"
	"errors"
	"testing"

	"assay"
)

// Of a row that is written again the last commit decides, and of a count none does. Where
// there is no time to find out, nothing is claimed.
func TestAnyOrder(t *testing.T) {
	for check, want := range map[string]bool{"SELECT id, n FROM t ORDER BY id": false, "SELECT count(*) FROM t": true} {
		d := tableOfFive(t, schema)
		op := assay.Operation{Name: "o", Changes: true, Count: 30, Check: &assay.Query{SQL: check},
			Steps: []assay.Step{{SQL: "UPDATE t SET n = ?2 WHERE id = ?1", Args: []assay.Values{id, value}, Rows: 1}}}
		op, err := d.Resolve(t.Context(), op)
		must(t, err)
		trace, err := d.Trace(t.Context(), op, 40)
		must(t, err)
		right, err := d.Expect(t.Context(), op, trace, 10, 30)
		must(t, err)
		played := Played{d, op, trace, Done{Warm: 10, Measured: 30}, 4, SQLite}
		if got, err := played.AnyOrder(t.Context(), right.State); err != nil || got != want {
			t.Errorf("%s: got %t, %v; want %t", check, got, err, want)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if got, err := played.AnyOrder(ended, right.State); got || !errors.Is(err, context.Canceled) {
			t.Errorf("%s, without time: got %t, %v; want false and that it was canceled", check, got, err)
		}
	}
}
