package stepdb

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/kit/column"
	"assay/kit/column/columntest"
	worker "assay/kit/sql"
	"assay/kit/wire"
)

// errLocked is an error with SQLite's code for a locked database.
var errLocked = errors.New("database is locked")

// fake is a driver that writes down what is done with it.
type fake struct {
	log     []string
	quiet   bool             // nothing is written down
	answers map[string][]any // by SQL: the one row
	fails   map[string]error // by SQL: what its step ends with
	opened  []Source
}

func (f *fake) driver() Driver {
	return Driver{Name: "fake", StatementCache: "none", Open: f.open, Code: func(err error) int {
		if errors.Is(err, errLocked) {
			return codeBusy
		}
		return 0
	}}
}

func (f *fake) open(s Source) (Conn, error) {
	f.opened = append(f.opened, s)
	return &fakeConn{f, len(f.opened)}, nil
}

func (f *fake) note(format string, args ...any) {
	if !f.quiet {
		f.log = append(f.log, fmt.Sprintf(format, args...))
	}
}

// taken returns what was written down and forgets it.
func (f *fake) taken() []string {
	log := f.log
	f.log = nil
	return log
}

type fakeConn struct {
	f      *fake
	number int
}

func (c *fakeConn) Exec(sql string) error {
	c.f.note("%d exec %s", c.number, sql)
	return c.f.fails[sql]
}

func (c *fakeConn) Prepare(sql string) (Stmt, error) {
	c.f.note("%d prepare %s", c.number, sql)
	if strings.HasPrefix(sql, "SELEKT") {
		return nil, errors.New("syntax error")
	}
	return &fakeStmt{c, sql, false}, nil
}

func (c *fakeConn) Changes() int { return 1 }
func (c *fakeConn) Close() error { c.f.note("%d close", c.number); return nil }

type fakeStmt struct {
	c    *fakeConn
	sql  string
	done bool
}

func (s *fakeStmt) Bind(args *Args) error {
	if !s.c.f.quiet {
		s.c.f.note("%d bind %v", s.c.number, slices.Clone(args.Values()))
	}
	return nil
}

func (s *fakeStmt) Step() (bool, error) {
	s.done = !s.done
	if err := s.c.f.fails[s.sql]; err != nil {
		return false, err
	}
	return s.done && s.c.f.answers[s.sql] != nil, nil
}

func (s *fakeStmt) row() []any   { return s.c.f.answers[s.sql] }
func (s *fakeStmt) Columns() int { return len(s.row()) }

func (s *fakeStmt) Type(i int) Type {
	switch s.row()[i].(type) {
	case int64:
		return Integer
	case float64:
		return Float
	case string:
		return Text
	case []byte:
		return Blob
	}
	return Null
}

func (s *fakeStmt) Int(i int) (int64, error)             { return s.row()[i].(int64), nil }
func (s *fakeStmt) Real(i int) (float64, error)          { return s.row()[i].(float64), nil }
func (s *fakeStmt) Text(i int) (string, error)           { return fmt.Sprint(s.row()[i]), nil }
func (s *fakeStmt) Blob(i int, _ []byte) ([]byte, error) { return s.row()[i].([]byte), nil }
func (s *fakeStmt) Bool(i int) (bool, error)             { return s.row()[i].(bool), nil }

func (s *fakeStmt) Reset() error {
	s.done = false
	s.c.f.note("%d reset", s.c.number)
	return nil
}

func (s *fakeStmt) Close() error { s.c.f.note("%d finalize", s.c.number); return nil }

// database opens one and forgets how.
func (f *fake) database(t *testing.T, d Driver, request wire.Open) *database {
	t.Helper()
	request.Path = filepath.Join(t.TempDir(), "data.db")
	db, _, err := New(d).Open(request)
	must(t, err)
	f.log = nil
	return db.(*database)
}

type database = worker.Database[Conn]

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// traceOf is a trace of rows of keys.
func traceOf(t *testing.T, keys ...int64) *column.File {
	t.Helper()
	var rows [][]any
	for _, key := range keys {
		rows = append(rows, []any{key})
	}
	return columntest.Open(t, []column.Type{column.Int}, rows...)
}
