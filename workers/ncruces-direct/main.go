// Worker ncruces-direct drives SQLite through the API of its own of
// github.com/ncruces/go-sqlite3: the C library compiled to WebAssembly and that
// translated to Go.
package main

import (
	"errors"
	"os"

	"assay/kit/stepdb"

	"github.com/ncruces/go-sqlite3"
	//lint:ignore SA1019 versions that run WebAssembly have SQLite itself in it
	_ "github.com/ncruces/go-sqlite3/embed"
	_ "github.com/ncruces/go-sqlite3/vfs/memdb"
)

func main() {
	os.Exit(stepdb.Main(stepdb.Driver{
		Name:           "ncruces-direct",
		Module:         "github.com/ncruces/go-sqlite3",
		StatementCache: "none",
		Open:           open,
		Code:           code,
		Lacks:          func(name, _ string) bool { return name == "mutex" }, // each connection has a memory of its own
		VFS:            "os",
	}))
}

func open(s stepdb.Source) (stepdb.Conn, error) {
	c, err := sqlite3.Open(s.URI)
	return conn{c}, err
}

// code finds the result code, of an error that SQLite gave or of the driver's
// own.
func code(err error) int {
	if failure, is := errors.AsType[*sqlite3.Error](err); is {
		return int(failure.Code())
	}
	var own sqlite3.ErrorCode
	errors.As(err, &own)
	return int(own)
}

type conn struct{ *sqlite3.Conn }

func (c conn) ExecScript(sql string) error { return c.Exec(sql) }

func (c conn) Changes() int { return int(c.Conn.Changes()) }

func (c conn) Prepare(sql string) (stepdb.Stmt, error) {
	s, tail, err := c.Conn.Prepare(sql)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, errors.New("no statement")
	case tail != "":
		return nil, errors.Join(errors.New("more than one statement"), s.Close())
	}
	return stmt{s}, nil
}

type stmt struct{ *sqlite3.Stmt }

func (s stmt) Bind(args *stepdb.Args) error { return stepdb.Bind(s, args) }
func (s stmt) Columns() int                 { return s.ColumnCount() }

func (s stmt) Step() (bool, error) {
	more := s.Stmt.Step()
	return more, s.Err()
}

func (s stmt) BindInt(i int, value int64) error    { return s.BindInt64(i, value) }
func (s stmt) BindReal(i int, value float64) error { return s.BindFloat(i, value) }

func (s stmt) Type(i int) stepdb.Type      { return stepdb.Type(s.ColumnType(i)) }
func (s stmt) Int(i int) (int64, error)    { return s.ColumnInt64(i), nil }
func (s stmt) Real(i int) (float64, error) { return s.ColumnFloat(i), nil }
func (s stmt) Text(i int) (string, error)  { return s.ColumnText(i), s.Err() }
func (s stmt) Bool(i int) (bool, error)    { return s.ColumnBool(i), nil }

func (s stmt) Blob(i int, buf []byte) ([]byte, error) { return s.ColumnBlob(i, buf[:0]), s.Err() }
