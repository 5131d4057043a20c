package emit

import "strings"

// ecosystem says how an ecosystem takes settings. Its template has its name.
type ecosystem struct {
	name    string // as users say it
	title   string
	self    string // who sets what the profile does not
	comment string // begins a comment
	uri     bool   // it takes a file: URI
	named   bool   // the form has the file's name in it, and not as an argument
	presets bool   // its own settings fix those of the file
	timeout bool   // it has an option of its own for the busy timeout
	mutex   bool   // it has flags for the mutex of a connection
	// key returns the driver's own parameter of the DSN; empty: there is none,
	// and SQL does it.
	key func(name, value string) string
	// late reports whether settings with a key must come by SQL all the same,
	// because another one that has no key must come before.
	late func(settings map[string]string) bool
	// lacks says why a setting cannot have a value, or why the SQL of the name
	// each cannot be run; empty: it can.
	lacks     func(name, value string) string
	own       []own
	notes     func(form) []string
	immediate string // how transactions begin so here
}

// own is a setting that an ecosystem sets where it is not told.
type own struct{ name, text string }

// The busy timeout that many set.
var ownTimeout = own{"busy_timeout", "busy_timeout = 5000"}

// What ncruces' SQLite is compiled with.
var ownForeignKeys = own{"foreign_keys", "foreign_keys = ON"}

var ecosystems = []ecosystem{
	{
		name: "rails", title: "Rails (6.1 and newer)", self: "Rails", comment: "#", uri: true, named: true, presets: true, timeout: true,
		lacks: lacksMutex("database.yml has no key for it"),
		own: []own{
			{"foreign_keys", "foreign_keys = ON"}, {"journal_mode", "journal_mode = WAL (7.1 and newer)"},
			{"synchronous", "synchronous = NORMAL (7.1 and newer)"}, {"mmap_size", "mmap_size = 134217728 (7.1 and newer)"},
			{"journal_size_limit", "journal_size_limit = 67108864 (7.1 and newer)"}, {"cache_size", "cache_size = 2000 (7.1 and newer)"},
		},
		notes:     railsNotes,
		immediate: "Rails 8.0 and newer begin all of them so, older ones by default_transaction_mode with the gem sqlite3 1.7 and newer",
	},
	{
		name: "go-mattn", title: "Go with github.com/mattn/go-sqlite3", self: "the driver", comment: "//", uri: true,
		key: mattnKey, late: hasFileSQL, lacks: lacksNothing,
		own:       []own{ownTimeout, {"synchronous", "synchronous = NORMAL"}},
		immediate: "&_txlock=immediate in the DSN of a pool that writes",
	},
	{
		name: "go-modernc", title: "Go with modernc.org/sqlite", self: "the driver", comment: "//", uri: true,
		key:       pragmaKey,
		late:      hasFileSQL, // the driver runs _pragma by name, page_size behind journal_mode
		lacks:     lacksMutex("the driver has no parameter for it"),
		notes:     moderncNotes,
		immediate: "&_txlock=immediate in the DSN of a pool that writes",
	},
	{
		name: "go-zombiezen", title: "Go with zombiezen.com/go/sqlite", self: "the driver", comment: "//", uri: true,
		lacks:     lacksMutex("its connections never have one"),
		own:       []own{{"busy_timeout", "a busy handler that waits until the connection is interrupted"}},
		immediate: "Transaction does that",
	},
	{
		name: "go-glebarez", title: "Go with github.com/glebarez/go-sqlite", self: "the driver", comment: "//", uri: true,
		key:       pragmaKey, // run in the DSN's order
		lacks:     lacksMutex("the driver has no parameter for it"),
		own:       []own{ownTimeout},
		immediate: "&_txlock=immediate in the DSN of a pool that writes",
	},
	{
		name: "go-ncruces", title: "Go with github.com/ncruces/go-sqlite3/driver", self: "the driver", comment: "//", uri: true,
		key:       pragmaKey, // run in the DSN's order
		lacks:     lacksNcruces,
		own:       []own{{"busy_timeout", "busy_timeout = 60000 (0 with any _pragma in the DSN)"}, ownForeignKeys},
		immediate: "&_txlock=immediate in the DSN of a pool that writes",
	},
	{
		name: "go-ncruces-direct", title: "Go with github.com/ncruces/go-sqlite3", self: "the driver", comment: "//", uri: true,
		lacks:     lacksNcruces,
		own:       []own{ownForeignKeys},
		immediate: "Transaction does that",
	},
	{
		name: "go-crawshaw", title: "Go with crawshaw.io/sqlite", self: "the driver", comment: "//", uri: true, mutex: true,
		lacks:     lacksNothing,
		own:       []own{{"busy_timeout", "busy_timeout = 10000"}, {"mutex", "mutex = NO"}},
		immediate: "Transaction does that",
	},
	{
		name: "go-eatonphil", title: "Go with github.com/eatonphil/gosqlite", self: "the driver", comment: "//", uri: true, mutex: true,
		lacks:     lacksUTF16,
		immediate: "Transaction does that",
	},
	{
		name: "python", title: "Python's sqlite3", self: "sqlite3.connect", comment: "#", uri: true,
		lacks:     lacksMutex("sqlite3.connect has no parameter for it"),
		own:       []own{ownTimeout},
		immediate: `isolation_level does that for the transactions that the module begins before a change; one that reads first begins by connection.execute("BEGIN IMMEDIATE")`,
	},
	{
		name: "node", title: "Node with better-sqlite3", self: "better-sqlite3", comment: "//", timeout: true,
		lacks: lacksNode,
		own: []own{
			ownTimeout, {"foreign_keys", "foreign_keys = ON"}, {"cache_size", "cache_size = -16000"},
			{"synchronous", "synchronous = NORMAL in WAL mode"},
		},
		immediate: "transaction does that",
	},
	{
		name: "django", title: "Django", self: "Django", comment: "#", uri: true, named: true,
		lacks:     lacksDjango,
		own:       []own{ownTimeout, {"foreign_keys", "foreign_keys = ON"}},
		notes:     djangoNotes,
		immediate: "transaction_mode does that from Django 5.1 on; older ones cannot, and their transactions fail at once where a reader becomes a writer too late",
	},
	{
		name: "sqlalchemy", title: "SQLAlchemy (1.4 and newer) with pysqlite", self: "sqlite3.connect", comment: "#", uri: true,
		lacks:     lacksMutex("sqlite3.connect has no parameter for it"),
		own:       []own{ownTimeout},
		immediate: `isolation_level does that for the transactions that sqlite3 begins before a change; one that reads first begins by connection.exec_driver_sql("BEGIN IMMEDIATE")`,
	},
}

// pragmaKey sends a PRAGMA in the DSN.
func pragmaKey(name, value string) string { return "_pragma=" + name + "(" + value + ")" }

// lacksNcruces knows what ncruces' SQLite is compiled without.
func lacksNcruces(name, value string) string {
	const without = "the driver's SQLite is compiled without "
	switch {
	case name == "shared_cache" && value == "1":
		return without + "the shared cache"
	case name == "mmap_size" && value != "0":
		return without + "memory mapping"
	case name == "threads" && value != "0":
		return without + "threads"
	}
	return lacksMutex("its connections never have one")(name, value)
}

// lacksUTF16 knows that eatonphil's SQLite is compiled without UTF-16.
func lacksUTF16(name, value string) string {
	if name == "encoding" && value != "UTF-8" {
		return "the driver's SQLite is compiled without UTF-16"
	}
	return ""
}

func lacksNothing(string, string) string { return "" }

func lacksMutex(reason string) func(name, value string) string {
	return func(name, _ string) string {
		if name == "mutex" {
			return reason
		}
		return ""
	}
}

// lacksNode knows that better-sqlite3 is compiled without URIs and without the
// shared cache.
func lacksNode(name, value string) string {
	switch name + "=" + value {
	case "immutable=1":
		return "better-sqlite3 takes no file: URI"
	case "shared_cache=1":
		return "better-sqlite3 is compiled without the shared cache"
	}
	return lacksMutex("better-sqlite3 has no option for it")(name, value)
}

// lacksDjango knows that init_command is split at semicolons.
func lacksDjango(name, value string) string {
	if name == "each" && strings.Contains(value, ";") {
		return "init_command cannot have a semicolon within a statement"
	}
	return lacksMutex("sqlite3.connect has no parameter for it")(name, value)
}

// mattnKey has the settings of which the driver's documentation lists a
// parameter; it ignores all others without a word.
func mattnKey(name, value string) string {
	switch name {
	case "auto_vacuum", "busy_timeout", "cache_size", "foreign_keys", "journal_mode", "locking_mode",
		"query_only", "recursive_triggers", "secure_delete", "synchronous":
		return "_" + name + "=" + value
	case "mutex":
		return "_mutex=" + strings.ToLower(value)
	}
	return ""
}

// hasFileSQL tells of settings of the file that parameters of the DSN cannot
// set in time: before journal_mode, which makes the file's first page.
func hasFileSQL(settings map[string]string) bool {
	_, size := settings["page_size"]
	_, encoding := settings["encoding"]
	return size || encoding
}

func moderncNotes(f form) []string {
	if len(f.SQL) == 0 {
		return nil
	}
	return []string{"The pool has a driver of its own: functions and collations must be registered with it, not with the package."}
}

func railsNotes(f form) []string {
	var lines []string
	if f.Timeout != "" {
		lines = append(lines,
			"timeout is the busy timeout. Rails 8.0 and newer wait in Ruby, where PRAGMA busy_timeout reads 0; older ones wait in SQLite, and while one thread waits all threads of the process do.")
	}
	if f.Journal != "" && f.Journal != "wal" {
		lines = append(lines,
			"Not for Rails 7.1, which turns every connection to WAL first and cannot be told otherwise; 7.2 and newer read pragmas.")
	}
	if len(f.URI) > 0 {
		lines = append(lines, "A file: URI is relative to the working folder, not to Rails.root. flags are SQLITE_OPEN_READWRITE, CREATE and URI.")
	}
	return lines
}

func djangoNotes(f form) []string {
	var lines []string
	if f.settings["foreign_keys"] == "0" {
		lines = append(lines, "Django turns foreign_keys on again after what needs it off, such as loading fixtures and changing tables.")
	}
	if len(f.URI) > 0 {
		lines = append(lines, "A file: URI is relative to the working folder.")
	}
	return lines
}
