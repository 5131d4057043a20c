// Package sql is the worker of all databases that are asked in SQL: pools and
// connections in turn, transactions, statement policies, answers, requests that
// are served, settings and proofs. It imports no driver and no API: an adapter
// shows one as an [API], whose statements execute a step as a whole. Adapters are
// packages sqldb, for database/sql, and stepdb, for APIs like SQLite's own.
//
// Reading operations go through the API's own pool where it has one. Otherwise
// clients keep a connection each where there are enough, and take them in turn
// where there are not. Changing operations take connections of their own in turn.
package sql

import (
	"context"
	"io"

	"assay/kit"
	"assay/kit/column"
	"assay/kit/wire"
)

// API is one API of one driver, with how it opens one database. C is a connection.
type API[C comparable] interface {
	// Connect opens a connection.
	Connect() (C, error)
	// Pool opens the API's own pool of so many connections, for operations that
	// change nothing; nil where it has none.
	Pool(connections int) (Pool[C], error)
	// Exec executes one statement without arguments and drops its answer.
	Exec(C, string) error
	// Setting reads a setting back; false where nothing is known.
	Setting(c C, name string) (value string, known bool, err error)
	// Explain looks whether a step can be executed, and returns how the engine says
	// that it will be, a line each.
	Explain(C, Step) ([]string, error)
	// Compile compiles a step whose statement is compiled once. All who take the
	// connection share it. It is nil where the driver keeps it by itself.
	Compile(C, Step) (Compiled, error)
	// Stmt makes room to execute a step on a connection. What is compiled is nil
	// unless that is done once.
	Stmt(C, Step, Compiled) (Stmt, error)
	// Begin is the statement that begins transactions.
	Begin() string
	// Rollback ends a transaction that failed.
	Rollback(C) error
	// Busy reports whether an error means that the operation did not happen and
	// may be tried again.
	Busy(error) bool
	Close(C) error
	// CloseAll closes what was opened beside connections and the pool.
	CloseAll() error
}

// Compiled is a statement that is compiled once on a connection.
type Compiled io.Closer

// Stmt is a step that is ready to be executed on one connection, with room for its
// arguments and rows. It is used by one client at a time.
type Stmt interface {
	// Do executes the step with the arguments of a row of its trace, reads every
	// column of every row of the answer by its declared type, shows the rows to
	// visit where that is not nil, and returns how many rows were answered or
	// changed. Phases are timed where they are not nil. It is the hot path: all of
	// an execution is in it.
	Do(ctx context.Context, row int, visit func([]any) error, phases *kit.Phases) (int, error)
	// Show executes it with the same statement and shows values as they are stored.
	Show(row int, visit func([]any) error) (int, error)
}

// Step is a step of an operation.
type Step struct {
	wire.Step
	Policy wire.Policy
	Trace  *column.File
	First  int  // column of the trace with the first argument
	Around bool // it begins or commits a transaction
}

// FirstArguments returns the first arguments, which ask how the step is run; all
// nil where the trace has no rows.
func (s Step) FirstArguments() []any {
	values := make([]any, s.Args)
	for i := range values {
		if s.Trace.Rows() > 0 {
			values[i] = s.Trace.Value(s.First+i, 0)
		}
	}
	return values
}

// Pool is an API's own pool.
type Pool[C comparable] interface {
	Take() (C, error)
	Put(C)
	Close() error
}

// Whole is a Pool that is used as if it were a connection: it takes one for each
// statement.
type Whole[C comparable] interface {
	Pool[C]
	Whole() C
	// CompileEverywhere compiles what was compiled for the whole pool on each of
	// its connections.
	CompileEverywhere([]Compiled) error
}

// Counter is an API that counts what its connections did.
type Counter interface {
	Count(*wire.Pool)
}
