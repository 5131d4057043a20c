//go:build unix

package main

import (
	"testing"

	"assay/kit/workertest/gotest"
)

func TestConformance(t *testing.T) { gotest.Conformance(t, gotest.Build(t)) }

func TestSettings(t *testing.T) {
	gotest.SettingsExcept(t, gotest.Build(t), gotest.Except{Default: []string{"journal_mode", "mutex"}})
}

func TestSpellings(t *testing.T) {
	gotest.Spellings(t, gotest.Build(t), gotest.URI, gotest.SharedCache, gotest.Default("journal_mode"), gotest.Default("mutex"))
}

func TestMemory(t *testing.T) { gotest.Memory(t, gotest.Build(t)) }
