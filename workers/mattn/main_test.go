//go:build unix

package main

import (
	"testing"

	"assay/kit/workertest/gotest"
)

func TestConformance(t *testing.T) { gotest.Conformance(t, gotest.Build(t)) }

func TestSettings(t *testing.T) { gotest.Settings(t, gotest.Build(t)) }

func TestSpellings(t *testing.T) {
	gotest.Spellings(t, gotest.Build(t), gotest.URI, gotest.SharedCache, gotest.Keys, gotest.Effects{
		"file:{{path}}?_locking_mode=EXCLUSIVE": gotest.Applied,
		"file:{{path}}?_locking=EXCLUSIVE":      gotest.Applied,
		"file:{{path}}?_cache_size=10000":       gotest.Applied,
		"file:{{path}}?_mutex=no":               gotest.Applied,
	})
}

func TestMemory(t *testing.T) { gotest.Memory(t, gotest.Build(t)) }
