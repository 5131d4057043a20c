package plan

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// document is a plan as users write it. The structs of this file are the
// format: Decode reads them, and Schema describes them to editors.
type document struct {
	Name       text            `yaml:"name" jsonschema:"required" jsonschema_description:"Name of the plan, by which results call it."`
	About      text            `yaml:"about" jsonschema_description:"What the plan is for."`
	Seed       number          `yaml:"seed" jsonschema_description:"Seed of data, arguments and random orders; 1 by default."`
	Budget     duration        `yaml:"budget" jsonschema_description:"Time for measuring, builds excluded; without it, as long as it takes."`
	Precision  fraction        `yaml:"precision" jsonschema_description:"Target half-width of the confidence interval of a ratio; 2% by default."`
	Margin     fraction        `yaml:"margin" jsonschema_description:"Differences within the margin count as equivalent; 2% by default."`
	Launches   number          `yaml:"launches" jsonschema_description:"Minimum number of launches of each cell: 3 by default, 2 or more."`
	Timeout    duration        `yaml:"timeout" jsonschema_description:"Time limit of one block or window; 60s by default."`
	Factors    boolean         `yaml:"factors" jsonschema_description:"true: afterwards, the best target is measured without each of its profile's settings, one at a time."`
	Drivers    list[text]      `yaml:"drivers" jsonschema_description:"NAME[@VERSION][:OPTION...] of each driver."`
	Reference  text            `yaml:"reference" jsonschema_description:"The driver that all others are compared with; the first by default."`
	Clients    list[number]    `yaml:"clients" jsonschema_description:"Numbers of parallel clients; 1 by default."`
	Processes  list[number]    `yaml:"processes" jsonschema_description:"Numbers of worker processes that share the database, each with the clients; 1 by default."`
	Pool       list[pool]      `yaml:"pool" jsonschema_description:"Numbers of open connections; as many as clients by default."`
	Begin      list[text]      `yaml:"begin" jsonschema_description:"How transactions of SQLite that change data begin: deferred, immediate or exclusive; immediate by default."`
	Profiles   dict[profile]   `yaml:"profiles" jsonschema_description:"Named sets of settings; without it, one empty profile called default."`
	Workload   workload        `yaml:"workload" jsonschema_description:"The one workload, with its operations beside it."`
	Operations dict[operation] `yaml:"operations" jsonschema_description:"Operations of the one workload."`
	Workloads  dict[workload]  `yaml:"workloads" jsonschema_description:"Several workloads by name, each with its operations."`
}

func (d *document) read(m *mistakes, n ast.Node) {
	found, ok := m.fields(n, "a plan", "key", d)
	if ok && !slices.Contains(found, "workload") && !slices.Contains(found, "workloads") {
		m.at(place{1, 1}, "a plan needs a workload or workloads")
	}
}

type workload struct {
	place
	misspelt bool // a key is unknown, perhaps one that is missed elsewhere

	Name       text               `yaml:"name" jsonschema_description:"Name of the one workload; the plan's by default."`
	Schema     text               `yaml:"schema" jsonschema_description:"SQL that creates the tables."`
	File       text               `yaml:"file" jsonschema_description:"An existing SQLite file instead of schema and data; relative to the plan."`
	Recorded   text               `yaml:"recorded" jsonschema_description:"An SQLite file whose tables SQL of data and args reads as recorded.NAME; relative to the plan."`
	Params     dict[list[scalar]] `yaml:"params" jsonschema_description:"Axes of the workload: name and values."`
	Data       dict[text]         `yaml:"data" jsonschema_description:"A SELECT of the rows of each table, with its columns in their order."`
	Records    records            `yaml:"records" jsonschema_description:"Instead of schema and data: what a key-value store begins with. Without all of them it begins empty."`
	Operations dict[operation]    `yaml:"operations" jsonschema_description:"Operations, where the plan has several workloads."`
}

func (w *workload) read(m *mistakes, n ast.Node) {
	_, ok := m.fields(n, "a workload", "key of a workload", w)
	w.misspelt = !ok
}

// operation is what is timed. It is of one form, which has keys of its own.
type operation struct {
	place
	forms []string // the keys that say of which form it is: one, in a valid plan
	axes  []Axis   // of Params, set where the workload is checked

	ofSQL `form:"sql"`
	ofAxes
	ofMeasuring
	ofMix   `form:"mix"`
	Draw    text `yaml:"draw" jsonschema_description:"Which row or key is drawn. Rows of a SELECT: uniform (default), zipfian or in-order. Keys: next (a new one, for put), in-order, uniform, zipfian, zipfian-table or latest."`
	Only    text `yaml:"only" jsonschema_description:"mix: the operation is not measured alone."`
	ofStore `form:"kv"`
	ofCall  `form:"call"`
	Sum     sum `yaml:"sum" jsonschema_description:"No operation but a sum: calls, of all calls of the workload with the same params; or a map, of operations with how many times each is done."`
	ofServing
}

// forms are the keys of which an operation has one.
var forms = []string{"sql", "script", "steps", "mix", "kv", "call", "sum"}

// ofSQL is what an operation of statements does.
type ofSQL struct {
	SQL     text       `yaml:"sql" jsonschema_description:"One SQL statement with ? for arguments."`
	Script  text       `yaml:"script" jsonschema_description:"Several SQL statements without arguments, which one call of the driver executes."`
	Steps   list[step] `yaml:"steps" jsonschema_description:"Several statements that are one operation together."`
	Args    text       `yaml:"args" jsonschema_description:"A SELECT with a column for each argument: with FROM, rows that draw chooses; without, evaluated once per operation."`
	Rows    number     `yaml:"rows" jsonschema_description:"Rows answered or changed, checked each time."`
	Returns list[text] `yaml:"returns" jsonschema_description:"Types of the answer's columns: int, real, text, blob or bool, with ? where NULL may occur."`
}

// statements reports whether the operation is of SQL that the plan has.
func (o *ofSQL) statements() bool { return o.SQL.set() || o.Script.set() || o.Steps.set() }

// ofAxes makes several cells of an operation.
type ofAxes struct {
	Statement   list[text]         `yaml:"statement" jsonschema_description:"Prepared once, prepared each time, or never; once by default."`
	Transaction list[scalar]       `yaml:"transaction" jsonschema_description:"Operations to a transaction: none, a number or whole; none by default."`
	Begin       list[text]         `yaml:"begin" jsonschema_description:"How the transactions begin, instead of the plan's."`
	Params      dict[list[scalar]] `yaml:"params" jsonschema_description:"Axes of the operation: name and values."`
	Clients     list[number]       `yaml:"clients" jsonschema_description:"Numbers of parallel clients, instead of the plan's."`
	Processes   list[number]       `yaml:"processes" jsonschema_description:"Numbers of worker processes that share the database, instead of the plan's."`
	Pool        list[pool]         `yaml:"pool" jsonschema_description:"Numbers of open connections, instead of the plan's."`
	Profiles    list[text]         `yaml:"profiles" jsonschema_description:"The profiles that the operation runs with; all by default."`
}

// ofMeasuring says how an operation of any form is measured, and proved.
type ofMeasuring struct {
	Count  count      `yaml:"count" jsonschema_description:"Operations of a block, or a map of them by profile; 1000 by default where data is changed, otherwise 10000."`
	Per    text       `yaml:"per" jsonschema_description:"row: figures are per row, not per operation."`
	Busy   text       `yaml:"busy" jsonschema_description:"What an answer of busy does: fail (default) or retry."`
	Phases boolean    `yaml:"phases" jsonschema_description:"true: the phases of each execution are timed too, in windows of their own; for reading operations, in cells with one client."`
	Cache  list[text] `yaml:"cache" jsonschema_description:"warm (default) or cold: whether the page cache has the data when the operation begins; an axis."`
	Check  check      `yaml:"check" jsonschema_description:"What is read after the block to prove the change."`
}

type ofMix struct {
	Mix     dict[number] `yaml:"mix" jsonschema_description:"Operations of the workload with their weights."`
	Writers number       `yaml:"writers" jsonschema_description:"Connections that the changing operations of a mix share; 1 by default."`
}

// ofStore is what an operation of a key-value store does.
type ofStore struct {
	KV    text      `yaml:"kv" jsonschema_description:"get, put, delete, scan, update (of one field), rmw (get and put in one transaction) or read-update (get, then update), on a key-value store."`
	Key   text      `yaml:"key" jsonschema_description:"SQL of the key, an expression with :i; that of the records by default."`
	Order text      `yaml:"order" jsonschema_description:"sorted: the keys of a block are drawn first and then used in their order; drawn by default."`
	Value text      `yaml:"value" jsonschema_description:"SQL of the value that is put, such as blob(100), or of each field; that of the records by default."`
	Limit scanLimit `yaml:"limit" jsonschema_description:"Keys that a scan answers: a number, or [low, high]; [1, 100] by default."`
}

// ofCall is what an operation of the worker's own does.
type ofCall struct {
	Call    text    `yaml:"call" jsonschema_description:"An operation of the worker's own, by its name; the param n is its size."`
	Answer  check   `yaml:"answer" jsonschema_description:"What a call answers: a query that needs no table, and the types of its answer."`
	Changes boolean `yaml:"changes" jsonschema_description:"true: the call changes data."`
}

// ofServing has an operation asked for over HTTP.
type ofServing struct {
	Serve text `yaml:"serve" jsonschema_description:"http: the operation is asked for over HTTP."`
	Load  load `yaml:"load" jsonschema_description:"How requests arrive: closed or open. Without it, from clients that each wait for their answer."`
}

func (o *operation) read(m *mistakes, n ast.Node) {
	found, ok := m.fields(n, "an operation", "key of an operation", o)
	for _, key := range forms {
		if slices.Contains(found, key) {
			o.forms = append(o.forms, key)
		}
	}
	if ok && len(o.forms) == 0 {
		m.at(o.place, "an operation needs sql, script, steps, mix, kv, call or sum")
	}
	if len(o.forms) > 1 {
		m.at(o.place, "an operation has one of %s", strings.Join(o.forms, " and "))
	}
}

// sum is of all calls, or of operations by name with how many times each is done.
type sum struct {
	place
	calls text
	terms dict[number]
}

func (s *sum) read(m *mistakes, n ast.Node) {
	s.place = placeOf(n)
	if isMap(n) {
		s.terms.read(m, n)
		return
	}
	s.calls.read(m, n)
}

// step is one statement, or several that are repeated together.
type step struct {
	place
	SQL     text       `yaml:"sql" jsonschema_description:"One SQL statement with ? for arguments."`
	Script  text       `yaml:"script" jsonschema_description:"Instead of sql: several statements without arguments, which one call of the driver executes."`
	Args    text       `yaml:"args" jsonschema_description:"A SELECT with a column for each argument."`
	Draw    text       `yaml:"draw" jsonschema_description:"Which row of the SELECT is drawn: uniform (default), zipfian or in-order."`
	Rows    number     `yaml:"rows" jsonschema_description:"Rows answered or changed, checked each time."`
	Returns list[text] `yaml:"returns" jsonschema_description:"Types of the answer's columns."`
	Repeat  number     `yaml:"repeat" jsonschema_description:"How many times the step is done; 1 by default."`
	Steps   list[step] `yaml:"steps" jsonschema_description:"Instead of sql: steps that are repeated together."`
}

func (s *step) read(m *mistakes, n ast.Node) {
	found, ok := m.fields(n, "a step", "key of a step", s)
	switch {
	case ok && !s.SQL.set() && !s.Script.set() && !s.Steps.set() && !slices.Contains(found, "sql"):
		m.at(s.place, "a step needs sql, a script, or steps to repeat")
	case s.Steps.set() && !s.Repeat.set():
		m.at(s.Steps.place, "steps within a step are repeated together: say how many times, as in repeat: 20")
	}
	switch {
	case s.Steps.set():
		m.misplaced(s, "%s belongs to the steps that are repeated", "sql", "script", "args", "draw", "rows", "returns")
	case s.Script.set():
		m.misplaced(s, "%s belongs to sql, not to script", "sql", "args", "draw", "rows", "returns")
	}
}

// check is a query, alone or with the types of its answer.
type check struct {
	place
	SQL     text       `yaml:"sql" jsonschema:"required" jsonschema_description:"A query without arguments."`
	Returns list[text] `yaml:"returns" jsonschema_description:"Types of the answer's columns."`
}

func (c *check) read(m *mistakes, n ast.Node) {
	if _, alone := n.(ast.ScalarNode); alone {
		c.put(placeOf(n))
		c.SQL.read(m, n)
		return
	}
	m.fields(n, "a check", "key of a check", c)
}

// count is a number of operations, alone or by profile: a block should last
// alike, and with one profile a commit can take fifty times as long as with
// another.
type count struct {
	place
	all       number
	byProfile dict[number]
}

func (c *count) read(m *mistakes, n ast.Node) {
	c.place = placeOf(n)
	if isMap(n) {
		c.byProfile.read(m, n)
		return
	}
	c.all.read(m, n)
}

// pool is a number of open connections, alone or with the idle ones.
type pool struct {
	place
	Open number `yaml:"open" jsonschema:"required" jsonschema_description:"Open connections."`
	Idle number `yaml:"idle" jsonschema_description:"Connections kept idle; as many as open by default."`
}

func (p *pool) read(m *mistakes, n ast.Node) {
	if _, alone := n.(ast.ScalarNode); alone {
		p.put(placeOf(n))
		p.Open.read(m, n)
		return
	}
	m.fields(n, "a pool", "key of a pool", p)
}

// records are the keys and values that a store begins with.
type records struct {
	place
	N      number `yaml:"n" jsonschema:"required" jsonschema_description:"How many."`
	Key    text   `yaml:"key" jsonschema:"required" jsonschema_description:"SQL of the key: an expression with :i, which counts from 1."`
	Value  text   `yaml:"value" jsonschema:"required" jsonschema_description:"SQL of the value, such as blob(100), or of each field."`
	Fields number `yaml:"fields" jsonschema_description:"How many fields the value has, which update writes one by one; none by default."`
}

func (r *records) read(m *mistakes, n ast.Node) { m.fields(n, "records", "key of records", r) }

// scanLimit is a number, or [low, high].
type scanLimit struct {
	place
	alone, low, high number
}

func (l *scanLimit) read(m *mistakes, n ast.Node) {
	l.place = placeOf(n)
	if bounds, isRange := n.(*ast.SequenceNode); isRange {
		m.bounds(bounds, &l.low, &l.high)
		return
	}
	l.alone.read(m, n)
}

func (m *mistakes) bounds(n *ast.SequenceNode, low, high *number) {
	if len(n.Values) != 2 {
		m.at(placeOf(n), "want [low, high], not %d values", len(n.Values))
		return
	}
	low.read(m, n.Values[0])
	high.read(m, n.Values[1])
}

// load says how requests arrive at a server.
type load struct {
	place
	Closed list[number] `yaml:"closed" jsonschema_description:"Numbers of clients that each wait for their answer: an axis."`
	Open   list[number] `yaml:"open" jsonschema_description:"Requests a second: an axis. clients is the most that are under way."`

	Arrivals list[text] `yaml:"arrivals" jsonschema_description:"With open: poisson (default), as the requests of independent users arrive, or even, at equal distances; an axis."`
}

func (l *load) read(m *mistakes, n ast.Node) { m.fields(n, "a load", "kind of load", l) }
