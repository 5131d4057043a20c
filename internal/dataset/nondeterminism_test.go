package dataset

import (
	"testing"

	"assay"
)

// Only what answers otherwise each time is left out: functions of stored times are
// checked.
func TestVaries(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT random()":                                  true,
		"SELECT datetime('now', '-1 day')":                 true,
		"SELECT DATE()":                                    true,
		"SELECT strftime('%s')":                            true,
		"SELECT CURRENT_TIMESTAMP":                         true,
		"SELECT last_insert_rowid()":                       true,
		"SELECT * FROM t WHERE at > unixepoch('NOW')":      true,
		"SELECT sqlite_version()":                          true,
		"SELECT date(at) FROM t":                           false,
		"SELECT strftime('%Y', at) FROM t":                 false,
		"SELECT changes FROM t WHERE randomness(?) = 'no'": false,
	} {
		if got := Varies(assay.Operation{Steps: []assay.Step{{SQL: sql}}}); got != want {
			t.Errorf("%s: got %t, want %t", sql, got, want)
		}
	}
	now := assay.Step{SQL: "SELECT date(?)", Args: []assay.Values{{Kind: assay.Expression, Query: "SELECT 'now'"}}}
	if !Varies(assay.Operation{Steps: []assay.Step{now}}) {
		t.Error("an argument 'now': got that it answers the same each time")
	}
}
