package wire

import (
	"fmt"
	"strings"
)

// Hello is the worker's first line.
type Hello struct {
	Type         string   `json:"type"` // hello
	Protocol     int      `json:"protocol"`
	Target       Target   `json:"target"`
	Capabilities []string `json:"capabilities"`
	Calls        []string `json:"calls,omitempty"` // the operations of its own, where it can call
}

// The capabilities of workers.
const (
	CapSQL = "sql" // executes SQL operations
	CapKV  = "kv"  // executes the operations of a key-value store, and loads records
	// CapPostgreSQL: opens no file but connects to a PostgreSQL server, which
	// assay starts before the worker is asked to open.
	CapPostgreSQL = "postgresql"
	// CapDuckDB: opens a file of DuckDB, and takes tables and types as PostgreSQL names them.
	CapDuckDB = "duckdb"
	// CapCall says that it executes operations of its own, which a step names.
	CapCall = "call"
	// CapHTTP: serves operations over HTTP.
	CapHTTP = "http"
	// CapOrdered: the trace of a mix may have a third column, which clients keep.
	CapOrdered = "ordered"
	// CapAnswers: digests what measured clients answer, where measure asks for it.
	CapAnswers = "answers"
	// CapQuery: writes rows to files, which assay digests itself. One of SQL also runs SQL for
	// assay on any connection, which maps settings and reads them back.
	CapQuery = "query"
	// CapPhases says of a worker with CapQuery that it times phases.
	CapPhases = "phases"
	// CapMutex says of a worker with CapQuery that it sets mutex, and answers PRAGMA mutex.
	CapMutex = "mutex"
	// CapProcesses says of a store that several processes may have it open.
	CapProcesses = "processes"
)

// Target is what the worker drives, as it finds out itself.
type Target struct {
	Driver         string            `json:"driver"`
	DriverVersion  string            `json:"driver_version"`
	Engine         string            `json:"engine"`
	EngineVersion  string            `json:"engine_version"`
	Facts          map[string]string `json:"facts,omitempty"`
	CompileOptions []string          `json:"compile_options,omitempty"`
}

// Open asks to open a database that was prepared as a file. A worker has at
// most one open database.
type Open struct {
	// Path is the database file, private to this worker; of a PostgreSQL server,
	// the folder of its Unix socket.
	Path string `json:"path"`
	// Settings are typed; the worker maps each in its driver's own way.
	Settings map[string]string `json:"settings,omitempty"`
	DSN      string            `json:"dsn,omitempty"`  // literal, instead of settings
	Once     []string          `json:"once,omitempty"` // SQL for one connection after opening
	Each     []string          `json:"each,omitempty"` // SQL for every new connection
	Readers  int               `json:"readers"`        // open connections for operations that change nothing
	Idle     int               `json:"idle"`           // of those kept while unused
	Writers  int               `json:"writers"`        // connections for operations that change data
	// Lazy has the readers' connections opened when they are first needed, where
	// the driver's pool does that.
	Lazy bool `json:"lazy,omitempty"`
}

// Begin is the name of the setting that says how transactions of SQLite begin: deferred,
// immediate or exclusive. It is applied whether or not a DSN is given. Without it they begin
// with BEGIN IMMEDIATE.
const Begin = "begin"

// Opened answers Open with what the worker did.
type Opened struct {
	DSN    string            `json:"dsn,omitempty"`    // as given to the driver
	Each   []string          `json:"each,omitempty"`   // SQL that runs on every new connection
	Issued map[string]string `json:"issued,omitempty"` // by setting: what was sent for it
	// Durability is the class that holds with these settings: what the store's
	// documentation promises, or less where that was refuted: none, process,
	// consistent, last-commit or power. Engines whose settings say it leave it empty.
	Durability string `json:"durability,omitempty"`
	// EngineVersion is what a server says of itself; empty where the engine is in
	// the worker.
	EngineVersion string `json:"engine_version,omitempty"`
}

// Durabilities are the classes of durability, weakest first; the first one is unknown.
var Durabilities = []string{"", "none", "process", "consistent", "last-commit", "power"}

// Load asks to put records into the open, empty store, as fast as it can.
type Load struct {
	Records string `json:"records"` // path of a column file with keys and values, both blobs
}

// Loaded answers Load.
type Loaded struct {
	Records int64 `json:"records"`
}

// Checked is the reply to a check that found nothing wrong.
type Checked struct {
	Name string `json:"name"` // what the engine calls its check
}

// Settings asks to read settings back on every connection.
type Settings struct {
	Names []string `json:"names"`
}

// SettingsRead answers Settings.
type SettingsRead struct {
	Connections []Connection `json:"connections"`
}

// Connection is one connection with the effective values of its settings. A
// setting that cannot be read is absent.
type Connection struct {
	Name     string            `json:"name"` // reader-1, ..., writer-1, ...
	Settings map[string]string `json:"settings"`
}

// ReaderName is the name of the connection with an index, from 0, that reads.
func ReaderName(i int) string { return fmt.Sprintf("reader-%d", i+1) }

// WriterName is the name of the connection with an index, from 0, that writes.
func WriterName(i int) string { return fmt.Sprintf("writer-%d", i+1) }

// IsWriter reports whether a connection of that name writes.
func IsWriter(connection string) bool { return strings.HasPrefix(connection, "writer-") }

// Operation is what prepare makes ready.
type Operation struct {
	Name  string `json:"name"`
	Steps []Step `json:"steps,omitempty"`
	// Parts makes it a mix of operations. Its trace has two int columns: the
	// part's index and the position in that part's own trace.
	Parts       []Operation `json:"parts,omitempty"`
	Trace       string      `json:"trace,omitempty"`   // path of a column file; empty: no arguments
	Changes     bool        `json:"changes,omitempty"` // it changes data, on a writer's connection
	Statement   Policy      `json:"statement,omitempty"`
	Transaction int         `json:"transaction,omitempty"` // operations to a transaction; 0: none
	RetryBusy   bool        `json:"retry_busy,omitempty"`
}

// Policy says when statements are prepared.
type Policy string

// The statement policies. Empty means Once.
const (
	Once  Policy = "once"  // before anything is measured, and kept
	Each  Policy = "each"  // by every operation, which closes them
	Never Policy = "never" // not by the worker: the driver is given the text
)

// Keeps reports whether statements are prepared before anything is measured.
func (p Policy) Keeps() bool { return p == "" || p == Once }

// The operations of key-value stores. Keys and values are blobs.
const (
	Get    = "get"    // key: the value, one row; no row where there is no such key
	Put    = "put"    // key, value: adds or replaces
	Delete = "delete" // key
	Scan   = "scan"   // key, n: up to n keys with their values, in the order of bytes, from this key on
	// Update and GetField are of one field of a value, which is so many fields
	// of equal length, one behind the other.
	Update   = "update"    // key, field: replaces it
	GetField = "get-field" // key: the field, one row
)

// Step is one statement of an operation. Its arguments are the trace's next
// Args columns.
type Step struct {
	SQL string `json:"sql,omitempty"`
	// Script says that SQL is several statements without arguments, which one call of
	// the driver executes.
	Script bool   `json:"script,omitempty"`
	KV     string `json:"kv,omitempty"` // instead of SQL: get, put, delete, scan, update or get-field
	// Fields is how many fields a value of a store has, each an argument of put
	// and a column of answers; 0: the value is one. Field, from 0, is the one
	// that an update or get-field is of.
	Fields int `json:"fields,omitempty"`
	Field  int `json:"field,omitempty"`
	// Call is, instead of SQL, the name of an operation of the worker's own,
	// and N its size, 1 or more.
	Call    string   `json:"call,omitempty"`
	N       int      `json:"n,omitempty"`
	Query   bool     `json:"query"` // rows come back
	Args    int      `json:"args"`
	Rows    int      `json:"rows"` // answered or changed each time; -1: unknown
	Returns []string `json:"returns,omitempty"`
}

// Prepare asks to make an operation ready for a number of clients.
type Prepare struct {
	Operation Operation `json:"operation"`
	Clients   int       `json:"clients"`
}

// Prepared answers Prepare.
type Prepared struct {
	QueryPlan string `json:"query_plan,omitempty"`
}

// Measure asks to run a prepared operation. Positions of the trace are taken
// from Start on, around the trace's end, by all clients from one counter. It
// ends at the first operation that ends Nanos or later after the start
// (window), or after Operations operations (block).
type Measure struct {
	Operation  string `json:"operation"`
	Start      int64  `json:"start"`
	Nanos      int64  `json:"nanos,omitempty"`
	Operations int64  `json:"operations,omitempty"`
	// Batch is how many operations are timed together; 0 and 1: each alone.
	Batch int64 `json:"batch,omitempty"`
	// Latency asks for the histogram of the operations' latencies, or of
	// transactions where several operations make one.
	Latency bool `json:"latency,omitempty"`
	// Phases asks to time the phases of each operation apart. A worker that
	// cannot answers unsupported.
	Phases bool `json:"phases,omitempty"`
	// Marks is the path of a file to which one byte is written after each
	// unit, so that a trace of system calls shows when it was acknowledged.
	Marks string `json:"marks,omitempty"`
	// Answers asks for the digests of what the clients answer. Times are of no
	// use then.
	Answers bool `json:"answers,omitempty"`
	// Rows is, for a worker that runs queries, the path of a file that gets the rows of
	// each unit instead.
	Rows string `json:"rows,omitempty"`
}

// Measured answers Measure. Operations counts those that were completed and
// right while all clients were at work; what they took is Nanos. All others
// are counted apart.
type Measured struct {
	Operations int64      `json:"operations"`
	Nanos      int64      `json:"nanos"`
	Executed   int64      `json:"executed"`             // all positions taken
	Errors     int64      `json:"errors,omitempty"`     // operations that failed
	Error      string     `json:"error,omitempty"`      // the first one's words
	Misses     int64      `json:"misses,omitempty"`     // operations with another number of rows than expected
	Miss       string     `json:"miss,omitempty"`       // the first one in words
	Busy       int64      `json:"busy,omitempty"`       // answers of "busy"; tried again where the operation says so
	Stale      int64      `json:"stale,omitempty"`      // of these, to transactions that began deferred, had read, and came too late to change
	Splits     int64      `json:"splits,omitempty"`     // commits in the middle of transactions that were too big for the engine
	Began      int64      `json:"began_ns,omitempty"`   // Unix time at which Nanos begin; 0: unknown
	Counters   Counters   `json:"counters"`             // of the worker process, over the window
	Delayed    *int64     `json:"delayed_ns,omitempty"` // for which the measuring thread was ready to run and waited for a processor that other processes had; nil: unknown
	Histogram  [][2]int64 `json:"histogram,omitempty"`  // [upper bound in ns, count], see Bucket
	Phases     []Phase    `json:"phases,omitempty"`     // that the driver has, in their order
	ClockNanos float64    `json:"clock_ns,omitempty"`   // what one reading of the clock costs; with Phases
	Digests    []string   `json:"digests,omitempty"`    // of each unit's answer, in the order of positions; empty where the unit changes data or went wrong; with Answers
	LoopNanos  float64    `json:"loop_ns,omitempty"`    // what the worker's own loop takes for an operation; 0: unknown
}

// Phase is the time that all operations of a measurement spent in one phase.
type Phase struct {
	Name  string `json:"name"`
	Nanos int64  `json:"ns"`
	Count int64  `json:"count"` // how often it was timed: readings of the clock
}

// The phases of a statement's execution, in their order. A driver has those
// that its API shows apart.
const (
	PhasePrepare   = "prepare"    // compile the statement
	PhaseBind      = "bind"       // hand over its arguments
	PhaseQuery     = "query"      // hand over its arguments and start it
	PhaseNext      = "next"       // step to the next row
	PhaseScan      = "scan"       // read the columns of a row
	PhaseCloseRows = "close-rows" // end the answer, or reset the statement
	PhaseCloseStmt = "close-stmt" // finalize the statement
)

// Verify asks for a digest: of the answers of a prepared operation at Count
// positions from Start on, or of the answer to SQL.
type Verify struct {
	Operation string `json:"operation,omitempty"`
	Start     int64  `json:"start,omitempty"`
	Count     int64  `json:"count,omitempty"`
	SQL       string `json:"sql,omitempty"`
	// All asks, instead of SQL, for all keys with their values in the order of
	// bytes: two blobs a row.
	All     bool     `json:"all,omitempty"`
	Returns []string `json:"returns,omitempty"`
	// Rows is, for a worker that runs queries, the path of a file that gets the rows.
	Rows string `json:"rows,omitempty"`
}

// Verified answers Verify.
type Verified struct {
	Digest string `json:"digest"`
	Rows   int64  `json:"rows"`
}

// Query asks a worker of SQLite to run one statement on one of its connections, or to do
// something else with it.
type Query struct {
	Connection string `json:"connection"`
	DSN        string `json:"dsn,omitempty"` // opens it first, beside those of the database
	SQL        string `json:"sql,omitempty"`
	Control    string `json:"control,omitempty"` // instead: begin or rollback, as transactions of operations do; or close
	Rows       string `json:"rows,omitempty"`    // path of a file that gets the rows as they are stored
}

// Serve asks to answer requests for a prepared operation over HTTP, on a port of
// the loopback interface that the system chooses, until close. So many requests
// are worked on at the same time.
type Serve struct {
	Operation string `json:"operation"`
	Clients   int    `json:"clients"`
}

// Served answers Serve: requests are taken from now on.
type Served struct {
	Address string `json:"address"`        // host:port
	Path    string `json:"path,omitempty"` // that all requests begin with, nothing or /NAME
}

// Stats answers a request for stats.
type Stats struct {
	Counters
	Pool *Pool  `json:"pool,omitempty"` // of the open database; absent where there is none to tell of
	Busy *int64 `json:"busy,omitempty"` // served operations that were tried again, once for each time; absent: not counted
}

// Pool is what the connections of an open database did so far.
type Pool struct {
	Opened int64 `json:"opened"`  // connections
	Closed int64 `json:"closed"`  // of those
	Waits  int64 `json:"waits"`   // operations that had to wait for a connection
	Waited int64 `json:"wait_ns"` // how long, all together
}

// Closed answers Close.
type Closed struct {
	Nanos int64 `json:"nanos"`
}
