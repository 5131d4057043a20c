//go:build unix

package runner

import (
	"testing"

	"assay"
)

// A build with a known fault is warned of where its settings do not rule the fault out.
func TestKnownBugs(t *testing.T) {
	for _, c := range []struct {
		version, journal string
		want             int
	}{{"3.49.2", "wal", 2}, {"3.49.2", "delete", 0}, {"3.50.7", "wal", 0}, {"3.44.6", "wal", 0}, {"3.51.2", "wal", 1}, {"3.53.3", "delete", 0}, {"3.54.1", "wal", 0}, {"", "wal", 0}} {
		got := knownBugs(assay.Target{Engine: "sqlite", EngineVersion: c.version}, []assay.Setting{{Name: "journal_mode", Effective: c.journal}})
		if len(got) != c.want || c.want > 0 && got[0].Code != "known-bug" {
			t.Errorf("%s with %s: got %+v, want %d warnings", c.version, c.journal, got, c.want)
		}
	}
}
