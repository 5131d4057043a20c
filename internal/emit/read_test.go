package emit_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/kit/sqlite"

	_ "modernc.org/sqlite"
)

// What a form sets is read back through the driver that it is for, on two
// connections that are open at once.
func TestReadBack(t *testing.T) {
	for _, ecosystem := range names {
		t.Run(ecosystem, func(t *testing.T) {
			t.Parallel()
			for _, p := range programs(t, ecosystem) {
				t.Run("with"+p.version, func(t *testing.T) {
					p.needed(t)
					for _, c := range checks {
						t.Run(c.profile, func(t *testing.T) { p.check(t, c) })
					}
					if strings.HasPrefix(ecosystem, "go-") {
						t.Run("pools", p.pools)
					}
				})
			}
		})
	}
}

// check is a profile with what its form must do, beside the settings that
// PRAGMAs show.
type check struct {
	profile string
	file    string            // SQL that makes the file; empty: the form does
	locked  bool              // another program holds the file locked meanwhile
	reads   map[string]string // instead of the profile's own settings
	steps   []step
	own     map[string]map[string]string // what ecosystems set by themselves
}

// step is SQL on one of the two connections, and the first value of its answer
// or the beginning of its error.
type step struct {
	connection int
	sql, want  string
}

const table = "CREATE TABLE t (x); INSERT INTO t VALUES (1)"

var checks = []check{
	{profile: "web"},
	{profile: "every", steps: []step{{0, "CREATE TABLE t (x)", "error: "}}},
	{profile: "rollback"},
	{profile: "read-only", file: table, steps: []step{
		{0, "SELECT count(*) FROM t", "1"}, {0, "INSERT INTO t VALUES (2)", "error: "}, {1, "INSERT INTO t VALUES (2)", "error: "},
	}},
	{profile: "immutable", file: table, locked: true, reads: map[string]string{"busy_timeout": "100"}, steps: []step{
		{0, "SELECT count(*) FROM t", "1"}, {1, "SELECT count(*) FROM t", "1"},
	}},
	{profile: "shared", file: table, steps: dirty("2")},
	{profile: "unshared", file: "PRAGMA journal_mode = wal;" + table, steps: dirty("1")},
	{profile: "store", reads: map[string]string{"journal_mode": "wal", "synchronous": "2", "cache_size": "-8192"}},
	{profile: "sql", steps: []step{{0, "SELECT x FROM note", `it's "#{1}" \`}, {1, "SELECT x FROM note", `it's "#{1}" \`}}},
	{profile: "nothing", own: map[string]map[string]string{
		"rails":             {"foreign_keys": "1"},
		"go-mattn":          {"busy_timeout": "5000", "foreign_keys": "0", "synchronous": "1"},
		"go-modernc":        {"busy_timeout": "0", "foreign_keys": "0", "journal_mode": "delete", "synchronous": "2"},
		"go-zombiezen":      {"busy_timeout": "0", "foreign_keys": "0", "journal_mode": "delete", "synchronous": "2"}, // a handler waits
		"go-glebarez":       {"busy_timeout": "5000", "foreign_keys": "0", "journal_mode": "delete", "synchronous": "2"},
		"go-ncruces":        {"busy_timeout": "60000", "foreign_keys": "1", "journal_mode": "delete", "synchronous": "2"},
		"go-ncruces-direct": {"busy_timeout": "0", "foreign_keys": "1", "journal_mode": "delete", "synchronous": "2"},
		"go-crawshaw":       {"busy_timeout": "10000", "foreign_keys": "0", "journal_mode": "delete", "synchronous": "2"},
		"go-eatonphil":      {"busy_timeout": "0", "foreign_keys": "0", "journal_mode": "delete", "synchronous": "2"},
		"python":            {"busy_timeout": "5000", "foreign_keys": "0", "journal_mode": "delete", "synchronous": "2"},
		"apsw":              {"busy_timeout": "0", "foreign_keys": "0", "journal_mode": "delete", "synchronous": "2"},
		"node-sqlite":       {"busy_timeout": "0", "foreign_keys": "1", "journal_mode": "delete", "synchronous": "2"},
		"sqlite3-node":      {"busy_timeout": "1000", "foreign_keys": "0", "journal_mode": "delete", "synchronous": "2"},
		"rusqlite":          {"busy_timeout": "5000", "foreign_keys": "1", "journal_mode": "delete", "synchronous": "2"},
		"node":              {"busy_timeout": "5000", "cache_size": "-16000", "foreign_keys": "1"},
		"django":            {"busy_timeout": "5000", "foreign_keys": "1", "journal_mode": "delete", "synchronous": "2"},
		"sqlalchemy":        {"busy_timeout": "5000", "foreign_keys": "0", "journal_mode": "delete", "synchronous": "2"},
	}},
	{profile: "raw", file: "PRAGMA journal_mode = wal;" + table, steps: []step{{1, "INSERT INTO t VALUES (2)", "error: "}}},
}

// dirty reads what another connection has not committed, which a shared cache
// alone allows.
func dirty(want string) []step {
	return []step{
		{1, "PRAGMA read_uncommitted = 1", ""}, {0, "BEGIN IMMEDIATE", ""}, {0, "INSERT INTO t VALUES (2)", ""},
		{1, "SELECT count(*) FROM t", want}, {0, "ROLLBACK", ""}, {1, "SELECT count(*) FROM t", "1"},
	}
}

// all are the steps that read every setting on both connections, and then
// those of the check.
func (c check) all(ecosystem string) []step {
	reads := c.reads
	if c.own != nil {
		reads = c.own[ecosystem]
	} else if reads == nil {
		reads = map[string]string{}
		s := profiles[c.profile]
		for _, part := range []map[string]string{s.File, s.Profile.Settings, s.Profile.Requests} {
			maps.Copy(reads, part)
		}
	}
	var steps []step
	for connection := range 2 {
		for _, name := range slices.Sorted(maps.Keys(reads)) {
			if setting, _ := sqlite.Lookup(name); setting.Pragma {
				steps = append(steps, step{connection, "PRAGMA " + name, reads[name]})
			}
		}
	}
	return append(steps, c.steps...)
}

func (p program) check(t *testing.T, c check) {
	form, err := ecosystems.For(p.ecosystem, named(c.profile))
	must(t, err)
	if len(form.Unset) > 0 {
		t.Skipf("not all of it can be set: %s", strings.Join(form.Unset, "; "))
	}
	dir := t.TempDir()
	if c.file != "" {
		other := openFile(t, dir, c.file)
		if c.locked {
			execute(t, other, "BEGIN EXCLUSIVE")
		}
	}
	steps := c.all(p.ecosystem)
	answers := p.answers(t, dir, c.profile, form, steps)
	for i, s := range steps {
		if got := answers[i]; got != s.want && (s.want != "error: " || !strings.HasPrefix(got, s.want)) {
			t.Errorf("connection %d: %s: got %q, want %q", s.connection, s.sql, got, s.want)
		}
	}
}

// openFile makes the database file and returns a connection to it.
func openFile(t *testing.T, dir, text string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "app.db"))
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(context.Background())
	must(t, err)
	execute(t, conn, text)
	return conn
}

func execute(t *testing.T, conn *sql.Conn, text string) {
	t.Helper()
	if _, err := conn.ExecContext(context.Background(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// A setting that SQLite has by itself would be read back though no form set it.
func TestEverySettingIsNoDefault(t *testing.T) {
	for _, p := range programs(t, "python") {
		p.needed(t)
		steps := check{profile: "every"}.all("python")
		form, err := ecosystems.For("python", named("nothing"))
		must(t, err)
		for i, got := range p.answers(t, t.TempDir(), "nothing", form, steps) {
			s := steps[i]
			if got == s.want && s.sql != "PRAGMA locking_mode" && s.sql != "PRAGMA foreign_keys" {
				t.Errorf("%s is %s anyway: give profile every another value", s.sql, got)
			}
		}
	}
}

// input writes steps as the programs read them.
func input(steps []step) string {
	var lines strings.Builder
	for _, s := range steps {
		fmt.Fprintln(&lines, s.connection, s.sql)
	}
	return lines.String()
}
