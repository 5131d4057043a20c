// Package kv is the vocabulary of key-value stores: their settings, and what
// their operations are in SQL, so that a SQL database can be measured as a
// store and a SQL oracle knows the right answers. It opens no database.
package kv

import (
	"slices"
	"strconv"
	"strings"

	"assay/kit/duckdb"
	"assay/kit/postgres"
	"assay/kit/setting"
	"assay/kit/sqlite"
)

// The settings of stores. Values are as they are read back: 0 and 1, bytes.
const (
	// Sync says whether a commit is acknowledged only when it is on the disk.
	Sync = "sync"
	// BlockCache is how many bytes of blocks or pages the store itself keeps.
	BlockCache = "block_cache"
	// Memtable is how many bytes of writes a log-structured store collects in memory
	// before it writes them out in order.
	Memtable = "memtable_size"
	// L0Compaction and L0Stop are how many tables or sublevels of the first level have
	// it compacted, and have writes wait.
	L0Compaction = "l0_compaction_threshold"
	L0Stop       = "l0_stop_writes_threshold"
	// ValueThreshold is from how many bytes on values are kept apart from their keys.
	ValueThreshold = "value_threshold"
	// Compression is that of blocks which are written.
	Compression = "compression"
	// FreelistType is how a store keeps the list of its free pages in memory, and
	// FreelistSync says whether each commit writes the list.
	FreelistType = "freelist_type"
	FreelistSync = "freelist_sync"
	// MetaSync says whether a commit also syncs the page that makes it the newest.
	MetaSync = "meta_sync"
	// Readahead says whether the system reads pages of the map in advance.
	Readahead = "readahead"
)

// Settings lists every setting, by name.
var Settings = setting.Table{
	setting.Integer(BlockCache, 0, 1<<40),
	setting.Words(Compression, "none", "snappy", "zstd").InFile(),
	setting.Boolean(FreelistSync),
	setting.Words(FreelistType, "array", "hashmap"),
	setting.Integer(L0Compaction, 1, 1000),
	setting.Integer(L0Stop, 1, 1000),
	setting.Integer(Memtable, 1<<16, 1<<32-1),
	setting.Boolean(MetaSync),
	setting.Boolean(Readahead),
	setting.Boolean(Sync),
	setting.Integer(ValueThreshold, 1, 1<<20).InFile(),
}

// InFiles are those of a profile's settings that decide how a store keeps what it was
// given. A store is loaded with them.
func InFiles(settings map[string]string) map[string]string {
	own := map[string]string{}
	for name, value := range settings {
		if s, ok := Settings.Lookup(name); ok && s.OfFile {
			own[name] = value
		}
	}
	return own
}

// ofStores reports whether a setting is one of stores.
func ofStores(name string) bool {
	_, ok := Settings.Lookup(name)
	return ok
}

// AllSettings lists every setting of every engine.
var AllSettings = slices.Concat(sqlite.Settings, Settings, postgres.Settings, duckdb.Alone)

// Word is the value of a setting, as it is read back, in the words of people.
func Word(name, value string) string {
	if _, known := postgres.Lookup(name); known {
		return postgres.Word(name, value)
	}
	if s, known := AllSettings.Lookup(name); known {
		return s.Word(value)
	}
	return value
}

// The SQL of a store: one table, and an operation each. Keys and values are
// blobs, which SQLite orders by their bytes.
const (
	Table  = "kv"
	Schema = "CREATE TABLE kv (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
	Get    = "SELECT value FROM kv WHERE key = ?"
	Put    = "INSERT INTO kv (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
	Delete = "DELETE FROM kv WHERE key = ?"
	Scan   = "SELECT key, value FROM kv WHERE key >= ? ORDER BY key LIMIT ?"
	All    = "SELECT key, value FROM kv ORDER BY key"
)

// Statements is the SQL of a store whose values have fields: each is a column,
// where a store has them one behind the other in its value.
type Statements struct {
	Fields                      int // 1: the value has none
	Schema, Get, Put, Scan, All string
}

// Of returns the SQL of a store whose values have so many fields; 0 and 1 are
// none.
func Of(fields int) Statements {
	if fields <= 1 {
		return Statements{1, Schema, Get, Put, Scan, All}
	}
	columns := Columns(fields)
	list := strings.Join(columns, ", ")
	excluded := make([]string, fields)
	for i, name := range columns {
		excluded[i] = name + " = excluded." + name
	}
	return Statements{fields,
		"CREATE TABLE kv (key BLOB PRIMARY KEY, " + strings.Join(columns, " BLOB NOT NULL, ") + " BLOB NOT NULL) WITHOUT ROWID",
		"SELECT " + list + " FROM kv WHERE key = ?",
		"INSERT INTO kv (key, " + list + ") VALUES (?" + strings.Repeat(", ?", fields) + ") ON CONFLICT (key) DO UPDATE SET " + strings.Join(excluded, ", "),
		"SELECT key, " + list + " FROM kv WHERE key >= ? ORDER BY key LIMIT ?",
		"SELECT key, " + list + " FROM kv ORDER BY key"}
}

// Columns returns the names of the columns of a value with so many fields.
func Columns(fields int) []string {
	if fields <= 1 {
		return []string{"value"}
	}
	names := make([]string, fields)
	for i := range names {
		names[i] = "field" + strconv.Itoa(i)
	}
	return names
}

// Update replaces one field of a key's value: arguments are key and field.
func (s Statements) Update(field int) string {
	return "UPDATE kv SET " + Columns(s.Fields)[field] + " = ?2 WHERE key = ?1"
}

// GetField reads one field of a key's value.
func (s Statements) GetField(field int) string {
	return "SELECT " + Columns(s.Fields)[field] + " FROM kv WHERE key = ?"
}

// InSQLite returns what the settings of a store are in SQLite: a write-ahead
// log, synced with each commit or only with checkpoints. Those of PostgreSQL, and of
// stores only, are nothing there, and left out.
func InSQLite(settings map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range settings {
		switch name {
		case Sync:
			out["journal_mode"], out["synchronous"] = "wal", map[string]string{"0": "1", "1": "2"}[value]
		case BlockCache:
			bytes, _ := strconv.ParseInt(value, 10, 64) // normal already
			out["cache_size"] = strconv.FormatInt(-bytes/1024, 10)
		default:
			if _, other := postgres.Lookup(name); !other && !ofStores(name) {
				out[name] = value
			}
		}
	}
	return out
}

// InPostgres returns what the settings of a store are in PostgreSQL: its log,
// synced with each commit or a moment later.
func InPostgres(settings map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range settings {
		switch name {
		case Sync:
			out["synchronous_commit"] = map[string]string{"0": "off", "1": "on"}[value]
		case BlockCache:
			out["shared_buffers"] = value
		default:
			if !ofStores(name) {
				out[name] = value
			}
		}
	}
	return out
}
