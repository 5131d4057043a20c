// Package lint finds settings of SQLite in Go source, and in the configuration of
// libraries of other languages, that never take effect at the version in use, and
// settings that take effect on one connection of a pool only.
package lint

import (
	"slices"
	"strings"
)

// Severity says how sure harm is.
type Severity string

// The severities.
const (
	WithoutEffect Severity = "without effect" // it does not do what is written
	Risk          Severity = "risk"           // it works, and fails under load or surprises
)

// Rule is one kind of finding.
type Rule struct {
	ID       string
	Severity Severity
	About    string // one line
}

// The rules.
var (
	IgnoredKey    = Rule{"ignored-key", WithoutEffect, "the driver ignores this parameter of the DSN"}
	MisspelledKey = Rule{"misspelled-key", WithoutEffect, "the driver does not know this parameter of the DSN, which is nearly one that it knows"}
	PlainPath     = Rule{"plain-path", WithoutEffect, "the driver takes parameters only from a DSN that begins with file:"}
	FileName      = Rule{"file-name", WithoutEffect, "the parameters become part of the name of the file"}
	PoolPragma    = Rule{"pool-pragma", WithoutEffect, "a PRAGMA by Exec reaches one connection of the pool"}
	MemoryPool    = Rule{"memory-pool", Risk, "each connection of the pool has a database of its own"}
	ReadOnly      = Rule{"wal-read-only", WithoutEffect, "WAL cannot be set on a connection that may not write"}
	NoTimeout     = Rule{"no-busy-timeout", Risk, "a locked database is an error at once"}
	NoKeys        = Rule{"foreign-keys-off", Risk, "the schema has foreign keys and nothing enforces them"}
	IdleBelow     = Rule{"idle-below-open", Risk, "the pool closes connections under load and opens them again"}
	SharedFile    = Rule{"shared-cache", Risk, "a shared cache locks whole tables, and no busy timeout helps"}
	CacheSum      = Rule{"cache-times-pool", Risk, "each connection of the pool has a cache of its own"}

	KnownBug = Rule{"known-bug", Risk, "the engine in this version of the library has a fault that loses or damages data"}

	IgnoredOption    = Rule{"ignored-option", WithoutEffect, "the library ignores this key of its configuration"}
	RefusedOption    = Rule{"refused-option", WithoutEffect, "the library does not open a database with this key in its configuration"}
	MisspelledOption = Rule{"misspelled-option", WithoutEffect, "the library ignores this key, which is nearly one that it knows"}
)

// Rules returns all rules, by ID.
func Rules() []Rule {
	all := []Rule{IgnoredKey, MisspelledKey, PlainPath, FileName, PoolPragma, MemoryPool, ReadOnly, NoTimeout, NoKeys, IdleBelow, SharedFile, CacheSum, KnownBug,
		IgnoredOption, RefusedOption, MisspelledOption}
	slices.SortFunc(all, func(a, b Rule) int { return strings.Compare(a.ID, b.ID) })
	return all
}

func ruleOf(id string) Rule {
	all := Rules()
	return all[slices.IndexFunc(all, func(r Rule) bool { return r.ID == id })]
}
