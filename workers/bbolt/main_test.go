//go:build unix

package main

import (
	"testing"

	"assay/kit/kv"
	"assay/kit/kvdb"
	"assay/kit/workertest/gotest"
)

func TestConformance(t *testing.T) { gotest.Conformance(t, gotest.Build(t)) }

// Settings are read back, and by default are those that bbolt documents.
func TestSettingsAreReadBack(t *testing.T) {
	for name, values := range map[string][2]string{kv.FreelistType: {"array", "hashmap"}, kv.FreelistSync: {"1", "0"}, kv.Sync: {"1", "0"}} {
		for _, c := range []struct {
			settings map[string]string
			want     string
		}{{nil, values[0]}, {map[string]string{name: values[0]}, values[0]}, {map[string]string{name: values[1]}, values[1]}} {
			s, err := open(kvdb.Config{Path: t.TempDir(), Settings: c.settings})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Put([]byte("a"), []byte("b")); err != nil {
				t.Error(err)
			}
			if got := s.Effective()[name]; got != c.want {
				t.Errorf("%v: got %s %q, want %q", c.settings, name, got, c.want)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
