//go:build unix

package main

import (
	"testing"

	"assay/kit/workertest/gotest"
)

func TestConformance(t *testing.T) { gotest.Conformance(t, gotest.Build(t)) }

func TestSettings(t *testing.T) {
	gotest.SettingsExcept(t, gotest.Build(t), gotest.Except{
		Refused: []string{"mutex"},
		Ignored: []string{"shared_cache", "threads"}, // left out of this build of SQLite
		Default: []string{"foreign_keys", "trusted_schema"},
	})
}

func TestSpellings(t *testing.T) {
	gotest.Spellings(t, gotest.Build(t), gotest.URI, gotest.Pragmas, gotest.Default("foreign_keys"))
}

func TestMemory(t *testing.T) { gotest.Memory(t, gotest.Build(t)) }
