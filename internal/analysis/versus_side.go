package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay"
)

// NewSide returns the cells of a run that a name means: a driver, with or
// without version and compile options, a profile, or KEY=VALUE for any
// coordinate. It fails where the run has none.
func NewSide(r *Result, name string) (Side, error) {
	for _, where := range meanings(name) {
		side := Side{Result: r, Name: name, Where: where}
		if len(side.Rows()) > 0 {
			return side, nil
		}
	}
	return Side{}, fmt.Errorf("it has no driver, profile or coordinate %q", name)
}

// meanings are the coordinates that a name can stand for.
func meanings(name string) []map[string]string {
	build := map[string]string{"driver": name, "options": assay.ParseDriverName(name).Options}
	all := []map[string]string{build, {"driver": name}, {"profile": name}}
	if key, value, has := strings.Cut(name, "="); has {
		all = append(all, map[string]string{key: value})
	}
	return all
}

// SideNames lists the drivers and profiles of a run, for people who look for
// one.
func SideNames(r *Result) []string {
	names := map[string]bool{}
	for _, row := range (Side{Result: r}).Rows() {
		names[row.Cell.Target()] = true
		names[row.Cell.Profile] = true
	}
	return slices.Sorted(maps.Keys(names))
}
