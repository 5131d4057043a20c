package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"assay"

	"github.com/google/go-cmp/cmp"
)

// open opens a store that is closed at the end of the test.
func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// fresh is a new store: on a server in the subtests of TestPostgres, in a file in
// all others.
func fresh(t testing.TB) *Store {
	t.Helper()
	if strings.HasPrefix(t.Name(), "TestPostgres/") {
		return open(t, database(t, admin, true))
	}
	return open(t, filepath.Join(t.TempDir(), "new", "folder", "results.db"))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start is a run of that ID, begun so many minutes after a fixed time.
func start(id, plan string, minute int) assay.Run {
	return assay.Run{ID: id, Plan: plan, Status: assay.Running,
		Started: time.Date(2026, 11, 20, 15, minute, 0, 0, time.UTC)}
}

func TestDefault(t *testing.T) {
	t.Setenv("HOME", "/home/someone")
	for _, test := range []struct{ xdg, want string }{
		{"/data", "/data/assay/assay.db"},
		{"", "/home/someone/.local/share/assay/assay.db"},
		{"not/absolute", "/home/someone/.local/share/assay/assay.db"},
	} {
		t.Setenv("XDG_DATA_HOME", test.xdg)
		got, err := Default()
		if err != nil || filepath.ToSlash(got) != test.want {
			t.Errorf("XDG_DATA_HOME=%q: got %q, %v; want %q", test.xdg, got, err, test.want)
		}
	}
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("HOME", "")
	if got, err := Default(); err == nil {
		t.Errorf("without a home: got %q, want an error", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	folder := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(folder, name)
		must(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	foreign := filepath.Join(folder, "foreign.db")
	execute(t, foreign, "CREATE TABLE customer (id INTEGER)")
	newer := filepath.Join(folder, "newer.db")
	must(t, open(t, newer).Close())
	execute(t, newer, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)")

	for _, test := range []struct {
		name, location string
		want           []string
	}{
		{"another server", "mysql://user:secret@host/db", []string{"begins with postgres://"}},
		{"empty", "", []string{"the file name is empty"}},
		{"folder", folder, []string{folder + " is not a file", "assay.db"}},
		{"device", os.DevNull, []string{os.DevNull + " is a device", "name an existing file"}},
		{"text", write("text.db", strings.Repeat("no database at all\n", 100)), []string{"text.db", "not an SQLite database"}},
		{"foreign", foreign, []string{"foreign.db", "the database of another program"}},
		{"newer", newer, []string{"newer.db", "newer version of assay", "schema 99", "update assay"}},
		{"below a file", filepath.Join(write("file", ""), "assay.db"), []string{"not a directory"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := Open(t.Context(), test.location)
			if err == nil {
				s.Close()
				t.Fatal("opened")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("error %q shows the password", err)
			}
		})
	}
	if got := count(t, foreign, "SELECT count(*) FROM sqlite_schema"); got != 1 {
		t.Errorf("the database of another program has %d tables, had 1", got)
	}
	if got := count(t, foreign, "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'delete'"); got != 1 {
		t.Error("the journal mode of another program's database was changed")
	}
}

func TestOpenWithoutPermission(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("permissions do not bind root")
	}
	for _, test := range []struct{ name, file, want string }{
		{"new file", "new.db", "cannot be opened for writing"},
		{"file that is there", "there.db", "cannot be"},
		{"new folder", "folder/new.db", "permission denied"},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			must(t, open(t, filepath.Join(folder, "there.db")).Close())
			must(t, os.Chmod(filepath.Join(folder, "there.db"), 0o400))
			must(t, os.Chmod(folder, 0o500))
			defer os.Chmod(folder, 0o700)
			_, err := Open(t.Context(), filepath.Join(folder, test.file))
			if !IsWrongLocation(err) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), folder) {
				t.Errorf("got error %v, want one of a wrong location, with %q and the path", err, test.want)
			}
		})
	}
}

func TestOpenHostileNames(t *testing.T) {
	for _, name := range []string{"a b.db", "a?b#c%41&d=e.db", "ünï.db", "file:x.db"} {
		path := filepath.Join(t.TempDir(), name)
		must(t, open(t, path).Close())
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestOpenIsSilentAndKeepsResults(t *testing.T) {
	var output bytes.Buffer
	log.SetOutput(&output)
	defer log.SetOutput(os.Stderr)
	path := filepath.Join(t.TempDir(), "a.db")
	s := open(t, path)
	must(t, s.Begin(t.Context(), start("one", "quick", 0)))
	must(t, s.Close())
	if _, err := open(t, path).Run(t.Context(), "one"); err != nil {
		t.Error(err)
	}
	if output.Len() != 0 {
		t.Errorf("logged %q", &output)
	}
}

// Many open a new file at once: one makes the tables, all can write.
func TestOpenTogether(t *testing.T) {
	openTogether(t, filepath.Join(t.TempDir(), "a.db"), 8)
}

// openTogether has so many open one store at once, and each begin a run.
func openTogether(t *testing.T, path string, many int) {
	t.Helper()
	var group sync.WaitGroup
	for i := range many {
		group.Go(func() {
			s, err := Open(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if err := s.Begin(t.Context(), start(string(rune('a'+i)), "quick", i)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	runs, err := open(t, path).Runs(t.Context())
	if err != nil || len(runs) != many {
		t.Errorf("got %d runs, %v; want %d", len(runs), err, many)
	}
}

func TestConnectionSettings(t *testing.T) {
	s := fresh(t)
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "10000",
	} {
		var got string
		must(t, s.db.QueryRow("PRAGMA "+pragma).Scan(&got))
		if got != want {
			t.Errorf("%s is %s, want %s", pragma, got, want)
		}
	}
}

// helperVariable makes the test binary a process that appends and then dies.
const helperVariable = "ASSAY_TEST_STORE"

func TestMain(m *testing.M) {
	if path := os.Getenv(helperVariable); path != "" {
		appendAndDie(path)
	}
	status := m.Run()
	stopPrivate()
	os.Exit(status)
}

// appendAndDie is killed right after Append: nothing is closed or flushed.
func appendAndDie(path string) {
	s, err := Open(context.Background(), path)
	if err == nil {
		err = errors.Join(s.Begin(context.Background(), start("killed", "quick", 1)),
			s.Append(context.Background(), "killed", assay.Trial{Launch: 7}))
	}
	if err != nil {
		log.Fatal(err)
	}
	self, _ := os.FindProcess(os.Getpid())
	self.Kill()
	select {}
}

// A trial is seen by another handle at once, and outlives a killed process.
func TestAppendIsDurable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	first := open(t, path)
	must(t, first.Begin(t.Context(), start("run", "quick", 0)))
	must(t, first.Append(t.Context(), "run", assay.Trial{Launch: 6}))

	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), helperVariable+"="+path)
	output, err := command.CombinedOutput()
	if err == nil || len(output) > 0 {
		t.Fatalf("the process was to be killed, ended with %v: %s", err, output)
	}
	for id, want := range map[string][]assay.Trial{"run": {{Launch: 6}}, "killed": {{Launch: 7}}} {
		if diff := cmp.Diff(want, trials(t, open(t, path), id), sameTime); diff != "" {
			t.Errorf("run %s: (-want +got)\n%s", id, diff)
		}
	}
	// A run whose process was killed can be claimed.
	must(t, first.Claim(t.Context(), "killed"))
	must(t, first.Append(t.Context(), "killed", assay.Trial{Launch: 8}))
}

// Half a trial is never kept.
func TestAppendIsAtomic(t *testing.T) {
	s := fresh(t)
	must(t, s.Begin(t.Context(), start("run", "quick", 0)))
	err := s.Append(t.Context(), "run", assay.Trial{Figures: map[string]float64{"a": 1, "p50": math.NaN()}})
	if err == nil || !strings.Contains(err.Error(), "p50 is not a number") {
		t.Errorf("got error %v, want one about p50", err)
	}
	if got := trials(t, s, "run"); got != nil {
		t.Errorf("got %+v, want no trial", got)
	}
	if err := s.Append(t.Context(), "other", assay.Trial{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown run: got %v, want ErrNotFound", err)
	}
}

func trials(t testing.TB, s *Store, runID string) (all []assay.Trial) {
	t.Helper()
	for trial, err := range s.Trials(t.Context(), runID) {
		must(t, err)
		all = append(all, trial)
	}
	return all
}

// execute runs SQL on a file without this package.
func execute(t testing.TB, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	_, err = db.Exec(query)
	must(t, err)
}

// count runs SQL that answers one number on a file without this package.
func count(t testing.TB, path, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	must(t, db.QueryRow(query).Scan(&n))
	return n
}
