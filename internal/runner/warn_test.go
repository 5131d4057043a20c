//go:build unix

package runner

import (
	"testing"

	"assay"
)

// A build with a known fault is warned of where its settings do not rule the fault out.
func TestKnownBugs(t *testing.T) {
	for _, c := range []struct {
		version, journal, sql string
		want                  int
	}{{"3.49.2", "wal", "SELECT 1", 1}, {"3.49.2", "wal", "savepoint a", 2}, {"3.49.2", "delete", "SAVEPOINT a", 0}, {"3.36.0", "delete", "", 0}, {"3.36.0", "delete", "SAVEPOINT a", 1},
		{"3.50.7", "wal", "", 0}, {"3.44.6", "wal", "", 0}, {"3.51.2", "wal", "", 1}, {"3.53.3", "delete", "", 0}, {"3.54.1", "wal", "", 0}, {"", "wal", "", 0}} {
		mix := assay.Operation{Parts: []assay.Part{{Operation: assay.Operation{Steps: []assay.Step{{SQL: "SELECT 1"}, {SQL: c.sql}}}}}}
		got := knownBugs(assay.Target{Engine: "sqlite", EngineVersion: c.version}, []assay.Setting{{Name: "journal_mode", Effective: c.journal}}, mix)
		if len(got) != c.want || c.want > 0 && got[0].Code != "known-bug" {
			t.Errorf("%s with %s, %q: got %+v, want %d warnings", c.version, c.journal, c.sql, got, c.want)
		}
	}
}

// A driver that is to be chosen with caution says so in each of its trials.
func TestCaution(t *testing.T) {
	j := job{Case: assay.Case{Cell: assay.Cell{Driver: "old"}}, program: Program{Caution: "not maintained"}}
	if got := j.programWarnings(); len(got) != 1 || got[0].Code != "caution" || got[0].Evidence != "old is not maintained" {
		t.Errorf("got %+v, want one caution", got)
	}
	if got := new(job).programWarnings(); got != nil {
		t.Errorf("got %+v of a driver without a caution", got)
	}
}
