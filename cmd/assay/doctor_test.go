package main

import (
	"testing"

	"assay/kit/wire"
)

// Faults of write-ahead logs count where there is one, and those of attached databases never.
func TestBugsOf(t *testing.T) {
	for _, c := range []struct {
		version string
		wal     bool
		want    int
	}{{"3.51.0", true, 1}, {"3.51.0", false, 0}, {"3.52.0", false, 1}, {"3.53.3", true, 0}, {"3.53.3", false, 0}} {
		if all := bugsOf(wire.Target{Engine: "sqlite", EngineVersion: c.version}, "v1", c.wal); len(all) != c.want {
			t.Errorf("SQLite %s, WAL %v: got %v, want %d", c.version, c.wal, all, c.want)
		}
	}
}
