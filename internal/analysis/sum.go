package analysis

import (
	"slices"
	"strconv"
	"strings"

	"assay"
)

// linkSums finds the tables that sums add up: operations at the same coordinates. Those
// that a run was not asked for it has for its sums. Nothing runs for a sum: a launch of
// it is one of each of its parts.
func linkSums(only map[string][]string, tables []*Table) {
	ran := func(t *Table) bool { return t.Launch > 0 }
	sums := slices.DeleteFunc(slices.Clone(tables), ran)
	for _, part := range slices.DeleteFunc(slices.Clone(tables), func(t *Table) bool { return !ran(t) }) {
		for _, t := range sums {
			alone := t.asked(only) && !part.asked(only)
			// What took no time and was not measured may be an operation that did not run.
			if t.Cell().Adds(part.Cell()) && (alone || t.measured()) {
				t.parts = append(t.parts, part)
				part.ForSum = part.ForSum || alone
			}
		}
	}
	for _, t := range sums {
		for _, part := range t.parts {
			t.Launch += part.Launch
		}
	}
}

// measured reports whether a row of the table has figures.
func (t *Table) measured() bool {
	return slices.ContainsFunc(t.Rows, func(row *Row) bool { return len(row.Figures) > 0 })
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
