// Worker eatonphil drives SQLite through github.com/eatonphil/gosqlite: the C
// library, by cgo, with an API of its own.
package main

import (
	"errors"
	"os"

	"assay/kit/stepdb"

	"github.com/eatonphil/gosqlite"
)

func main() {
	os.Exit(stepdb.Main(stepdb.Driver{
		Name:           "eatonphil",
		Module:         "github.com/eatonphil/gosqlite",
		Cgo:            true,
		StatementCache: "none",
		Open:           open,
		Code:           code,
		Mutex:          mutex,
	}))
}

func open(s stepdb.Source) (stepdb.Conn, error) {
	var flags []int // none: the driver's own
	switch s.Mutex {
	case "no":
		flags = []int{gosqlite.OPEN_READWRITE | gosqlite.OPEN_CREATE | gosqlite.OPEN_NOMUTEX}
	case "full":
		flags = []int{gosqlite.OPEN_READWRITE | gosqlite.OPEN_CREATE | gosqlite.OPEN_FULLMUTEX}
	}
	c, err := gosqlite.Open(s.URI, flags...)
	return conn{c}, err
}

func code(err error) int {
	var failure *gosqlite.Error
	if !errors.As(err, &failure) {
		return 0
	}
	return failure.Code()
}

type conn struct{ *gosqlite.Conn }

const handle = "db" // the field of the driver that has SQLite's handle

func (c conn) Exec(sql string) error             { return c.Conn.Exec(sql) }
func (c conn) ExecScript(sql string) error       { return c.Conn.Exec(sql) }
func (c conn) Call(sql string, args []any) error { return c.Conn.Exec(sql, args...) }

func (c conn) Prepare(sql string) (stepdb.Stmt, error) {
	s, err := c.Conn.Prepare(sql)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, errors.New("no statement")
	case s.Tail != "":
		return nil, errors.Join(errors.New("more than one statement"), s.Close())
	}
	return stmt{s}, nil
}

type stmt struct{ *gosqlite.Stmt }

func (s stmt) Bind(args *stepdb.Args) error { return s.Stmt.Bind(args.Values()...) }
func (s stmt) Columns() int                 { return s.ColumnCount() }
func (s stmt) Type(i int) stepdb.Type       { return stepdb.Type(s.ColumnType(i)) }

func (s stmt) Int(i int) (int64, error) {
	value, _, err := s.ColumnInt64(i)
	return value, err
}

func (s stmt) Real(i int) (float64, error) {
	value, _, err := s.ColumnDouble(i)
	return value, err
}

func (s stmt) Text(i int) (string, error) {
	value, _, err := s.ColumnText(i)
	return value, err
}

func (s stmt) Blob(i int, _ []byte) ([]byte, error) { return s.ColumnBlob(i) }

func (s stmt) Bool(i int) (bool, error) {
	value, _, err := s.ColumnInt64(i)
	return value != 0, err
}
