package main

import (
	"testing"

	"assay/kit/handwritten/gobench"
)

// BenchmarkPointRead is what a developer has instead of assay.
func BenchmarkPointRead(b *testing.B) { gobench.PointRead(b, "sqlite") }
