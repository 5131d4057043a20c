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
	"strconv"
	"strings"
	"time"
)

// Scope says what a setting belongs to.
type Scope string

// The scopes of settings.
const (
	File       Scope = "file"       // fixed while the file is prepared, before it has tables
	Connection Scope = "connection" // set, and read back, on every connection
)

// Setting is one setting of SQLite.
type Setting struct {
	Name  string
	Scope Scope
	// Pragma is true where PRAGMA Name reads the setting back. The others are
	// given at opening and can only be proved by behaviour.
	Pragma bool
	// Words are the values that have a name; empty for numbers and switches.
	Words []string
	// Want says which values there are, for messages.
	Want string

	normal func(value string) (string, bool)
}

// Settings lists every setting, by name.
var Settings = []Setting{
	Integer("analysis_limit", 0, math.MaxInt32),
	numbered("auto_vacuum", "none", "full", "incremental").in(File),
	Boolean("automatic_index"),
	milliseconds("busy_timeout"),
	Integer("cache_size", math.MinInt32, math.MaxInt32), // pages, or KiB below zero
	Boolean("cell_size_check"),
	Boolean("checkpoint_fullfsync"),
	words("encoding", "UTF-8", "UTF-16le", "UTF-16be").in(File),
	Boolean("foreign_keys"),
	Boolean("fullfsync"),
	Boolean("ignore_check_constraints"),
	Boolean("immutable").flag(),
	words("journal_mode", "delete", "truncate", "persist", "memory", "wal", "off"),
	Integer("journal_size_limit", -1, math.MaxInt64),
	words("locking_mode", "normal", "exclusive"),
	Boolean("memory").flag(),
	Integer("mmap_size", 0, math.MaxInt64),
	words("mutex", "no", "full").flag(),
	pageSize(),
	Boolean("query_only"),
	Boolean("read_only").flag(),
	Boolean("read_uncommitted"),
	Boolean("recursive_triggers"),
	Boolean("reverse_unordered_selects"),
	numbered("secure_delete", "off", "on", "fast"),
	Boolean("shared_cache").flag(),
	numbered("synchronous", "off", "normal", "full", "extra"),
	numbered("temp_store", "default", "file", "memory"),
	Integer("threads", 0, math.MaxInt32),
	Boolean("trusted_schema"),
	Integer("wal_autocheckpoint", 0, math.MaxInt32),
}

// Lookup returns the setting of that name; the second result is false where
// there is none.
func Lookup(name string) (Setting, bool) {
	for _, s := range Settings {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}

// Names returns the names of all settings, sorted.
func Names() []string {
	names := make([]string, len(Settings))
	for i, s := range Settings {
		names[i] = s.Name
	}
	return names
}

// Normal returns a setting's value as SQLite reads it back: journal_mode WAL
// is wal, synchronous normal is 1, foreign_keys on is 1, busy_timeout 5s is
// 5000. It fails for an unknown setting and for a value that SQLite would
// ignore or misread.
func Normal(name, value string) (string, error) {
	s, ok := Lookup(name)
	if !ok {
		return "", fmt.Errorf("unknown setting %q", name)
	}
	return s.Normal(value)
}

// Normal returns the setting's value as it is read back; see the function of
// this name.
func (s Setting) Normal(value string) (string, error) {
	normal, ok := s.normal(strings.TrimSpace(value))
	if !ok {
		return "", fmt.Errorf("%s cannot be %q: want %s", s.Name, value, s.Want)
	}
	return normal, nil
}

func (s Setting) in(scope Scope) Setting {
	s.Scope = scope
	return s
}

func (s Setting) flag() Setting {
	s.Pragma = false
	return s
}

func pragma(name, want string, normal func(string) (string, bool)) Setting {
	return Setting{Name: name, Scope: Connection, Pragma: true, Want: want, normal: normal}
}

// words is a setting that reads back as one of some words.
func words(name string, all ...string) Setting {
	s := pragma(name, either(all), func(value string) (string, bool) {
		i := position(all, value)
		if i < 0 {
			return "", false
		}
		return all[i], true
	})
	s.Words = all
	return s
}

// numbered is a setting whose words read back as their position.
func numbered(name string, all ...string) Setting {
	want := fmt.Sprintf("%s, or 0 to %d", strings.Join(all, ", "), len(all)-1)
	s := pragma(name, want, func(value string) (string, bool) {
		if i := position(all, value); i >= 0 {
			return strconv.Itoa(i), true
		}
		return whole(value, 0, int64(len(all)-1))
	})
	s.Words = all
	return s
}

// Boolean is a switch that reads back as 0 or 1.
func Boolean(name string) Setting {
	return pragma(name, "on or off", func(value string) (string, bool) {
		switch strings.ToLower(value) {
		case "on", "true", "yes", "1":
			return "1", true
		case "off", "false", "no", "0":
			return "0", true
		}
		return "", false
	})
}

// Integer is a setting that reads back as a whole number of a range.
func Integer(name string, low, high int64) Setting {
	want := fmt.Sprintf("a whole number of %d or more", low)
	if low == math.MinInt32 {
		want = "a whole number"
	}
	return pragma(name, want, func(value string) (string, bool) { return whole(value, low, high) })
}

// Custom is a connection's setting of another engine. normal returns a value as
// it is read back, and false for what is none; want says which there are.
func Custom(name, want string, normal func(value string) (string, bool)) Setting {
	return Setting{Name: name, Scope: Connection, Want: want, normal: normal}
}

func milliseconds(name string) Setting {
	return pragma(name, "milliseconds or a duration such as 5s", func(value string) (string, bool) {
		if d, err := time.ParseDuration(value); err == nil && d%time.Millisecond == 0 {
			value = strconv.FormatInt(d.Milliseconds(), 10)
		}
		return whole(value, 0, math.MaxInt32)
	})
}

func pageSize() Setting {
	s := pragma("page_size", "a power of two from 512 to 65536", func(value string) (string, bool) {
		n, err := strconv.Atoi(value)
		if err != nil || n < 512 || n > 65536 || n&(n-1) != 0 {
			return "", false
		}
		return strconv.Itoa(n), true
	})
	return s.in(File)
}

func whole(value string, low, high int64) (string, bool) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < low || n > high {
		return "", false
	}
	return strconv.FormatInt(n, 10), true
}

func position(all []string, word string) int {
	for i, w := range all {
		if strings.EqualFold(w, word) {
			return i
		}
	}
	return -1
}

func either(all []string) string {
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
}
