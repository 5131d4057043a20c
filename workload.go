package assay

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// Dataset says what data a workload runs on, fully resolved: no axis and no
// template is left in it. Equal datasets give byte-equal files.
type Dataset struct {
	Workload string
	Schema   string  // SQL that creates the empty tables; empty with File
	File     string  // a user's own SQLite file, opened read-only and copied; empty with Schema
	Tables   []Table // loaded in this order
	Recorded string  `json:",omitempty"` // an SQLite file that SQL of data and arguments reads as the schema recorded
	Seed     uint64
	// FileSettings are settings that are applied while the file is prepared,
	// for example page_size=8192.
	FileSettings map[string]string
	// Prepare is SQL that is run on the file when it is filled. It changes indexes and
	// statistics, and no row: arguments are drawn from the file as it was before.
	Prepare []string `json:",omitempty"`
}

// Rows are the records of a store; 0 of SQLite's tables, whose rows their SELECTs say.
func (d Dataset) Rows() (n int) {
	for _, t := range d.Tables {
		n += t.Rows
	}
	return n
}

// Table is a table with the SELECT of its rows; the records of a store are so many Rows, each
// evaluated for its number, as Expression is.
type Table struct {
	Name   string
	Rows   int
	Select string `json:",omitempty"`
}

// ValueKind names a way to draw values.
type ValueKind string

// The ways to draw arguments of operations.
const (
	// Expression is what Query, a SELECT without FROM, has in its column Of for the number
	// From + Step*position; its :i is that number, plus 1. Row is what a row of the answer
	// to Query has there, which Draw chooses: Uniform, Zipf or InOrder.
	Expression ValueKind = "expression"
	Row        ValueKind = "row"
	Key        ValueKind = "key"     // of a key-value store: Query, in which :i is a whole number that Draw says, plus 1
	Same       ValueKind = "same"    // what argument Of has
	Uniform    ValueKind = "uniform" // an integer of [From, To], each alike
)

// More ways to draw rows, and numbers of keys.
const (
	Seq     ValueKind = "seq"      // From, From+1, ..., after To from From on again
	InOrder ValueKind = "in-order" // one row after the other, then from the first one on again
	Zipf    ValueKind = "zipf"     // skewed by Theta, scattered over the range
	Latest  ValueKind = "latest"   // skewed by Theta towards To, and towards what a mix has added behind it
	// Scrambled is YCSB's "zipfian", which draws from 10^10 ranks whatever the range is, and
	// folds them to [From, To] by a hash.
	Scrambled ValueKind = "scrambled"
)

// Values says how the values of an argument are drawn.
type Values struct {
	Kind     ValueKind
	From, To int64
	Step     int64     // of an expression, and of rows in order; 0 means 1
	Of       int       // column of Query, or argument, counted from 0
	Draw     ValueKind // of a key and a row
	Theta    float64   // 0 < Theta < 1, YCSB's 0.99 by default
	Query    string    `json:",omitempty"`
}

// Range returns how many different whole numbers the values are drawn from at
// random; 0 where they are not.
func (v Values) Range() int64 {
	kind := v.Kind
	if kind == Key {
		kind = v.Draw
	}
	if kind != Uniform && kind != Zipf && kind != Latest {
		return 0
	}
	if wide := v.To - v.From; wide >= 0 && wide < math.MaxInt64 {
		return wide + 1
	}
	return math.MaxInt64
}

// Type is the declared type by which answers are compared: int, real, text,
// blob or bool, with a ? behind it where NULL may occur. It is declared
// because drivers differ: a BOOLEAN scans as bool in one and int64 in another.
type Type string

// TypeNames are types as workers are told them.
func TypeNames(types []Type) []string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return names
}

// Operation holds what is timed, fully resolved.
type Operation struct {
	Name  string
	Steps []Step // executed in order; one operation is all of them
	// Parts makes the operation a weighted mix; it has no steps of its own.
	Parts []Part
	// Sequence is a query of the parts in the order in which they come, counted from 0, and
	// with several clients of how many of the first units have ended before each begins; empty:
	// they are drawn by their weights. A block is all of it.
	Sequence string `json:",omitempty"`
	// Writers is the number of connections that the changing parts of a mix
	// share; clients wait for their turn, and the wait is in their latency.
	Writers     int
	Changes     bool   // some step changes data
	Statement   string // once, each, never
	Transaction int    // operations to a transaction; 0: each statement commits alone
	Count       int    // operations of a block, the same for every target
	PerRow      bool   // figures are per row of the answer or change, not per operation
	RetryBusy   bool   // an answer of "busy" is counted and the operation tried again
	Phases      bool   // the phases of each execution are timed too, in windows of their own
	Sorted      bool   // positions are in the order of the first argument's bytes
	Cold        bool   // the page cache has nothing of the data when it begins; measured without a warm-up
	// Terms makes it a sum over operations that are measured beside it. It is not
	// measured itself.
	Terms []Term `json:",omitempty"`
	Serve bool   // clients ask for it over HTTP; Cell.Rate and Cell.Clients are the load
	Check *Query // what is read after the block to prove the change; nil: nothing
}

// KV reports whether the operation is one of a key-value store.
func (o Operation) KV() bool {
	for _, part := range o.Parts {
		return part.Operation.KV()
	}
	return len(o.Steps) > 0 && o.Steps[0].KV != ""
}

// Begin says how a transaction of SQLite begins, and so when it takes the lock of writers.
type Begin string

// The ways to begin a transaction.
const (
	Deferred  Begin = "deferred"  // at its first change; it has read of a database that may be outdated then
	Immediate Begin = "immediate" // at once; so begin all that no plan says otherwise of
	Exclusive Begin = "exclusive" // at once, and without a log no one else reads
)

// Begins are all ways to begin a transaction.
var Begins = []Begin{Deferred, Immediate, Exclusive}

// Transacts reports whether the operation changes data in transactions of SQL that begin in
// one way or another.
func (o Operation) Transacts() bool {
	return o.Changes && o.Transaction > 0 && !o.KV() && !o.Call() || slices.ContainsFunc(o.Parts, func(p Part) bool { return p.Operation.Transacts() })
}

// Call reports whether the operation is one of the worker's own.
func (o Operation) Call() bool { return len(o.Steps) > 0 && o.Steps[0].Call != "" }

// MayNest reports whether the operation may use savepoints: its SQL names them, or it is a
// script, which some drivers run in one, or the worker's own, which nobody else knows.
func (o Operation) MayNest() bool {
	return o.Call() || slices.ContainsFunc(o.Steps, func(s Step) bool { return s.Script || strings.Contains(strings.ToUpper(s.SQL), "SAVEPOINT") }) ||
		slices.ContainsFunc(o.Parts, func(p Part) bool { return p.Operation.MayNest() })
}

// Step is one SQL statement of an operation, or a script.
type Step struct {
	SQL     string
	Script  bool     // SQL is several statements, which one call executes; they take no arguments
	Call    string   // an operation of the worker's own; SQL is a query that answers what it answers
	N       int      // of a call: its size
	KV      string   // what it is for a key-value store, as package wire names it; SQL says the same
	Fields  int      // of a store's values; 0: none
	Field   int      // from 0, the one that an update is of
	Query   bool     // returns rows; otherwise it changes data
	Args    []Values // drawn from the operation's trace, in order
	Rows    int      // rows answered or changed, checked each time; -1: unknown
	Returns []Type   // of the answer's columns; empty: found by asking the oracle
}

// Part is one operation of a mix with its weight.
type Part struct {
	Operation Operation
	Weight    int
	Had       []int64 `json:",omitempty"` // rows that a program had of each step of a sequence in all; below 0: unknown
}

// Term is an operation with the number of times that a sum has it.
type Term struct {
	Operation string
	Peer      string // of its cells
	Times     int
}

// Query is a question whose answer is compared between targets.
type Query struct {
	SQL     string
	Returns []Type
}

// Profile is a named set of settings.
type Profile struct {
	Name     string
	Settings map[string]string // typed settings, each mapped by the worker in its driver's own way
	// Raw gives the DSN literally, by driver; {{path}} stands for the file.
	Raw map[string]string
	// Requests says what a raw profile means, so that a setting without
	// effect can be found.
	Requests map[string]string
	Prepare  []string // SQL that changes indexes and statistics of the file before it is opened
	Once     []string // SQL run on one connection after opening
	Each     []string // SQL run on every new connection
	// Lazy has the connections of a served operation opened by the requests that
	// first need them.
	Lazy        bool
	AsPublished bool
}

// Requested returns all settings that the profile asks for, typed or meant.
func (p Profile) Requested() map[string]string {
	all := map[string]string{}
	maps.Copy(all, p.Requests)
	maps.Copy(all, p.Settings)
	return all
}

// Case is a cell with everything that is needed to measure it.
type Case struct {
	Cell      Cell // driver version, engine and build are empty until the worker said them
	Dataset   Dataset
	Operation Operation
	Profile   Profile
	// ForSum says that the case was not selected: it is measured for a sum that was.
	ForSum bool
	// Unscaled is the cell of the plan whose data or clients this case has other
	// amounts of, without driver and profile; zero where it is of no such plan.
	Unscaled Cell
}
