package analysis

import (
	"slices"
	"strconv"
	"strings"

	"assay"
)

// linkSums finds the tables that a run was not asked for and has for the sums that it
// was asked for. Nothing runs for a sum: a launch of it is one of each of these.
func linkSums(only map[string][]string, tables []*Table) {
	for _, t := range tables {
		if t.Launch > 0 || !t.asked(only) {
			continue
		}
		for _, part := range tables {
			if !part.asked(only) && t.Cell().Adds(part.Cell()) {
				part.ForSum = true
				t.Launch += part.Launch
			}
		}
	}
}

// asked reports whether the table is one of those that --only selects.
func (t *Table) asked(only map[string][]string) bool {
	for name, values := range only {
		if slices.ContainsFunc(assay.Coordinates, func(k assay.Coordinate) bool { return k.Name == name && k.Target }) {
			continue // it selects rows
		}
		value, has := t.Cell().Coordinate(name)
		if !has || !slices.ContainsFunc(values, func(v string) bool { return sameValue(v, value) }) {
			return false
		}
	}
	return true
}

// sameValue compares values as users write them: 1e6 and 1_000_000 are the same.
func sameValue(a, b string) bool {
	x, errX := strconv.ParseFloat(strings.ReplaceAll(a, "_", ""), 64)
	y, errY := strconv.ParseFloat(strings.ReplaceAll(b, "_", ""), 64)
	return a == b || errX == nil && errY == nil && x == y
}
