//go:build unix

package main

import (
	"testing"

	"assay/kit/workertest/gotest"
)

func TestConformance(t *testing.T) { gotest.Conformance(t, build(t)) }

func TestSettings(t *testing.T) {
	gotest.SettingsExcept(t, build(t), gotest.Except{
		Refused: []string{"mutex"},
		Ignored: []string{"mmap_size", "shared_cache", "threads"}, // left out of this build of SQLite
		Default: []string{"foreign_keys", "trusted_schema"},
	})
}

func TestSpellings(t *testing.T) {
	gotest.Spellings(t, build(t), gotest.URI, gotest.Pragmas, gotest.Default("foreign_keys"), gotest.Effects{
		"file:{{path}}?_pragma=mmap_size(268435456)": gotest.Ignored, // it is left out of this build of SQLite
	})
}

func TestMemory(t *testing.T) { gotest.Memory(t, build(t)) }

// build is the worker with a cache of what it compiles.
func build(t *testing.T) string {
	return gotest.BuildWith(t, "../ncruces/testdata/cache.go", "-ldflags=-X main.folder="+t.TempDir())
}
