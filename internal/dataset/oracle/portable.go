package oracle

import (
	"regexp"
	"slices"
	"strings"

	"assay"
)

// The SQL whose effect is the same in PostgreSQL and SQLite: rows are inserted
// with arguments and numbers, or found by equality, and given those, or a sum or
// difference of a column and one of those.
var portable = func() *regexp.Regexp {
	const name, value = `[a-z_][a-z0-9_]*`, `(?:\?\d*|-?\d+|null)`
	const assigned = name + `\s*=\s*(?:` + value + `|` + name + `(?:\s*[+-]\s*` + value + `)?)`
	const where = `\s+where\s+` + name + `\s*=\s*` + value + `(?:\s+and\s+` + name + `\s*=\s*` + value + `)*`
	list := func(of string) string { return of + `(?:\s*,\s*` + of + `)*` }
	return regexp.MustCompile(`(?i)^\s*(?:` +
		`insert\s+into\s+` + name + `\s*(?:\(\s*` + list(name) + `\s*\)\s*)?values\s*\(\s*` + list(value) + `\s*\)` +
		`|update\s+` + name + `\s+set\s+` + list(assigned) + where +
		`|delete\s+from\s+` + name + where +
		`)\s*;?\s*$`)
}()

// Portable reports whether an operation leaves in PostgreSQL what it leaves in
// SQLite, as far as its SQL decides that.
func Portable(op assay.Operation) bool {
	for _, part := range op.Parts {
		if part.Operation.Changes && !Portable(part.Operation) {
			return false
		}
	}
	for _, step := range op.Steps {
		if !step.Query && !portable.MatchString(step.SQL) {
			return false
		}
	}
	return true
}

// folded reports whether a name is in PostgreSQL what it is in SQLite: there, one
// without quotes is in small letters.
func folded(name string) bool { return name == strings.ToLower(name) }

// sameTypes are the declared types whose values are the same in PostgreSQL.
var sameTypes = []string{"INT", "INTEGER", "BIGINT", "REAL", "FLOAT", "DOUBLE PRECISION", "TEXT", "BLOB"}

// literal is a default that every engine takes for the same value.
var literal = regexp.MustCompile(`(?i)^(?:|-?\d+(?:\.\d+)?|'[^']*'|null)$`)

func (t *table) sameElsewhere(column int) bool {
	return folded(t.columns[column]) && slices.Contains(sameTypes, t.declared[column]) && literal.MatchString(t.initial[column])
}

// askedElsewhere reports whether PostgreSQL can be asked for rows by their key.
func (t *table) askedElsewhere() bool {
	return folded(t.name) && !slices.ContainsFunc(t.key, func(c int) bool { return !t.sameElsewhere(c) })
}
