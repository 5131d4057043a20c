//go:build unix

package main

import (
	"testing"

	"assay/kit/workertest/gotest"
)

func TestConformance(t *testing.T) { gotest.Conformance(t, gotest.Build(t)) }

func TestSettings(t *testing.T) {
	gotest.SettingsExcept(t, gotest.Build(t), gotest.Except{Refused: []string{"mutex"}, Default: []string{"journal_mode"}})
}

func TestSpellings(t *testing.T) {
	gotest.Spellings(t, gotest.Build(t), gotest.URI, gotest.SharedCache, gotest.Default("journal_mode"))
}

func TestMemory(t *testing.T) { gotest.Memory(t, gotest.Build(t)) }
