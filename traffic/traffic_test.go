package traffic_test

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/traffic"

	"modernc.org/sqlite"
)

type line map[string]any

// linesOf does something with a recorded database and returns the log's lines.
func linesOf(t *testing.T, max int64, do func(db *sql.DB)) (lines []line, text string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "app.ndjson")
	r, err := traffic.Open(path, max)
	noError(t, err)
	db := sql.OpenDB(dsn{r.Driver(&sqlite.Driver{}), filepath.Join(dir, "app.db")})
	do(db)
	if err = errors.Join(err, db.Close(), r.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v and error %v, want 0600", info.Mode(), err)
	}
	data, err := os.ReadFile(path)
	noError(t, err)
	scanner := bufio.NewScanner(strings.NewReader(string(data)))
	for scanner.Scan() {
		var l line
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			t.Fatalf("%v in %s", err, scanner.Text())
		}
		lines = append(lines, l)
	}
	return lines, string(data)
}

// dsn opens a driver by name, as database/sql does with one that has no connector.
type dsn struct {
	d    driver.Driver
	name string
}

func (c dsn) Connect(context.Context) (driver.Conn, error) { return c.d.Open(c.name) }
func (c dsn) Driver() driver.Driver                        { return c.d }

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestRecord(t *testing.T) {
	lines, _ := linesOf(t, 1<<20, func(db *sql.DB) {
		db.SetMaxOpenConns(1)
		exec := must[sql.Result](t)
		exec(db.Exec("CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT)"))
		tx := must[*sql.Tx](t)(db.Begin())
		insert := must[*sql.Stmt](t)(tx.Prepare("INSERT INTO person (name) VALUES (?)"))
		exec(insert.Exec("Secret Person"))
		exec(insert.Exec("Secret Person"))
		noError(t, tx.Commit())
		exec(db.Exec("BEGIN IMMEDIATE"))
		exec(db.Exec("UPDATE person SET name = 'Hidden Name' WHERE id = 2 -- 4711"))
		exec(db.Exec("ROLLBACK"))
		rows := must[*sql.Rows](t)(db.Query("SELECT name FROM person WHERE id >= ? AND \"name\" <> \"odd text\"", 1))
		for rows.Next() {
		}
		_ = rows.Close()
		if _, err := db.Exec("INSERT INTO person VALUES (1, NULL)"); err == nil {
			t.Error("the same key was inserted twice")
		}
	})
	var got []string
	var args []any
	for _, l := range lines[1:] {
		switch {
		case l["id"] != nil:
			got = append(got, l["sql"].(string))
		case l["s"] != nil:
			word := l["s"].(string)
			if word[0] <= '9' {
				word = "statement"
			}
			if l["err"] != nil {
				word += " " + l["err"].(string)
			}
			got = append(got, word)
			if l["args"] != nil {
				args = append(args, l["args"])
			}
		}
	}
	want := []string{"CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT)", "statement", "begin",
		"INSERT INTO person (name) VALUES (?)", "statement", "statement", "commit", "begin",
		"UPDATE person SET name = 'Hidden Name' WHERE id = 2", "statement", "rollback",
		`SELECT name FROM person WHERE id >= ? AND "name" <> "odd text"`, "statement",
		"INSERT INTO person VALUES (1, NULL)", "statement constraint"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if want := []any{[]any{"Secret Person"}, []any{"Secret Person"}, []any{1.0}}; !reflect.DeepEqual(args, want) {
		t.Errorf("got arguments %v, want %v", args, want)
	}
	if last := lines[len(lines)-1]; last["dropped"] != 0.0 {
		t.Errorf("the last line is %v, want none dropped", last)
	}
}

func TestSizeIsBounded(t *testing.T) {
	const most = 4000
	lines, text := linesOf(t, most, func(db *sql.DB) {
		for range 500 {
			_, _ = db.Exec("SELECT 1")
		}
	})
	dropped := lines[len(lines)-1]["dropped"].(float64)
	if statements := float64(len(lines) - 3); len(text) > most+32 || dropped+statements != 500 {
		t.Errorf("got %d bytes with %.0f statements and %.0f dropped, want at most %d bytes and 500 in all", len(text), statements, dropped, most)
	}
}

func TestOpenTakesNoFileThatIsThere(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	noError(t, os.Symlink(target, link))
	if _, err := traffic.Open(link, 1000); err == nil {
		t.Error("it wrote through a link")
	}
	noError(t, os.WriteFile(target, []byte("mine"), 0o600))
	if _, err := traffic.Open(target, 1000); err == nil {
		t.Error("it wrote over a file")
	}
}

func TestConcurrently(t *testing.T) {
	lines, _ := linesOf(t, 1<<20, func(db *sql.DB) {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 50 {
					_, _ = db.Exec("SELECT ?", 1)
				}
			})
		}
		all.Wait()
	})
	if n := len(lines) - 3; n != 400 {
		t.Errorf("got %d statements, want 400", n)
	}
}

// An old driver has none of the optional interfaces.
type oldDriver struct{}

func (oldDriver) Open(string) (driver.Conn, error) { return oldConn{}, nil }

type oldConn struct{}

func (oldConn) Prepare(string) (driver.Stmt, error) { return oldStmt{}, nil }
func (oldConn) Close() error                        { return nil }
func (oldConn) Begin() (driver.Tx, error)           { return oldConn{}, nil }
func (oldConn) Commit() error                       { return nil }
func (oldConn) Rollback() error                     { return nil }

type oldStmt struct{}

func (oldStmt) Close() error                                { return nil }
func (oldStmt) NumInput() int                               { return 1 }
func (oldStmt) Exec([]driver.Value) (driver.Result, error)  { return driver.RowsAffected(3), nil }
func (oldStmt) Query(a []driver.Value) (driver.Rows, error) { return &oldRows{value: a[0]}, nil }

type oldRows struct {
	value driver.Value
	done  bool
}

func (r *oldRows) Columns() []string { return []string{"a"} }
func (r *oldRows) Close() error      { return nil }
func (r *oldRows) Next(into []driver.Value) error {
	if r.done {
		return io.EOF
	}
	r.done, into[0] = true, r.value
	return nil
}

func TestOldDriver(t *testing.T) {
	r, err := traffic.Open(filepath.Join(t.TempDir(), "log"), 1<<20)
	noError(t, err)
	db := sql.OpenDB(dsn{r.Driver(oldDriver{}), ""})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		t.Error(err)
	}
	result, err := db.Exec("UPDATE t SET a = ?", 5)
	if n, _ := result.RowsAffected(); err != nil || n != 3 {
		t.Errorf("got %d rows and error %v, want 3", n, err)
	}
	var got int
	if err := db.QueryRow("SELECT ?", 7).Scan(&got); err != nil || got != 7 {
		t.Errorf("got %d and error %v, want 7", got, err)
	}
	if _, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); err == nil {
		t.Error("an old driver began a read-only transaction")
	}
	if err := errors.Join(db.Close(), r.Close()); err != nil {
		t.Error(err)
	}
}

// A text of several statements is no BEGIN, and after a rollback that fails there is
// no transaction. One that is asked as a query is one, however long its comments are.
func TestTransactionsInText(t *testing.T) {
	lines, _ := linesOf(t, 1<<20, func(db *sql.DB) {
		db.SetMaxOpenConns(1)
		exec := must[sql.Result](t)
		exec(db.Exec("CREATE TABLE person (id INTEGER PRIMARY KEY)"))
		exec(db.Exec("BEGIN; INSERT INTO person VALUES (1); COMMIT"))
		exec(db.Exec("BEGIN"))
		if _, err := db.Exec("INSERT OR ROLLBACK INTO person VALUES (1)"); err == nil {
			t.Error("the same key was inserted twice")
		}
		if _, err := db.Exec("ROLLBACK"); err == nil {
			t.Error("a transaction was rolled back twice")
		}
		exec(db.Exec("DELETE FROM person"))
		long := strings.Repeat("of a request; ", 20)
		must[*sql.Rows](t)(db.Query("BEGIN IMMEDIATE -- " + long)).Close()
		exec(db.Exec("/* " + long + "*/ COMMIT"))
	})
	var got []string
	for _, l := range lines {
		if s, ok := l["s"].(string); ok {
			got = append(got, fmt.Sprint(map[bool]string{true: "statement", false: s}[s[0] <= '9'], " ", l["tx"]))
		}
	}
	if want := []string{"statement 0", "statement 0", "begin 1", "statement 1", "rollback 1", "statement 0", "begin 2", "commit 2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestKeysAreNotKept(t *testing.T) {
	for query, want := range map[string]string{
		`PRAGMA key = "hunter2"`:                         "PRAGMA",
		"/* c */ pragma key=hunter2;":                    "pragma",
		"\ufeffPRAGMA key = hunter2":                     "PRAGMA",
		"SELECT 1; PRAGMA key = hunter2; SELECT 'a'":     "SELECT 1; PRAGMA; SELECT 'a'",
		"ATTACH 'a.db' AS b KEY hunter2":                 "ATTACH",
		`EXPLAIN QUERY PLAN ATTACH ? AS b KEY "hunter2"`: "EXPLAIN QUERY PLAN ATTACH",
		"PRAGMA key = 'hunter2; x'":                      "PRAGMA",
		"SELECT pragma, attach FROM t WHERE a = 'x'":     "SELECT pragma, attach FROM t WHERE a = 'x'",
	} {
		if got, _ := traffic.Clean(query); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}

// Arguments are recorded as they were when the query was asked.
func TestArgumentsOfTheCall(t *testing.T) {
	lines, _ := linesOf(t, 1<<20, func(db *sql.DB) {
		value := []byte("first")
		rows := must[*sql.Rows](t)(db.Query("SELECT ?", value))
		copy(value, "other")
		_ = rows.Close()
		must[sql.Result](t)(db.Exec("SELECT ?", []byte("first")))
	})
	if asked, want := lines[2]["args"], lines[3]["args"]; !reflect.DeepEqual(asked, want) {
		t.Errorf("got %v, want %v, the value when it was asked", asked, want)
	}
}

type convertingDriver struct{}

func (convertingDriver) Open(string) (driver.Conn, error) { return convertingConn{}, nil }

type convertingConn struct{ oldConn }

func (convertingConn) Prepare(string) (driver.Stmt, error) { return convertingStmt{}, nil }

type convertingStmt struct{ oldStmt }

func (convertingStmt) ColumnConverter(int) driver.ValueConverter { return driver.Bool }

// A statement converts by column only where the driver's own does.
func TestColumnConverter(t *testing.T) {
	r, err := traffic.Open(filepath.Join(t.TempDir(), "log"), 1<<20)
	noError(t, err)
	for want, d := range map[bool]driver.Driver{false: &sqlite.Driver{}, true: convertingDriver{}} {
		c := must[driver.Conn](t)(r.Driver(d).Open(filepath.Join(t.TempDir(), "app.db")))
		s := must[driver.Stmt](t)(c.Prepare("SELECT ?"))
		converter, got := s.(driver.ColumnConverter) //lint:ignore SA1019 older drivers have it
		if got != want || got && converter.ColumnConverter(0) != driver.ValueConverter(driver.Bool) {
			t.Errorf("%T: got a converter %v, want %v", d, got, want)
		}
		if err := errors.Join(s.Close(), c.Close()); err != nil {
			t.Error(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// Named arguments are recorded with their names, long values by their length, and rows that
// are still read at the end count as dropped.
func TestNamedLongAndUnread(t *testing.T) {
	long := strings.Repeat("x", 1<<20+1)
	lines, _ := linesOf(t, 1<<20, func(db *sql.DB) {
		exec := must[sql.Result](t)
		exec(db.Exec("SELECT :b, :a, :b", sql.Named("a", 7), sql.Named("b", long)))
		exec(db.Exec("SELECT ?, ?", long, []byte(long)))
	})
	text, blob := map[string]any{"text": 1<<20 + 1.0}, map[string]any{"blob": 1<<20 + 1.0}
	if got, want := lines[2]["named"], any(map[string]any{"a": 7.0, "b": text}); !reflect.DeepEqual(got, want) {
		t.Errorf("got arguments %v, want %v", got, want)
	}
	if got, want := lines[4]["args"], any([]any{text, blob}); !reflect.DeepEqual(got, want) {
		t.Errorf("got arguments %v, want %v", got, want)
	}
	path := filepath.Join(t.TempDir(), "log")
	r := must[*traffic.Recorder](t)(traffic.Open(path, 1<<20))
	db := sql.OpenDB(dsn{r.Driver(&sqlite.Driver{}), ":memory:"})
	rows := must[*sql.Rows](t)(db.Query("SELECT 1"))
	noError(t, errors.Join(r.Close(), rows.Close(), db.Close()))
	if got := string(must[[]byte](t)(os.ReadFile(path))); !strings.HasSuffix(got, "{\"dropped\":1}\n") {
		t.Errorf("got %s, want one dropped", got)
	}
}

// A savepoint outside of a transaction begins it.
func TestSavepoints(t *testing.T) {
	lines, _ := linesOf(t, 1<<20, func(db *sql.DB) {
		db.SetMaxOpenConns(1)
		for _, text := range []string{"SAVEPOINT a", "SAVEPOINT b", "ROLLBACK TO SAVEPOINT b", "RELEASE b", "RELEASE SAVEPOINT a", "BEGIN", "SAVEPOINT a", "RELEASE a", "COMMIT", "SAVEPOINT c", "ROLLBACK"} {
			must[sql.Result](t)(db.Exec(text))
		}
	})
	var got []string
	for _, l := range lines[1 : len(lines)-1] {
		got = append(got, fmt.Sprint(l["s"], l["tx"]))
	}
	want := []string{"begin1", "savepoint1", "rollback to1", "release1", "commit1", "begin2", "savepoint2", "release2", "commit2", "begin3", "rollback3"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
