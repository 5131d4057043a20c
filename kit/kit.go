// Package kit is all that a worker is written with. A worker program drives
// one engine through one driver; its author implements [Engine], [Database],
// [Operation] and [Client] and calls [Main]:
//
//	func main() { os.Exit(kit.Main(engine{})) }
//
// The kit speaks the protocol, measures, counts and checks. For drivers of
// database/sql package sqldb has everything already. The kit depends on no
// driver and on almost nothing else.
package kit

import (
	"context"
	"errors"
	"fmt"

	"assay/kit/column"
	"assay/kit/wire"
)

// ErrBusy means that the database was locked by another connection: the
// operation did not happen and may be tried again. Engines wrap it.
var ErrBusy = errors.New("database is busy")

// ErrStale is a busy answer that no waiting can mend: whatever busy_timeout says, it comes at
// once.
var ErrStale = fmt.Errorf("%w: the transaction began deferred, has read, and came too late to change: another connection is changing the database, or has since", ErrBusy)

// Engine opens databases of one engine through one driver.
type Engine interface {
	// Target says what this worker drives, as found out from the driver and
	// the engine themselves.
	Target() (wire.Target, error)
	// Capabilities lists what the engine can do: wire.CapSQL, wire.CapKV,
	// wire.CapHTTP.
	Capabilities() []string
	// Open opens the database and all of its connections.
	Open(wire.Open) (Database, wire.Opened, error)
}

// Database is an open database. Its methods are called one at a time.
type Database interface {
	// Settings reads settings back on every connection.
	Settings(names []string) ([]wire.Connection, error)
	// Prepare makes an operation with steps ready. The trace holds the
	// arguments, one row an operation; it is nil where there are none.
	Prepare(op wire.Operation, trace *column.File) (Operation, error)
	// Query runs SQL and visits the rows of its answer as the declared types.
	// Key-value stores are asked without SQL for all keys with their values,
	// in the order of bytes. The visited slice is reused.
	Query(sql string, returns []string, visit func(row []any) error) error
	Close() error
}

// Loader is a Database that records can be put into before anything is
// measured.
type Loader interface {
	// Load puts all rows of the file, keys and values, into the empty store and
	// leaves it settled: nothing is left to be done in the background.
	Load(records *column.File) error
}

// Checker is a Database with a check of its own, beside what SQL has.
type Checker interface {
	// Check looks for damage in the whole database and says what the engine
	// calls that. What it finds is its error.
	Check() (name string, err error)
}

// Splitter is a Database that commits in the middle of a transaction where it
// is too big for the engine.
type Splitter interface {
	// Splits is how often it did so until now.
	Splits() int64
}

// Operation is a prepared operation.
type Operation interface {
	// QueryPlan is how the engine says that it will work, for people.
	QueryPlan() string
	// Client returns what one client runs. Clients run at the same time, each
	// in a goroutine of its own.
	Client() (Client, error)
	// Answer runs the operation at a position of the trace and visits the
	// rows that each step returns. The visited slice is reused.
	Answer(position int, visit func(step int, row []any) error) error
	Close() error
}

// Server is an Operation that can be asked for by other processes.
type Server interface {
	// Handler returns what answers requests, one at a time. Handlers work at the
	// same time, and share what the handlers of an application share: the pool
	// and, where a driver has them, statements that are compiled once.
	Handler() (Handler, error)
}

// Handler answers one request after the other.
type Handler interface {
	// Answer runs the operation at a position of the trace, visits the rows
	// that each step returns, with their declared types, and returns the number
	// of rows answered or changed. The visited slice is reused. An error that
	// wraps ErrBusy may be retried. The driver gets the context of the request, as
	// in a program: some drivers do more for one that can be cancelled.
	Answer(ctx context.Context, position int, visit func(types []string, row []any) error) (rows int, err error)
	Close() error
}

// Pooled is a Database that knows what its pools did.
type Pooled interface {
	Pool() wire.Pool
}

// Client runs one operation after the other.
type Client interface {
	// Do runs the operation with the arguments at a position of the trace
	// (with transactions of k operations: at positions position*k and the
	// k-1 after it) and returns the number of rows answered or changed, each
	// of them read and scanned. An error that wraps ErrBusy may be retried.
	Do(position int) (rows int, err error)
	Close() error
}
