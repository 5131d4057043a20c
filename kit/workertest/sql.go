//go:build unix

package workertest

import (
	"maps"
	"slices"
	"strings"

	"assay/kit/answer"
	"assay/kit/column"
	"assay/kit/wire"
)

// sqliteOnly is needed by checks of what PostgreSQL and DuckDB have not, or have otherwise.
const (
	onSQLite   = " on SQLite"
	sqliteOnly = wire.CapSQL + onSQLite
)

var sqliteChecks = []check{
	{"settings are read back on every connection", sqliteOnly, settingsEverywhere},
	{"foreign_keys is effective, not only said", sqliteOnly, func(b *bench) {
		b.changeFails(map[string]string{"foreign_keys": "1"}, "INSERT INTO child VALUES (1, 99)")
	}},
	{"query_only is effective, not only said", sqliteOnly, func(b *bench) {
		b.changeFails(map[string]string{"query_only": "1"}, "INSERT INTO parent VALUES (5)")
	}},
	{"odd values have the right digest, stored and as arguments", sqliteOnly, oddValues},
	{"stored values are of their declared type, or an error", sqliteOnly, typesDeclared},
	{"SQL for each connection runs on every one", sqliteOnly, eachConnection},
	{"a DSN is opened, and not the path", sqliteOnly, dsnUsed},
	{"settings are read, and not remembered", sqliteOnly, settingsRead},
	{"a transaction takes the lock when it begins", sqliteOnly, locksAtBegin},
	{"transactions begin as is asked for, and that is read back", sqliteOnly, beginsAsAsked},
	{"busy answers are counted, and tried again where that is asked for", sqliteOnly, busyCounted},
	{"a statement is compiled for each execution where that is asked for", sqliteOnly, compiledEach},
	{"numbered placeholders are bound by their numbers", sqliteOnly, numbered},
	{"a private database in memory is told from a file and from a shared one", sqliteOnly, readsMemoryBack},
	{"a database in memory is the same for all connections", sqliteOnly, memoryShared},
}

// sqlChecks are about operations on tables, settings and answers.
var sqlChecks = []check{
	{"an unknown setting is absent from the read-back", wire.CapSQL, unknownSetting},
	{"answers of every type have the right digest", wire.CapSQL, answersOfEveryType},
	{"every statement policy gives the same answers", wire.CapSQL, policies},
	{"arguments come from the trace, NULLs too", wire.CapSQL, argumentsFromTrace},
	{"transactions change what they should", wire.CapSQL, transactions},
	{"savepoints undo what they should", wire.CapSQL, savepoints},
	{"a script runs all of its statements, or is unsupported", wire.CapSQL, script},
	{"each transaction leaves a mark where that is asked for", wire.CapSQL, transactionsMarked},
	{"a failed operation is counted as an error, not as an operation", wire.CapSQL, errorsCounted},
	{"a wrong number of rows is counted as a miss, not as an operation", wire.CapSQL, missesCounted},
	{"a measurement ends after 1000 operations that are not right", wire.CapSQL, givesUp},
	{"a transaction that fails leaves nothing", wire.CapSQL, rolledBack},
	{"verify begins at its start and goes around the trace's end", wire.CapSQL, verifyFrom},
	{"the answers of several steps are digested apart", wire.CapSQL, stepsApart},
	{"an operation that changes data is not verified", wire.CapSQL, changesNotVerified},
	{"a mix runs its parts as its trace says", wire.CapSQL, mixes},
	{"operations of several steps run all of them", wire.CapSQL, severalSteps},
	{"rows that a statement WITH changes are counted", sqliteOnly, changesCounted},
	{"SQL that does not compile is refused with the driver's words", wire.CapSQL, badSQL},
}

var schema = []string{
	"CREATE TABLE parent(id INTEGER PRIMARY KEY)",
	"CREATE TABLE child(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent(id))",
	"CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, x REAL, s TEXT, b BLOB, yes BOOLEAN)",
	"INSERT INTO t VALUES (1, 42, 1.5, 'grüße', x'00ff', TRUE)",
	"INSERT INTO t VALUES (2, NULL, NULL, NULL, NULL, NULL)",
	"INSERT INTO t VALUES (3, -9223372036854775808, -0.0, '', x'', FALSE)",
}

var (
	allColumns = "SELECT id, n, x, s, b, yes FROM t ORDER BY id"
	allTypes   = []string{"int", "int?", "real?", "text?", "blob?", "bool?"}
	allRows    = [][]any{
		{int64(1), int64(42), 1.5, "grüße", []byte{0, 255}, true},
		{int64(2), nil, nil, nil, nil, nil},
		{int64(3), int64(-1 << 63), 0.0, "", []byte{}, false},
	}
)

// make opens a database with the schema, through a connection of its own kind.
func (b *bench) make(request wire.Open) {
	request.Once = slices.Concat(schema, request.Once)
	b.open(request)
}

func digest(types []string, rows [][]any) string {
	hash := answer.New(types)
	for _, row := range rows {
		must(hash.Row(row))
	}
	return hash.Sum()
}

func (b *bench) answers(sql string, types []string, rows ...[]any) {
	want, got := digest(types, rows), b.verify(wire.Verify{SQL: sql, Returns: types})
	if got.Rows != int64(len(rows)) || got.Digest != want {
		fail("%s: %d rows with digest %.12s, want %d with %.12s", sql, got.Rows, got.Digest, len(rows), want)
	}
}

func settingsEverywhere(b *bench) {
	want := map[string]string{"journal_mode": "wal", "synchronous": "1", "busy_timeout": "1234", "cache_size": "-5000", "foreign_keys": "1"}
	b.open(wire.Open{Settings: want, Readers: 3, Idle: 3, Writers: 1})
	names := map[string]bool{}
	for _, c := range b.settings(slices.Sorted(maps.Keys(want))...) {
		names[c.Name] = true
		for name, value := range want {
			if c.Settings[name] != value {
				fail("%s reads %s=%q, want %q", c.Name, name, c.Settings[name], value)
			}
		}
	}
	for _, name := range []string{"reader-1", "reader-2", "reader-3", "writer-1"} {
		if !names[name] {
			fail("connection %s is missing from %v", name, names)
		}
	}
}

func unknownSetting(b *bench) {
	b.open(wire.Open{Readers: 1, Idle: 1})
	connections := b.settings("frobnicate")
	for _, c := range connections {
		if value, ok := c.Settings["frobnicate"]; ok {
			fail("%s reads frobnicate=%q", c.Name, value)
		}
	}
	expect("number of connections", len(connections), 1)
}

// changeFails checks that a setting makes a change fail that works without it.
func (b *bench) changeFails(settings map[string]string, change string) {
	op := wire.Operation{Name: "change", Changes: true, Steps: []wire.Step{{SQL: change, Rows: 1}}}
	// Once runs after the settings, so that query_only is turned off for the
	// schema and on again.
	request := wire.Open{Settings: settings, Writers: 1}
	request.Once = append([]string{"PRAGMA query_only = 0"}, schema...)
	for name, value := range settings {
		request.Once = append(request.Once, "PRAGMA "+name+" = "+value)
	}
	b.open(request)
	b.prepare(op, 1)
	if m := b.block("change", 1); m.Errors != 1 || m.Operations != 0 {
		fail("%q was done (%d operations, %d errors) although %v", change, m.Operations, m.Errors, settings)
	}
}

func answersOfEveryType(b *bench) {
	b.make(wire.Open{Readers: 1, Idle: 1})
	b.answers(allColumns, allTypes, allRows...)
}

func policies(b *bench) {
	b.make(wire.Open{Readers: 2, Idle: 2})
	want := digest(allTypes, allRows)
	for _, policy := range []wire.Policy{wire.Once, wire.Each, wire.Never} {
		name := string(policy)
		op := wire.Operation{Name: name, Statement: policy, Steps: []wire.Step{{SQL: allColumns, Query: true, Rows: 3, Returns: allTypes}}}
		err := b.ask(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 2}, nil)
		if policy == wire.Never && refusal(err) != nil {
			continue // its API has no form to run a statement in one call
		}
		must(err)
		expect("digest with statement "+name, b.verify(wire.Verify{Operation: name, Count: 1}).Digest, want)
		m := b.block(name, 50)
		expect("errors and misses with statement "+name, m.Errors+m.Misses, int64(0))
	}
}

// insert is an operation that inserts rows of a trace into t.
func (b *bench) insert(name string, transaction, rows int) wire.Operation {
	var values [][]any
	for i := range rows {
		n := any(int64(i))
		if i%3 == 0 {
			n = nil
		}
		values = append(values, []any{int64(100 + i), n, float64(i) / 2, strings.Repeat("x", i), []byte{byte(i)}, i%2 == 0})
	}
	types := []column.Type{column.Int, column.Int, column.Real, column.Text, column.Blob, column.Bool}
	return wire.Operation{Name: name, Trace: b.trace(name, types, values...), Changes: true, Transaction: transaction,
		Steps: []wire.Step{{SQL: "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", Args: 6, Rows: 1}}}
}

func argumentsFromTrace(b *bench) {
	op := b.insert("insert", 0, 4)
	b.make(wire.Open{Readers: 1, Idle: 1, Writers: 1})
	b.prepare(op, 1)
	expect("operations", b.block("insert", 4).Operations, int64(4))
	b.answers("SELECT id, n, x, s, b, yes FROM t WHERE id >= 100 ORDER BY id", allTypes,
		[]any{int64(100), nil, 0.0, "", []byte{0}, true},
		[]any{int64(101), int64(1), 0.5, "x", []byte{1}, false},
		[]any{int64(102), int64(2), 1.0, "xx", []byte{2}, true},
		[]any{int64(103), nil, 1.5, "xxx", []byte{3}, false})
}

func transactions(b *bench) {
	op := b.insert("batch", 5, 20)
	b.make(wire.Open{Readers: 1, Idle: 1, Writers: 1})
	b.prepare(op, 1)
	b.refused(wire.TypeMeasure, wire.Measure{Operation: "batch", Operations: 7}, wire.Invalid)
	m := b.measure(wire.Measure{Operation: "batch", Start: 5, Operations: 15, Latency: true})
	expect("operations", m.Operations, int64(15))
	expect("transactions in the histogram", histogramCount(m), int64(3))
	b.answers("SELECT count(*), min(id), max(id) FROM t WHERE id >= 100", []string{"int", "int", "int"},
		[]any{int64(15), int64(105), int64(119)})
}

func savepoints(b *bench) {
	change := func(sql string) wire.Step { return wire.Step{SQL: sql, Rows: -1} }
	op := wire.Operation{Name: "undone", Changes: true, Transaction: 2, Steps: []wire.Step{change("SAVEPOINT a"), change("UPDATE t SET n = n + 1 WHERE id = 1"),
		change("SAVEPOINT b"), change("UPDATE t SET n = n + 100 WHERE id = 1"), change("ROLLBACK TO b"), change("RELEASE a")}}
	b.make(wire.Open{Readers: 1, Idle: 1, Writers: 1})
	applies(b.ask(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil))
	expect("operations", b.block("undone", 4).Operations, int64(4))
	b.answers("SELECT n FROM t WHERE id = 1", []string{"int"}, []any{int64(46)})
}

func script(b *bench) {
	b.make(wire.Open{Readers: 1, Idle: 1, Writers: 1})
	want := int64(42)
	for i, transaction := range []int{0, 2} {
		op := wire.Operation{Name: []string{"alone", "together"}[i], Changes: true, Transaction: transaction, Steps: []wire.Step{
			{SQL: "UPDATE t SET n = n + 1 WHERE id = 1; -- and\nUPDATE t SET n = n + 100 WHERE id = 1;\n", Script: true, Rows: -1},
			{SQL: "UPDATE t SET n = n + 1000 WHERE id = 1", Rows: 1}}}
		err := b.ask(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil)
		if i > 0 && refusal(err) != nil {
			return // a form that commits what is open
		}
		applies(err)
		want += 4 * 1101
		expect("operations", b.block(op.Name, 4).Operations, int64(4))
		b.answers("SELECT n FROM t WHERE id = 1", []string{"int"}, []any{want})
	}
}

func transactionsMarked(b *bench) {
	op := b.insert("marked", 5, 20)
	marks := b.path() + ".marks"
	b.make(wire.Open{Writers: 1})
	b.prepare(op, 1)
	b.measure(wire.Measure{Operation: "marked", Operations: 20, Marks: marks})
	expectSize(marks, 4)
	b.answers("SELECT count(*) FROM t WHERE id >= 100", []string{"int"}, []any{int64(20)})
}

func errorsCounted(b *bench) {
	op := wire.Operation{Name: "twice", Changes: true, Steps: []wire.Step{{SQL: "INSERT INTO parent VALUES (7)", Rows: 1}}}
	b.make(wire.Open{Writers: 1})
	b.prepare(op, 1)
	m := b.block("twice", 5)
	expect("operations", m.Operations, int64(1))
	expect("errors", m.Errors, int64(4))
	if m.Error == "" {
		fail("the first error's words are missing")
	}
}

func missesCounted(b *bench) {
	op := wire.Operation{Name: "miss", Steps: []wire.Step{{SQL: "SELECT id FROM t WHERE id < 3", Query: true, Rows: 1, Returns: []string{"int"}}}}
	b.make(wire.Open{Readers: 1, Idle: 1})
	b.prepare(op, 1)
	m := b.block("miss", 5)
	expect("operations", m.Operations, int64(0))
	expect("misses", m.Misses, int64(5))
}

func mixes(b *bench) {
	insert := b.insert("put", 0, 10)
	keys := b.trace("keys", []column.Type{column.Int}, []any{int64(1)}, []any{int64(3)})
	read := wire.Operation{Name: "get", Trace: keys, Steps: []wire.Step{{SQL: "SELECT s FROM t WHERE id = ?", Query: true, Args: 1, Rows: 1, Returns: []string{"text"}}}}
	order := b.trace("order", []column.Type{column.Int, column.Int}, []any{int64(0), int64(0)}, []any{int64(1), int64(0)},
		[]any{int64(1), int64(1)}, []any{int64(0), int64(1)}, []any{int64(1), int64(2)})
	mix := wire.Operation{Name: "mix", Trace: order, Changes: true, RetryBusy: true, Parts: []wire.Operation{read, insert}}
	b.make(wire.Open{Settings: map[string]string{"busy_timeout": "5000"}, Readers: 2, Idle: 2, Writers: 1})
	b.prepare(mix, 2)
	m := b.block("mix", 5)
	expect("executed", m.Executed, int64(5))
	expect("errors ("+m.Error+") and misses", m.Errors+m.Misses, int64(0))
	b.answers("SELECT id FROM t WHERE id >= 100 ORDER BY id", []string{"int"}, []any{int64(100)}, []any{int64(101)}, []any{int64(102)})
	read.Steps[0].Rows = 2
	b.prepare(wire.Operation{Name: "wrong", Trace: b.trace("wrong", []column.Type{column.Int, column.Int}, []any{int64(0), int64(1)}), Parts: []wire.Operation{read}}, 1)
	m = b.block("wrong", 1)
	expect("misses", m.Misses, int64(1))
	expect("errors ("+m.Error+")", m.Errors, int64(0))
}

func severalSteps(b *bench) {
	path := b.trace("two", []column.Type{column.Int, column.Int, column.Int}, []any{int64(1), int64(1), int64(50)}, []any{int64(2), int64(2), int64(60)})
	op := wire.Operation{Name: "two", Trace: path, Changes: true, Transaction: 1, Steps: []wire.Step{
		{SQL: "INSERT INTO parent VALUES (?)", Args: 1, Rows: 1},
		{SQL: "UPDATE t SET n = ?2 WHERE id = ?1", Args: 2, Rows: 1},
	}}
	b.make(wire.Open{Writers: 1})
	b.prepare(op, 1)
	expect("operations", b.block("two", 2).Operations, int64(2))
	b.answers("SELECT n, (SELECT count(*) FROM parent) FROM t WHERE id < 3 ORDER BY id", []string{"int", "int"},
		[]any{int64(50), int64(2)}, []any{int64(60), int64(2)})
}

func changesCounted(b *bench) {
	op := wire.Operation{Name: "counted", Changes: true,
		Steps: []wire.Step{{SQL: "WITH two(id) AS (SELECT 2) UPDATE t SET x = 2.5 WHERE id < (SELECT two.id FROM two)", Rows: 1}}}
	b.make(wire.Open{Writers: 1})
	b.prepare(op, 1)
	without(b.block("counted", 2))
	b.answers("SELECT x FROM t WHERE id = 1", []string{"real"}, []any{2.5})
}

func badSQL(b *bench) {
	op := wire.Operation{Name: "bad", Steps: []wire.Step{{SQL: "SELEKT 1", Query: true, Rows: 1, Returns: []string{"int"}}}}
	b.open(wire.Open{Readers: 1, Idle: 1})
	b.refused(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, b.refusals()...)
}

// mixInOrder has each unit change a number from what the unit before has made of it.
func mixInOrder(b *bench) {
	b.open(wire.Open{Readers: 1, Idle: 1, Writers: 4, Settings: map[string]string{"busy_timeout": "5000"},
		Once: []string{"CREATE TABLE told(n INTEGER)", "INSERT INTO told VALUES (0)"}})
	const units = 200
	var args, order [][]any
	for i := range int64(units) {
		args, order = append(args, []any{i + 1, i}), append(order, []any{int64(0), i, i})
	}
	ints := []column.Type{column.Int, column.Int, column.Int}
	part := wire.Operation{Name: "next", Changes: true, RetryBusy: true, Steps: []wire.Step{{SQL: "UPDATE told SET n = ? WHERE n = ?", Args: 2, Rows: 1}}, Trace: b.trace("next", ints[:2], args...)}
	b.prepare(wire.Operation{Name: "ordered", Changes: true, RetryBusy: true, Parts: []wire.Operation{part}, Trace: b.trace("order", ints, order...)}, 4)
	if m := b.block("ordered", units); m.Executed != units || m.Errors+m.Misses > 0 {
		fail("of %d units, each after the one before, %d ran, with %d errors (%s) and %d misses (%s)", units, m.Executed, m.Errors, m.Error, m.Misses, m.Miss)
	}
	b.refused(wire.TypeMeasure, wire.Measure{Operation: "ordered", Start: 1, Operations: units}, wire.Invalid)
	b.refused(wire.TypeMeasure, wire.Measure{Operation: "ordered", Nanos: 1000}, wire.Invalid)
}
