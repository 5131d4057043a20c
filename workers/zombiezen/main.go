// Worker zombiezen drives SQLite through zombiezen.com/go/sqlite: the C library
// translated to Go by modernc, with an API of its own.
package main

import (
	"context"
	"errors"
	"os"

	"assay/kit/stepdb"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func main() {
	os.Exit(stepdb.Main(stepdb.Driver{
		Name:           "zombiezen",
		Module:         "zombiezen.com/go/sqlite",
		StatementCache: "per connection, by SQL text",
		Open:           open,
		Pool:           openPool,
		Code:           func(err error) int { return int(sqlite.ErrCode(err)) },
		Lacks:          func(name, _ string) bool { return name == "mutex" }, // connections never have one
	}))
}

// flags are the driver's own, WAL among them, where nothing was asked for.
func flags(s stepdb.Source) sqlite.OpenFlags {
	if s.Unasked {
		return 0
	}
	return sqlite.OpenReadWrite | sqlite.OpenCreate | sqlite.OpenURI
}

func open(s stepdb.Source) (stepdb.Conn, error) {
	c, err := sqlite.OpenConn(s.URI, flags(s))
	return conn{c}, err
}

// pool is used as the package's documentation does in a handler.
type pool struct{ *sqlitex.Pool }

func openPool(s stepdb.Source, n int) (stepdb.Pool, error) {
	p, err := sqlitex.NewPool(s.URI, sqlitex.PoolOptions{Flags: flags(s), PoolSize: n})
	return pool{p}, err
}

func (p pool) Take() (stepdb.Conn, error) {
	c, err := p.Pool.Take(context.Background())
	return conn{c}, err
}

func (p pool) Put(c stepdb.Conn) { p.Pool.Put(c.(conn).Conn) }

type conn struct{ *sqlite.Conn }

func (c conn) Exec(sql string) error { return sqlitex.ExecuteTransient(c.Conn, sql, nil) }

func (c conn) ExecScript(sql string) error { return sqlitex.ExecuteScript(c.Conn, sql, nil) }

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

func (c conn) Call(sql string, args []any) error {
	return sqlitex.Execute(c.Conn, sql, &sqlitex.ExecOptions{Args: args})
}

func (c conn) CallRows(sql string, args []any, row func(stepdb.Stmt) error) error {
	return sqlitex.Execute(c.Conn, sql, &sqlitex.ExecOptions{
		Args:       args,
		ResultFunc: func(s *sqlite.Stmt) error { return row(stmt{s}) },
	})
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
func (s stmt) BindBlob(i int, value []byte) error  { s.BindBytes(i, value); return nil }
func (s stmt) BindBool(i int, value bool) error    { s.Stmt.BindBool(i, value); return nil }

func (s stmt) Type(i int) stepdb.Type      { return stepdb.Type(s.ColumnType(i)) }
func (s stmt) Int(i int) (int64, error)    { return s.ColumnInt64(i), nil }
func (s stmt) Real(i int) (float64, error) { return s.ColumnFloat(i), nil }
func (s stmt) Text(i int) (string, error)  { return s.ColumnText(i), nil }
func (s stmt) Bool(i int) (bool, error)    { return s.ColumnBool(i), nil }

func (s stmt) Blob(i int, buf []byte) ([]byte, error) {
	n := s.ColumnLen(i)
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	s.ColumnBytes(i, buf)
	return buf, nil
}
