package facts

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"assay/kit/sqlite"
)

// The places of a DSN: one that begins with file:, and another one.
const (
	InFile = "file:?"
	InPath = "?"
)

// InDSN is the place in a DSN that begins with file:, or does not.
func InDSN(uri bool) string {
	if uri {
		return InFile
	}
	return InPath
}

// Reads is a value as it reads back where it takes effect in a DSN; false where the setting
// is not known to take it. It knows no units: 5s is a time for plans only.
func (o Option) Reads(value string) (string, bool) {
	value = strings.Trim(value, `'"`)
	if read, known := opening[o.Meaning][value]; known && o.Key != o.Meaning {
		return read, true
	}
	read, err := sqlite.Normal(o.Meaning, value)
	if _, noNumber := strconv.Atoi(value); o.Meaning == "busy_timeout" && noNumber != nil {
		return "", false
	}
	return read, err == nil
}

// opening are the words for how a file is opened, and what they read back as.
var opening = map[string]map[string]string{
	"read_only":    {"ro": "1", "rw": "0", "rwc": "0", "memory": "0"},
	"shared_cache": {"shared": "1", "private": "0"},
}

// Parse reads one parameter of a DSN. The second result is its value; the third
// is false where no driver was ever asked about such a parameter.
func Parse(uri bool, parameter string) (Option, string, bool) {
	key, value, _ := strings.Cut(parameter, "=")
	if plain, err := url.QueryUnescape(value); err == nil {
		value = plain
	}
	pragma := isPragmaKey(key)
	if pragma {
		key, value = withPragma(key, value)
	}
	for _, o := range spellings {
		if o.Place == InDSN(uri) && (o.Key == key || pragma && strings.EqualFold(o.Key, key)) {
			return o, value, true
		}
	}
	return Option{Place: InDSN(uri), Key: key}, value, false
}

// withPragma is a key with the PRAGMA in its value, NAME(VALUE) or NAME=VALUE, and the value of that.
func withPragma(key, text string) (full, value string) {
	name, end := text, "()"
	if i := strings.IndexAny(text, "(="); i >= 0 {
		name, value = text[:i], strings.TrimSpace(strings.TrimSuffix(text[i+1:], ")"))
		if text[i] == '=' {
			end = "="
		}
	}
	return key + "=" + strings.TrimSpace(name) + end, value
}

// parts returns what withPragma put together; without a PRAGMA the others are empty.
func parts(key string) (name, pragma, end string) {
	name, rest, _ := strings.Cut(key, "=")
	pragma = strings.TrimRight(rest, "()=")
	return name, pragma, rest[len(pragma):]
}

func isPragmaKey(key string) bool { return key == "_pragma" || key == "pragma" }

// question is a setting with two values, as a DSN has them and as they read
// back, and the keys that people write for it, right and wrong.
type question struct {
	setting string
	values  [2]value
	keys    []string
	pragma  bool // it also is a PRAGMA
}

type value struct{ written, read string }

func both(a, b string) [2]value { return [2]value{{a, a}, {b, b}} }

var switched = both("1", "0")

// questions are asked of every driver.
var questions = []question{
	{"analysis_limit", both("400", "500"), []string{"_analysis_limit"}, true},
	{"auto_vacuum", both("1", "2"), []string{"_auto_vacuum", "_vacuum", "auto_vacuum"}, true},
	{"automatic_index", both("0", "1"), []string{"_automatic_index"}, true},
	{"busy_timeout", both("1234", "4321"), []string{"_busy_timeout", "_timeout", "_busytimeout", "busy_timeout", "busytimeout", "timeout", "_busy"}, true},
	{"cache_size", both("10000", "9000"), []string{"_cache_size", "_cachesize", "cache_size"}, true},
	{"cell_size_check", switched, []string{"_cell_size_check"}, true},
	{"foreign_keys", switched, []string{"_foreign_keys", "_fk", "_foreign_key", "_foreignkeys", "foreign_keys", "foreign_key", "fk"}, true},
	{"ignore_check_constraints", switched, []string{"_ignore_check_constraints"}, true},
	{"immutable", [2]value{{"1", "1"}}, []string{"immutable", "_immutable"}, false},
	{"journal_mode", [2]value{{"WAL", "wal"}, {"TRUNCATE", "truncate"}}, []string{"_journal_mode", "_journal", "_journalmode", "journal_mode", "journal", "_jm"}, true},
	{"journal_size_limit", both("1000000", "2000000"), []string{"_journal_size_limit", "journal_size_limit"}, true},
	{"locking_mode", [2]value{{"EXCLUSIVE", "exclusive"}, {"NORMAL", "normal"}}, []string{"_locking_mode", "_locking", "locking_mode"}, true},
	{"mmap_size", both("268435456", "134217728"), []string{"_mmap_size", "_mmap", "mmap_size"}, true},
	{"mutex", [2]value{{"no", "no"}, {"full", "full"}}, []string{"_mutex", "mutex"}, false},
	{"page_size", both("8192", "16384"), []string{"_page_size", "page_size"}, true},
	{"query_only", switched, []string{"_query_only", "query_only"}, true},
	{"read_only", [2]value{{"ro", "1"}}, []string{"mode", "_mode"}, false},
	{"read_only", [2]value{{"1", "1"}}, []string{"_read_only", "_readonly", "read_only", "readonly"}, false},
	{"read_uncommitted", switched, []string{"_read_uncommitted"}, true},
	{"recursive_triggers", switched, []string{"_recursive_triggers", "_rt", "recursive_triggers"}, true},
	{"secure_delete", both("1", "0"), []string{"_secure_delete", "secure_delete"}, true},
	{"shared_cache", [2]value{{"shared", "1"}}, []string{"cache", "_cache"}, false},
	{"synchronous", [2]value{{"OFF", "0"}, {"FULL", "2"}}, []string{"_synchronous", "_sync", "synchronous", "sync"}, true},
	{"temp_store", [2]value{{"MEMORY", "2"}, {"FILE", "1"}}, []string{"_temp_store", "temp_store"}, true},
	{"threads", both("2", "1"), []string{"_threads"}, true},
	{"trusted_schema", both("0", "1"), []string{"_trusted_schema"}, true},
	{"wal_autocheckpoint", both("1234", "4321"), []string{"_wal_autocheckpoint", "wal_autocheckpoint"}, true},
	{"writable_schema", switched, []string{"_writable_schema"}, false},
}

// spellings are all that drivers are asked about.
var spellings = func() (all []Option) {
	for _, q := range questions {
		all = append(all, option([]string{InFile, InPath}, q.spelled(), q.setting, q.tried()...)...)
	}
	return all
}()

// spelled are all keys of a question in a DSN.
func (q question) spelled() []string {
	if !q.pragma {
		return q.keys
	}
	return append(slices.Clip(q.keys), "_pragma="+q.setting+"()", "_pragma="+q.setting+"=", "pragma="+q.setting+"()")
}

// Settings returns the settings that spellings are about, by name.
func Settings() []string {
	var all []string
	for _, q := range questions {
		all = append(all, q.setting)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// memoryDSNs are the ways in which people ask for a database in memory.
var memoryDSNs = []string{":memory:", "file::memory:", "file::memory:?cache=shared", ":memory:?cache=shared",
	"file:assay?mode=memory", "file:assay?mode=memory&cache=shared", "file:/assay?vfs=memdb"}
