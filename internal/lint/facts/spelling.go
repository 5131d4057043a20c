package facts

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"assay/kit/sqlite"
)

// Spelling is one way to write a setting in a DSN, without its value.
type Spelling struct {
	URI     bool   // the DSN begins with file:
	Key     string // _busy_timeout, or _pragma
	Pragma  string // the PRAGMA's name, where the key takes one
	Equals  bool   // _pragma=NAME=VALUE instead of _pragma=NAME(VALUE)
	Setting string // that it means
}

// String is the spelling as facts list it: file:?_pragma=busy_timeout().
func (s Spelling) String() string {
	text := "?" + s.Key
	if s.URI {
		text = "file:" + text
	}
	switch {
	case s.Pragma == "":
		return text
	case s.Equals:
		return text + "=" + s.Pragma + "="
	}
	return text + "=" + s.Pragma + "()"
}

// With is the parameter as it stands in a DSN.
func (s Spelling) With(value string) string {
	switch {
	case s.Pragma == "":
		return s.Key + "=" + value
	case s.Equals:
		return s.Key + "=" + s.Pragma + "=" + value
	}
	return s.Key + "=" + s.Pragma + "(" + value + ")"
}

// Reads is a value as it reads back where it takes effect; false where the setting
// is not known to take it. It knows no units: 5s is a time for plans only.
func (s Spelling) Reads(value string) (string, bool) {
	value = strings.Trim(value, `'"`)
	if read, known := opening[s.Setting][value]; known && s.Key != s.Setting {
		return read, true
	}
	read, err := sqlite.Normal(s.Setting, value)
	if _, noNumber := strconv.Atoi(value); s.Setting == "busy_timeout" && noNumber != nil {
		return "", false
	}
	return read, err == nil
}

// opening are the words for how a file is opened, and what they read back as.
var opening = map[string]map[string]string{
	"read_only":    {"ro": "1", "rw": "0", "rwc": "0", "memory": "0"},
	"shared_cache": {"shared": "1", "private": "0"},
}

// Option is the spelling as one of the options of facts, with the values to try.
func (s Spelling) Option() Option {
	o := Option{Key: s.String(), Meaning: s.Setting, Observed: s.Setting}
	for _, q := range questions {
		if q.setting == s.Setting && slices.Contains(q.keys, s.Key) || s.Pragma == q.setting {
			o.Values = q.tried()
			break
		}
	}
	return o
}

// Parse reads one parameter of a DSN. The second result is its value; the third
// is false where no driver was ever asked about such a parameter.
func Parse(uri bool, parameter string) (Spelling, string, bool) {
	key, value, _ := strings.Cut(parameter, "=")
	s := Spelling{URI: uri, Key: key}
	if plain, err := url.QueryUnescape(value); err == nil {
		value = plain
	}
	if isPragmaKey(key) {
		s.Pragma, value, s.Equals = parsePragma(value)
	}
	for _, tried := range Spellings() {
		if tried.Key == s.Key && strings.EqualFold(tried.Pragma, s.Pragma) && tried.URI == uri && tried.Equals == s.Equals {
			return tried, value, true
		}
	}
	return s, value, false
}

// parsePragma takes NAME(VALUE) or NAME=VALUE apart.
func parsePragma(text string) (name, value string, equals bool) {
	if i := strings.IndexAny(text, "(="); i >= 0 {
		name, value, equals = text[:i], strings.TrimSuffix(text[i+1:], ")"), text[i] == '='
		return strings.TrimSpace(name), strings.TrimSpace(value), equals
	}
	return strings.TrimSpace(text), "", false
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

// Spellings returns all that drivers are asked about.
func Spellings() []Spelling {
	var all []Spelling
	for _, q := range questions {
		all = append(all, q.spellings()...)
	}
	return all
}

func (q question) spellings() []Spelling {
	var all []Spelling
	for _, uri := range []bool{true, false} {
		for _, key := range q.keys {
			all = append(all, Spelling{URI: uri, Key: key, Setting: q.setting})
		}
		if q.pragma {
			all = append(all,
				Spelling{URI: uri, Key: "_pragma", Pragma: q.setting, Setting: q.setting},
				Spelling{URI: uri, Key: "_pragma", Pragma: q.setting, Equals: true, Setting: q.setting},
				Spelling{URI: uri, Key: "pragma", Pragma: q.setting, Setting: q.setting})
		}
	}
	return all
}

// Settings are those that spellings are about, by name.
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
