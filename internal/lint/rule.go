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
	Help     string // what it finds, and what not, in Markdown
}

// The rules.
var (
	IgnoredKey = Rule{"ignored-key", WithoutEffect, "the driver ignores this parameter of the DSN",
		"The driver ignores the parameter. The finding names the spelling that works and, where another measured version differs, which."}
	MisspelledKey = Rule{"misspelled-key", WithoutEffect, "the driver does not know this parameter of the DSN, which is nearly one that it knows",
		"The driver does not know the parameter, as far as is known, and it differs by one letter (two where the known one has seven or more) from one that takes effect: `_sychronous`. `--measure` tries it with the driver. Known parameters, such as `_txlock` and `vfs`, are never taken for misspellings."}
	PlainPath = Rule{"plain-path", WithoutEffect, "the driver takes parameters only from a DSN that begins with file:",
		"SQLite reads parameters only in a DSN that begins with `file:`. `app.db?mode=ro` is writable."}
	FileName = Rule{"file-name", WithoutEffect, "the parameters become part of the name of the file",
		"The driver takes a DSN that does not begin with `file:` for a file's name, with the question mark and everything after it."}
	PoolPragma = Rule{"pool-pragma", WithoutEffect, "a PRAGMA by Exec reaches one connection of the pool",
		"`db.Exec(\"PRAGMA ...\")` reaches one connection of the pool; the others keep their defaults. No findings are WAL, which stays in the file, a PRAGMA that the DSN sets too, and a package that does not open the database, limits a pool to one connection, or runs statements on each new connection."}
	MemoryPool = Rule{"memory-pool", Risk, "each connection of the pool has a database of its own",
		"Each connection of the pool has a private, empty database."}
	ReadOnly = Rule{"wal-read-only", WithoutEffect, "WAL cannot be set on a connection that may not write",
		"WAL is asked for together with `mode=ro` or `immutable=1`. With `mode=ro` it is an error at opening unless the file is in WAL mode already."}
	NoTimeout = Rule{"no-busy-timeout", Risk, "a locked database is an error at once",
		"The driver waits 0 ms for a lock by default, and neither the DSN nor a PRAGMA in the package says otherwise."}
	NoKeys = Rule{"foreign-keys-off", Risk, "the schema has foreign keys and nothing enforces them",
		"The schema has `REFERENCES`, the driver does not enforce foreign keys by default, and nothing in the package switches them on."}
	IdleBelow = Rule{"idle-below-open", Risk, "the pool closes connections under load and opens them again",
		"`SetMaxOpenConns` is above the connections that the pool keeps (two, unless `SetMaxIdleConns` says otherwise). Under load the pool closes connections and opens them again."}
	SharedFile = Rule{"shared-cache", Risk, "a shared cache locks whole tables, and no busy timeout helps",
		"Connections with a shared cache lock whole tables against each other, with `SQLITE_LOCKED`, for which no busy timeout waits."}
	CacheSum = Rule{"cache-times-pool", Risk, "each connection of the pool has a cache of its own",
		"Each connection has a cache of its own, and together they may take more than 1 GiB."}

	DeferredWrite = Rule{"deferred-write", Risk, "a transaction reads before it writes, and begins deferred",
		"A transaction that begins deferred takes the lock for writing when it first writes. Where it has read before and another connection has written since, SQLite refuses that at once (`SQLITE_BUSY_SNAPSHOT` in WAL mode), whatever `busy_timeout` says. `_txlock=immediate` in the DSN of Go's drivers, `transaction_mode` of Django and `default_transaction_mode` of Rails begin with the lock. No findings are a pool with one connection, and a DSN that is not seen in full."}

	KnownBug = Rule{"known-bug", Risk, "the engine in this version of the library has a fault that loses or damages data",
		"A lock file (go.mod, requirements.txt and its like, package-lock.json, Gemfile.lock) pins a library whose engine has a fault that loses or damages data; `assay advisories` lists them. A version whose engine is not known is not judged."}

	IgnoredOption = Rule{"ignored-option", WithoutEffect, "the library ignores this key of its configuration",
		"The library ignores this key of its configuration, or takes it for a part of the file's name. The finding names what works, and the later version that honours the key. A value that connections have by themselves is no finding."}
	RefusedOption = Rule{"refused-option", WithoutEffect, "the library does not open a database with this key in its configuration",
		"The library opens no database with this key, or with one that is nearly a known key."}
	MisspelledOption = Rule{"misspelled-option", WithoutEffect, "the library ignores this key, which is nearly one that it knows",
		"The library ignores this key, which differs by one slip of the fingers from one that takes effect, such as `time_out` from `timeout`."}
)

// Rules returns all rules, by ID.
func Rules() []Rule {
	all := []Rule{IgnoredKey, MisspelledKey, PlainPath, FileName, PoolPragma, MemoryPool, ReadOnly, NoTimeout, NoKeys, IdleBelow, SharedFile, CacheSum, DeferredWrite, KnownBug,
		IgnoredOption, RefusedOption, MisspelledOption}
	slices.SortFunc(all, func(a, b Rule) int { return strings.Compare(a.ID, b.ID) })
	return all
}
