//go:build unix

package gotest

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/kit/wire"
)

// Effect is what a spelling in a DSN does.
type Effect string

// The effects. What a driver does not know, it ignores without a word.
const (
	Applied Effect = "applied"
	Ignored Effect = "ignored"
	Error   Effect = "error"
)

// Effects say what spellings do, by DSN; what is not listed is ignored.
type Effects map[string]Effect

// spelling is a way to ask for a setting in a DSN.
type spelling struct {
	dsn     string // {{path}} stands for the file
	setting string
	value   string // as it reads back where it is effective
}

// spellings are those that people write, right and wrong.
var spellings = []spelling{
	{"file:{{path}}?_journal_mode=WAL", "journal_mode", "wal"},
	{"file:{{path}}?_journal=WAL", "journal_mode", "wal"},
	{"file:{{path}}?_pragma=journal_mode(WAL)", "journal_mode", "wal"},
	{"file:{{path}}?_pragma=journal_mode=WAL", "journal_mode", "wal"},
	{"file:{{path}}?_pragma=journal_mode%3dWAL", "journal_mode", "wal"},
	{"file:{{path}}?journal_mode=WAL", "journal_mode", "wal"},
	{"file:{{path}}?mode=ro", "read_only", "1"},
	{"{{path}}?mode=ro", "read_only", "1"},
	{"file:{{path}}?immutable=1", "immutable", "1"},
	{"file:{{path}}?_immutable=1", "immutable", "1"},
	{"{{path}}?immutable=1", "immutable", "1"},
	{"file:{{path}}?cache=shared", "shared_cache", "1"},
	{"file:{{path}}?cache=shared&mode=ro", "shared_cache", "1"},
	{"file:{{path}}?_cache=shared", "shared_cache", "1"},
	{"{{path}}?cache=shared", "shared_cache", "1"},
	{"file:{{path}}?mmap_size=268435456", "mmap_size", "268435456"},
	{"file:{{path}}?_mmap_size=268435456", "mmap_size", "268435456"},
	{"file:{{path}}?_pragma=mmap_size(268435456)", "mmap_size", "268435456"},
	{"file:{{path}}?_pragma=mmap_size(256MB)", "mmap_size", "268435456"},
	{"file:{{path}}?_synchronous=OFF", "synchronous", "0"},
	{"file:{{path}}?_sync=OFF", "synchronous", "0"},
	{"file:{{path}}?_pragma=synchronous(OFF)", "synchronous", "0"},
	{"file:{{path}}?_synchronous=NOPE", "synchronous", "0"},
	{"file:{{path}}?_locking_mode=EXCLUSIVE", "locking_mode", "exclusive"},
	{"file:{{path}}?_locking=EXCLUSIVE", "locking_mode", "exclusive"},
	{"file:{{path}}?_pragma=locking_mode(EXCLUSIVE)", "locking_mode", "exclusive"},
	{"file:{{path}}?_temp_store=MEMORY", "temp_store", "2"},
	{"file:{{path}}?_pragma=temp_store(MEMORY)", "temp_store", "2"},
	{"file:{{path}}?_cache_size=10000", "cache_size", "10000"},
	{"file:{{path}}?_pragma=cache_size(10000)", "cache_size", "10000"},
	{"file:{{path}}?_mutex=no", "mutex", "no"},
	{"file:{{path}}?nomutex=1", "mutex", "no"},
	{"file:{{path}}?mutex=no", "mutex", "no"},
	{"file:{{path}}?_busy_timeout=1234", "busy_timeout", "1234"},
	{"file:{{path}}?_timeout=1234", "busy_timeout", "1234"},
	{"file:{{path}}?_pragma=busy_timeout(1234)", "busy_timeout", "1234"},
	{"file:{{path}}?_foreign_keys=1", "foreign_keys", "1"},
	{"file:{{path}}?_fk=1", "foreign_keys", "1"},
	{"file:{{path}}?_pragma=foreign_keys(1)", "foreign_keys", "1"},
	{"file:{{path}}?_query_only=1", "query_only", "1"},
	{"file:{{path}}?_pragma=query_only(1)", "query_only", "1"},
	{"file:{{path}}?frob=1", "frob", "1"},
	{"file:{{path}}?_pragma=frob(1)", "frob", "1"},
	{"file:{{path}}?mode=ro+shared+nomutex", "read_only", "1"},
	{"file:{{path}}?mode=ro&_journal_mode=WAL", "journal_mode", "wal"},
	{"file:{{path}}?mode=ro&_pragma=journal_mode(WAL)", "journal_mode", "wal"},
}

// URI has what SQLite itself understands in the URI of a file.
var URI = Effects{
	"file:{{path}}?mode=ro":                Applied,
	"file:{{path}}?immutable=1":            Applied,
	"file:{{path}}?mode=ro+shared+nomutex": Error,
}

// SharedCache has what SQLite understands of a shared cache, where it is built
// with one.
var SharedCache = Effects{
	"file:{{path}}?cache=shared":         Applied,
	"file:{{path}}?cache=shared&mode=ro": Applied,
}

// Pragmas is for drivers that run each _pragma of the URI of a file.
var Pragmas = Effects{
	"file:{{path}}?_pragma=journal_mode(WAL)":       Applied,
	"file:{{path}}?_pragma=journal_mode=WAL":        Applied,
	"file:{{path}}?_pragma=journal_mode%3dWAL":      Applied,
	"file:{{path}}?_pragma=mmap_size(268435456)":    Applied,
	"file:{{path}}?_pragma=mmap_size(256MB)":        Error,
	"file:{{path}}?_pragma=synchronous(OFF)":        Applied,
	"file:{{path}}?_pragma=locking_mode(EXCLUSIVE)": Applied,
	"file:{{path}}?_pragma=temp_store(MEMORY)":      Applied,
	"file:{{path}}?_pragma=cache_size(10000)":       Applied,
	"file:{{path}}?_pragma=busy_timeout(1234)":      Applied,
	"file:{{path}}?_pragma=foreign_keys(1)":         Applied,
	"file:{{path}}?_pragma=query_only(1)":           Applied,
	// WAL cannot be set on a connection that may not write.
	"file:{{path}}?mode=ro&_pragma=journal_mode(WAL)": Error,
}

// Keys is for drivers that have a parameter of their own for each of the
// settings that are asked for most.
var Keys = Effects{
	"file:{{path}}?_journal_mode=WAL":         Applied,
	"file:{{path}}?_journal=WAL":              Applied,
	"file:{{path}}?_synchronous=OFF":          Applied,
	"file:{{path}}?_sync=OFF":                 Applied,
	"file:{{path}}?_synchronous=NOPE":         Error,
	"file:{{path}}?_busy_timeout=1234":        Applied,
	"file:{{path}}?_timeout=1234":             Applied,
	"file:{{path}}?_foreign_keys=1":           Applied,
	"file:{{path}}?_fk=1":                     Applied,
	"file:{{path}}?_query_only=1":             Applied,
	"file:{{path}}?mode=ro&_journal_mode=WAL": Error,
}

// Default is for drivers that have a setting by themselves: it is effective
// however it is spelled.
func Default(setting string) Effects {
	effects := Effects{}
	for _, s := range spellings {
		if s.setting == setting {
			effects[s.dsn] = Applied
		}
	}
	return effects
}

// Spellings checks what each spelling does with a driver, each as a subtest.
// Where several effects list the same DSN, the last one holds.
func Spellings(t *testing.T, program string, effects ...Effects) {
	listed := Effects{}
	for _, e := range effects {
		maps.Copy(listed, e)
	}
	made := filepath.Join(t.TempDir(), "made.db")
	call(t, program, wire.Open{Path: made, Readers: 1, Idle: 1, Once: []string{"CREATE TABLE t (n)"}}, nil)
	if _, err := os.Stat(made); err != nil {
		t.Fatal(err)
	}
	for _, s := range spellings {
		want, there := listed[s.dsn]
		if !there {
			want = Ignored
		}
		delete(listed, s.dsn)
		t.Run(s.dsn, func(t *testing.T) {
			t.Parallel()
			if got, words := s.effect(t, program, made); got != want {
				t.Errorf("%s (%s), want %s; where the driver is right, say so in the effects that this test is given", got, words, want)
			}
		})
	}
	for dsn := range listed {
		t.Errorf("effects have %s, which is no spelling that is tried", dsn)
	}
}

// effect opens a rollback-journal database with the DSN and reads the setting
// back.
func (s spelling) effect(t *testing.T, program, made string) (Effect, string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "spelling-") // the test's own would have the DSN's characters in it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "data.db")
	copyFile(t, made, path)
	worker := started(t, program)
	request := wire.Open{Path: path, DSN: strings.ReplaceAll(s.dsn, "{{path}}", path), Readers: 2, Idle: 2}
	if err := worker.Call(t.Context(), wire.TypeOpen, request, nil); err != nil {
		return Error, err.Error()
	}
	read, err := readBack(t, worker, s.setting)
	if err != nil {
		return Error, err.Error()
	}
	for _, value := range read {
		if value != s.value {
			return Ignored, s.setting + " reads " + value
		}
	}
	return Applied, ""
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
