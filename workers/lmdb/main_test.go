//go:build unix

package main

import (
	"maps"
	"testing"

	"assay/kit/kv"
	"assay/kit/kvdb"
	"assay/kit/workertest/gotest"
)

func TestConformance(t *testing.T) { gotest.Conformance(t, gotest.Build(t)) }

// Flags are read back, and one that weakens the durability is claimed so.
func TestSettingsAreReadBack(t *testing.T) {
	for _, c := range []struct {
		settings   map[string]string
		want       map[string]string
		durability string
	}{
		{nil, map[string]string{kv.Sync: "1", kv.MetaSync: "1", kv.Readahead: "1"}, "power"},
		{map[string]string{kv.Readahead: "0"}, map[string]string{kv.Sync: "1", kv.MetaSync: "1", kv.Readahead: "0"}, "power"},
		{map[string]string{kv.MetaSync: "0"}, map[string]string{kv.Sync: "1", kv.MetaSync: "0", kv.Readahead: "1"}, "last-commit"},
		{map[string]string{kv.Sync: "0", kv.MetaSync: "1"}, map[string]string{kv.Sync: "0", kv.MetaSync: "1", kv.Readahead: "1"}, "process"},
	} {
		opened, err := open(kvdb.Config{Path: t.TempDir(), Settings: c.settings})
		if err != nil {
			t.Fatal(err)
		}
		s := opened.(*store)
		if got := s.Effective(); !maps.Equal(got, c.want) || s.Durability() != c.durability {
			t.Errorf("%v: got %v, %s; want %v, %s", c.settings, got, s.Durability(), c.want, c.durability)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
