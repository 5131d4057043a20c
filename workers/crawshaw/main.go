// Worker crawshaw drives SQLite through crawshaw.io/sqlite: the C library, by
// cgo, with an API of its own.
package main

import (
	"context"
	"errors"
	"os"

	"assay/kit/stepdb"

	"crawshaw.io/sqlite"
	"crawshaw.io/sqlite/sqlitex"
)

func main() {
	os.Exit(stepdb.Main(stepdb.Driver{
		Name:           "crawshaw",
		Module:         "crawshaw.io/sqlite",
		Cgo:            true,
		StatementCache: "per connection, by SQL text",
		Open:           open,
		Pool:           openPool,
		Code:           code,
		Mutex:          mutex,
		Memory:         "file:assay?mode=memory&cache=shared", // its SQLite has no memdb that is shared
	}))
}

// flags are the driver's own, WAL among them, where nothing was asked for.
func flags(s stepdb.Source) sqlite.OpenFlags {
	const stated = sqlite.SQLITE_OPEN_READWRITE | sqlite.SQLITE_OPEN_CREATE | sqlite.SQLITE_OPEN_URI
	switch {
	case s.Unasked:
		return 0
	case s.Mutex == "full":
		return stated | sqlite.SQLITE_OPEN_FULLMUTEX
	}
	return stated | sqlite.SQLITE_OPEN_NOMUTEX
}

func open(s stepdb.Source) (stepdb.Conn, error) {
	c, err := sqlite.OpenConn(s.URI, flags(s))
	return conn{c}, err
}

// code finds the result code; the driver's own function does not look into
// wrapped errors.
func code(err error) int {
	var failure sqlite.Error
	errors.As(err, &failure)
	return int(failure.Code)
}

// pool is used as the package's documentation does in a handler.
type pool struct{ *sqlitex.Pool }

func openPool(s stepdb.Source, n int) (stepdb.Pool, error) {
	p, err := sqlitex.Open(s.URI, flags(s), n)
	return pool{p}, err
}

func (p pool) Take() (stepdb.Conn, error) {
	c := p.Get(context.Background())
	if c == nil {
		return nil, errors.New("the pool is closed")
	}
	return conn{c}, nil
}

func (p pool) Put(c stepdb.Conn) { p.Pool.Put(c.(conn).Conn) }

type conn struct{ *sqlite.Conn }

const handle = "conn" // the field of the driver that has SQLite's handle

func (c conn) Exec(sql string) error { return sqlitex.ExecTransient(c.Conn, sql, nil) }

func (c conn) ExecScript(sql string) error { return sqlitex.ExecScript(c.Conn, sql) }

func (c conn) Prepare(sql string) (stepdb.Stmt, error) {
	s, trailing, err := c.PrepareTransient(sql)
	if err != nil {
		return nil, err
	}
	if trailing > 0 {
		return nil, errors.Join(errors.New("more than one statement"), s.Finalize())
	}
	return stmt{s}, nil
}

func (c conn) Cached(sql string) (stepdb.Stmt, error) {
	s, err := c.Conn.Prepare(sql)
	return stmt{s}, err
}

func (c conn) Call(sql string, args []any) error { return sqlitex.Exec(c.Conn, sql, nil, args...) }

func (c conn) CallRows(sql string, args []any, row func(stepdb.Stmt) error) error {
	return sqlitex.Exec(c.Conn, sql, func(s *sqlite.Stmt) error { return row(stmt{s}) }, args...)
}

type stmt struct{ *sqlite.Stmt }

func (s stmt) Bind(args *stepdb.Args) error { return stepdb.Bind(s, args) }
func (s stmt) Columns() int                 { return s.ColumnCount() }
func (s stmt) Close() error                 { return s.Finalize() }

// Step tells what is wrong with arguments.

func (s stmt) BindNull(i int) error                { s.Stmt.BindNull(i); return nil }
func (s stmt) BindInt(i int, value int64) error    { s.BindInt64(i, value); return nil }
func (s stmt) BindReal(i int, value float64) error { s.BindFloat(i, value); return nil }
func (s stmt) BindText(i int, value string) error  { s.Stmt.BindText(i, value); return nil }
func (s stmt) BindBool(i int, value bool) error    { s.Stmt.BindBool(i, value); return nil }

// BindBlob uses BindBytes, which makes a text of it, as all programs with this
// driver do; but it would make NULL of an empty one.
func (s stmt) BindBlob(i int, value []byte) error {
	if len(value) == 0 {
		s.BindZeroBlob(i, 0)
	} else {
		s.BindBytes(i, value)
	}
	return nil
}

func (s stmt) Type(i int) stepdb.Type      { return stepdb.Type(s.ColumnType(i)) }
func (s stmt) Int(i int) (int64, error)    { return s.ColumnInt64(i), nil }
func (s stmt) Real(i int) (float64, error) { return s.ColumnFloat(i), nil }
func (s stmt) Text(i int) (string, error)  { return s.ColumnText(i), nil }
func (s stmt) Bool(i int) (bool, error)    { return s.ColumnInt64(i) != 0, nil }

func (s stmt) Blob(i int, buf []byte) ([]byte, error) {
	n := s.ColumnLen(i)
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	s.ColumnBytes(i, buf)
	return buf, nil
}
