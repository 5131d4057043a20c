//go:build unix

package main

import (
	"testing"

	"assay/kit/workertest/gotest"
)

func TestConformance(t *testing.T) { gotest.Conformance(t, gotest.Build(t)) }
