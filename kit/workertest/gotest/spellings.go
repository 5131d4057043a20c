//go:build unix

package gotest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/kit/process"
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

// Spelling is a way to ask for a setting in a DSN.
type Spelling struct {
	DSN     string // {{path}} stands for the file
	Setting string
	Value   string            // as it reads back where it is effective
	Effects map[string]Effect // by driver; what is not listed is ignored
}

// all says that a spelling does the same with every driver.
func all(e Effect) map[string]Effect {
	return map[string]Effect{"mattn": e, "modernc": e, "glebarez": e, "ncruces": e}
}

// native is for keys of mattn that modernc takes over and glebarez ignores,
// pragma for what the two made of modernc's translation understand.
var (
	native  = map[string]Effect{"mattn": Applied, "modernc": Applied}
	own     = map[string]Effect{"mattn": Applied}
	pragma  = map[string]Effect{"modernc": Applied, "glebarez": Applied, "ncruces": Applied}
	sharing = map[string]Effect{"mattn": Applied, "modernc": Applied, "glebarez": Applied}
	refused = map[string]Effect{"modernc": Error, "glebarez": Error, "ncruces": Error}
	// ncruces has foreign_keys on unless told otherwise, and no mmap.
	keysNative  = map[string]Effect{"mattn": Applied, "modernc": Applied, "ncruces": Applied}
	pragmaNoMap = map[string]Effect{"modernc": Applied, "glebarez": Applied}
)

// spellings are those that people write, right and wrong.
var spellings = []Spelling{
	{"file:{{path}}?_journal_mode=WAL", "journal_mode", "wal", native},
	{"file:{{path}}?_journal=WAL", "journal_mode", "wal", native},
	{"file:{{path}}?_pragma=journal_mode(WAL)", "journal_mode", "wal", pragma},
	{"file:{{path}}?_pragma=journal_mode=WAL", "journal_mode", "wal", pragma},
	{"file:{{path}}?_pragma=journal_mode%3dWAL", "journal_mode", "wal", pragma},
	{"file:{{path}}?journal_mode=WAL", "journal_mode", "wal", nil},
	{"file:{{path}}?mode=ro", "read_only", "1", all(Applied)},
	{"{{path}}?mode=ro", "read_only", "1", nil},
	{"file:{{path}}?immutable=1", "immutable", "1", all(Applied)},
	{"file:{{path}}?_immutable=1", "immutable", "1", nil},
	{"{{path}}?immutable=1", "immutable", "1", nil},
	{"file:{{path}}?cache=shared", "shared_cache", "1", sharing},
	{"file:{{path}}?cache=shared&mode=ro", "shared_cache", "1", sharing},
	{"file:{{path}}?_cache=shared", "shared_cache", "1", nil},
	{"{{path}}?cache=shared", "shared_cache", "1", nil},
	{"file:{{path}}?mmap_size=268435456", "mmap_size", "268435456", nil},
	{"file:{{path}}?_mmap_size=268435456", "mmap_size", "268435456", nil},
	{"file:{{path}}?_pragma=mmap_size(268435456)", "mmap_size", "268435456", pragmaNoMap},
	{"file:{{path}}?_pragma=mmap_size(256MB)", "mmap_size", "268435456", refused},
	{"file:{{path}}?_synchronous=OFF", "synchronous", "0", native},
	{"file:{{path}}?_sync=OFF", "synchronous", "0", native},
	{"file:{{path}}?_pragma=synchronous(OFF)", "synchronous", "0", pragma},
	{"file:{{path}}?_synchronous=NOPE", "synchronous", "0", map[string]Effect{"mattn": Error, "modernc": Error}},
	{"file:{{path}}?_locking_mode=EXCLUSIVE", "locking_mode", "exclusive", own},
	{"file:{{path}}?_locking=EXCLUSIVE", "locking_mode", "exclusive", own},
	{"file:{{path}}?_pragma=locking_mode(EXCLUSIVE)", "locking_mode", "exclusive", pragma},
	{"file:{{path}}?_temp_store=MEMORY", "temp_store", "2", nil},
	{"file:{{path}}?_pragma=temp_store(MEMORY)", "temp_store", "2", pragma},
	{"file:{{path}}?_cache_size=10000", "cache_size", "10000", own},
	{"file:{{path}}?_pragma=cache_size(10000)", "cache_size", "10000", pragma},
	{"file:{{path}}?_mutex=no", "mutex", "no", own},
	{"file:{{path}}?nomutex=1", "mutex", "no", nil},
	{"file:{{path}}?mutex=no", "mutex", "no", nil},
	{"file:{{path}}?_busy_timeout=1234", "busy_timeout", "1234", native},
	{"file:{{path}}?_timeout=1234", "busy_timeout", "1234", native},
	{"file:{{path}}?_pragma=busy_timeout(1234)", "busy_timeout", "1234", pragma},
	{"file:{{path}}?_foreign_keys=1", "foreign_keys", "1", keysNative},
	{"file:{{path}}?_fk=1", "foreign_keys", "1", keysNative},
	{"file:{{path}}?_pragma=foreign_keys(1)", "foreign_keys", "1", pragma},
	{"file:{{path}}?_query_only=1", "query_only", "1", native},
	{"file:{{path}}?_pragma=query_only(1)", "query_only", "1", pragma},
	{"file:{{path}}?frob=1", "frob", "1", nil},
	{"file:{{path}}?_pragma=frob(1)", "frob", "1", nil},
	{"file:{{path}}?mode=ro+shared+nomutex", "read_only", "1", all(Error)},
	// WAL cannot be set on a connection that may not write.
	{"file:{{path}}?mode=ro&_journal_mode=WAL", "journal_mode", "wal", map[string]Effect{"mattn": Error, "modernc": Error}},
	{"file:{{path}}?mode=ro&_pragma=journal_mode(WAL)", "journal_mode", "wal", refused},
}

// Spellings checks what each spelling does with a driver, each as a subtest.
func Spellings(t *testing.T, program, driver string) {
	made := filepath.Join(t.TempDir(), "made.db")
	makeDatabase(t, program, made)
	for _, s := range spellings {
		t.Run(s.DSN, func(t *testing.T) {
			t.Parallel()
			want := Ignored
			if e, listed := s.Effects[driver]; listed {
				want = e
			} else if e, listed := direct[driver][s.DSN]; listed {
				want = e
			}
			if got, words := s.effect(t, program, made); got != want {
				t.Errorf("%s (%s), want %s", got, words, want)
			}
		})
	}
}

// effect opens a rollback-journal database with the DSN and reads the setting
// back.
func (s Spelling) effect(t *testing.T, program, made string) (Effect, string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "spelling-") // the test's own would have the DSN's characters in it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "data.db")
	copyFile(t, made, path)
	worker, err := process.Start(t.Context(), program, process.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Kill()
	request := wire.Open{Path: path, DSN: strings.ReplaceAll(s.DSN, "{{path}}", path), Readers: 2, Idle: 2}
	if err := worker.Call(t.Context(), wire.TypeOpen, request, nil); err != nil {
		return Error, err.Error()
	}
	var read wire.SettingsRead
	if err := worker.Call(t.Context(), wire.TypeSettings, wire.Settings{Names: []string{s.Setting}}, &read); err != nil {
		return Error, err.Error()
	}
	for _, c := range read.Connections {
		if c.Settings[s.Setting] != s.Value {
			return Ignored, s.Setting + " reads " + c.Settings[s.Setting]
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

// makeDatabase makes a database with a table, closed.
func makeDatabase(t *testing.T, program, path string) {
	t.Helper()
	worker, err := process.Start(t.Context(), program, process.Options{})
	if err != nil {
		t.Fatal(err)
	}
	request := wire.Open{Path: path, Readers: 1, Idle: 1, Once: []string{"CREATE TABLE t (n)"}}
	if err := worker.Call(t.Context(), wire.TypeOpen, request, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := worker.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
}
