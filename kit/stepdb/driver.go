// Package stepdb makes a worker of a driver of SQLite with an API of its own
// that is like SQLite's: prepare, bind, step, read columns, reset. It imports
// no driver: a worker describes one with [Driver], and shows its connections
// and statements as [Conn] and [Stmt].
//
// Reading clients keep a connection each where there are enough, and take them
// in turn where there are not; where a driver has a pool that its documentation
// says to use, they take one from it for each operation. Changing operations
// take connections of their own in turn, with BEGIN IMMEDIATE, or as is asked for, where they are
// transactions. Every connection gets the same settings.
package stepdb

import (
	"assay/kit"
	"assay/kit/column"
)

// Driver describes a driver.
type Driver struct {
	Name   string // the worker's name: zombiezen
	Module string // the driver's module, whose version is reported
	Cgo    bool
	// StatementCache says in words what compiled statements the driver keeps;
	// none where it keeps none.
	StatementCache string
	Open           func(Source) (Conn, error)
	// Pool opens the driver's own pool of so many connections; nil where it has
	// none. It is for readers.
	Pool func(Source, int) (Pool, error)
	// Code returns SQLite's result code of an error, primary or extended; 0
	// where the error is not SQLite's.
	Code func(error) int
	// Mutex reports whether a connection of the driver has a mutex (full) or none
	// (no); nil where the worker cannot find out.
	Mutex func(Conn) (mode string, known bool)
	// Lacks reports whether the driver has no way to give a setting this value;
	// nil where it has all.
	Lacks func(name, value string) bool
	// VFS is the name of SQLite's layer for files; empty: as SQLite calls its own.
	VFS string
	// Memory is the URI of a database in memory that several connections share;
	// empty: SQLite's VFS memdb.
	Memory string
}

// Source says what to open and how.
type Source struct {
	URI string // a file: URI
	// Unasked says that no settings were stated: the driver's own default is
	// what is measured. Otherwise it must imply none.
	Unasked bool
	Mutex   string // no or full; empty where it was not stated
}

// Conn is a connection of the driver. It must be comparable.
type Conn interface {
	// Exec runs one statement without arguments and drops its answer.
	Exec(sql string) error
	// Prepare compiles one statement, which the caller closes.
	Prepare(sql string) (Stmt, error)
	// Changes is the number of rows that the last statement changed.
	Changes() int
	Close() error
}

// Cacher is a Conn whose driver keeps compiled statements and documents their
// use so. Cached returns the statement, reset and without arguments.
type Cacher interface {
	Cached(sql string) (Stmt, error)
}

// Caller is a Conn whose driver has a documented form to run a statement with
// arguments in one call, for statements that answer no rows.
type Caller interface {
	Call(sql string, args []any) error
}

// RowCaller is a Conn whose driver has such a form for statements that answer
// rows: it calls row at each.
type RowCaller interface {
	CallRows(sql string, args []any, row func(Stmt) error) error
}

// Scripter is a Conn whose driver has a documented form to run several statements in
// one call. It may run them in a savepoint.
type Scripter interface {
	ExecScript(sql string) error
}

// Type is one of SQLite's types of values, by its number.
type Type int

const (
	Integer Type = 1 + iota
	Float
	Text
	Blob
	Null
)

// Stmt is a compiled statement. Columns count from 0. To read one as a type
// that it does not have gives what SQLite makes of it.
type Stmt interface {
	Bind(args *Args) error
	// Step goes to the next row; false where there is none.
	Step() (bool, error)
	Columns() int
	// Type is that of the value as it is stored.
	Type(column int) Type
	Int(column int) (int64, error)
	Real(column int) (float64, error)
	Text(column int) (string, error)
	// Blob may use the room of buf, whose content is overwritten.
	Blob(column int, buf []byte) ([]byte, error)
	Bool(column int) (bool, error)
	// Reset makes the statement ready for the next arguments.
	Reset() error
	Close() error
}

// Pool is a driver's own pool.
type Pool interface {
	Take() (Conn, error)
	Put(Conn)
	Close() error
}

// Binder binds arguments one by one. Parameters count from 1.
type Binder interface {
	BindNull(parameter int) error
	BindInt(parameter int, value int64) error
	BindReal(parameter int, value float64) error
	BindText(parameter int, value string) error
	BindBlob(parameter int, value []byte) error
	BindBool(parameter int, value bool) error
}

// Args are the arguments of one execution, a part of a row of the trace.
type Args struct {
	trace  *column.File
	first  int // column of the trace
	row    int
	values []any // room for Values
}

// Values returns all arguments, for drivers that take them as interfaces. The
// slice is reused.
func (a *Args) Values() []any {
	for i := range a.values {
		a.values[i] = a.trace.Value(a.first+i, a.row)
	}
	return a.values
}

// Bind binds every argument as its type.
func Bind(to Binder, a *Args) (err error) {
	for i := range a.values {
		from, parameter := a.first+i, i+1
		switch {
		case a.trace.Null(from, a.row):
			err = to.BindNull(parameter)
		case a.trace.Type(from) == column.Int:
			err = to.BindInt(parameter, a.trace.Int(from, a.row))
		case a.trace.Type(from) == column.Real:
			err = to.BindReal(parameter, a.trace.Real(from, a.row))
		case a.trace.Type(from) == column.Text:
			err = to.BindText(parameter, a.trace.Text(from, a.row))
		case a.trace.Type(from) == column.Blob:
			err = to.BindBlob(parameter, a.trace.Bytes(from, a.row))
		default:
			err = to.BindBool(parameter, a.trace.Int(from, a.row) != 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Main serves the driver as a worker and returns the exit status.
func Main(d Driver) int { return kit.Main(engine{d}) }

// New returns the driver as an engine, for tests.
func New(d Driver) kit.Engine { return engine{d} }

// SQLite's primary result codes (https://www.sqlite.org/rescode.html).
const (
	codeBusy     = 5
	codeLocked   = 6
	codeReadOnly = 8
)

// busy reports whether an error means that the database was locked.
func (d Driver) busy(err error) bool {
	code := d.Code(err) & 0xff
	return code == codeBusy || code == codeLocked
}
