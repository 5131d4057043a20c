//go:build unix

package main

import (
	"testing"

	"assay/kit/kv"
	"assay/kit/kvdb"
	"assay/kit/workertest/gotest"
)

func TestConformance(t *testing.T) { gotest.Conformance(t, gotest.Build(t)) }

// Each option takes effect, and what is read back of the default differs from it.
func TestSettingsAreReadBack(t *testing.T) {
	asked := map[string]string{kv.BlockCache: "1048576", kv.Memtable: "2097152", kv.L0Compaction: "7", kv.L0Stop: "20"}
	usual := effective(t, nil)
	for name, want := range asked {
		if got := effective(t, map[string]string{name: want})[name]; got != want || usual[name] == "" || usual[name] == want {
			t.Errorf("%s=%s: got %q, and %q by default; want the value that was asked for, and another by default", name, want, got, usual[name])
		}
	}
}

func effective(t *testing.T, settings map[string]string) map[string]string {
	t.Helper()
	s, err := open(kvdb.Config{Path: t.TempDir(), Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return s.Effective()
}
