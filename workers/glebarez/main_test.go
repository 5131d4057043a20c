//go:build unix

package main

import (
	"testing"

	"assay/kit/workertest/gotest"
)

func TestConformance(t *testing.T) { gotest.Conformance(t, gotest.Build(t)) }

func TestSettings(t *testing.T) { gotest.Settings(t, gotest.Build(t), "mutex") }

func TestSpellings(t *testing.T) {
	gotest.Spellings(t, gotest.Build(t), gotest.URI, gotest.SharedCache, gotest.Pragmas)
}

func TestMemory(t *testing.T) { gotest.Memory(t, gotest.Build(t)) }
