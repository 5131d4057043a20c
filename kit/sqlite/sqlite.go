// Package sqlite is the vocabulary of SQLite's settings: which there are,
// which values they take, how SQLite reads them back, and what they say about
// durability. It opens no database.
//
// Names and values follow https://www.sqlite.org/pragma.html; read_only,
// immutable and shared_cache follow https://www.sqlite.org/uri.html, and mutex
// https://www.sqlite.org/threadsafe.html. memory is ours: a copy of the prepared
// file in memory, which all connections share.
package sqlite

import (
	"fmt"
	"math"

	"assay/kit/setting"
)

// Settings lists every setting, by name.
var Settings = setting.Table{
	setting.Integer("analysis_limit", 0, math.MaxInt32),
	setting.Numbered("auto_vacuum", "none", "full", "incremental").InFile(),
	setting.Boolean("automatic_index"),
	setting.Milliseconds("busy_timeout"),
	setting.Integer("cache_size", math.MinInt32, math.MaxInt32), // pages, or KiB below zero
	setting.Boolean("cell_size_check"),
	setting.Boolean("checkpoint_fullfsync"),
	setting.Words("encoding", "UTF-8", "UTF-16le", "UTF-16be").InFile(),
	setting.Boolean("foreign_keys"),
	setting.Boolean("fullfsync"),
	setting.Boolean("ignore_check_constraints"),
	setting.Boolean("immutable").AtOpen(),
	setting.Words("journal_mode", "delete", "truncate", "persist", "memory", "wal", "off"),
	setting.Integer("journal_size_limit", -1, math.MaxInt64),
	setting.Words("locking_mode", "normal", "exclusive"),
	setting.Boolean("memory").AtOpen(),
	setting.Integer("mmap_size", 0, math.MaxInt64),
	setting.Words("mutex", "no", "full").AtOpen(),
	setting.PowerOfTwo("page_size", 512, 65536).InFile(),
	setting.Boolean("query_only"),
	setting.Boolean("read_only").AtOpen(),
	setting.Boolean("read_uncommitted"),
	setting.Boolean("recursive_triggers"),
	setting.Boolean("reverse_unordered_selects"),
	setting.Numbered("secure_delete", "off", "on", "fast"),
	setting.Boolean("shared_cache").AtOpen(),
	setting.Numbered("synchronous", "off", "normal", "full", "extra"),
	setting.Numbered("temp_store", "default", "file", "memory"),
	setting.Integer("threads", 0, math.MaxInt32),
	setting.Boolean("trusted_schema"),
	setting.Integer("wal_autocheckpoint", 0, math.MaxInt32),
}

// Lookup returns the setting of that name; the second result is false where
// there is none.
func Lookup(name string) (setting.Setting, bool) { return Settings.Lookup(name) }

// Normal returns a setting's value as SQLite reads it back. It fails for an unknown
// setting, too.
func Normal(name, value string) (string, error) {
	s, ok := Lookup(name)
	if !ok {
		return "", fmt.Errorf("unknown setting %q", name)
	}
	return s.Normal(value)
}
