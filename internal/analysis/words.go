package analysis

import (
	"cmp"

	"assay"
)

// class names a class of durability in tables.
func class(d assay.Durability) string { return cmp.Or(string(d), "unknown") }
